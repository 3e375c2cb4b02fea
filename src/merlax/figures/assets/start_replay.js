"use strict";
merlax.begin((data) => {
  if (window.parent !== window) document.documentElement.dataset.framed = ""; // in a notebook, or within another page
  const player = new merlax.Player(data);
  const words = merlax.el("div", {}, merlax.el("h1", {}, data.title), merlax.el("p", { class: "muted" }, data.subtitle));
  document.getElementById("app").replaceChildren(merlax.el("header", { class: "top" }, words, merlax.theme.button()), player.root);
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();
  else player.show();
});
