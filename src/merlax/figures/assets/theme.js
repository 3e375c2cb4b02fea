"use strict";
// Dark and light: as the system has it, until somebody chooses.
merlax.theme = {
  listeners: [],
  get dark() {
    return document.documentElement.dataset.theme === "dark";
  },
  begin() {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const follow = () => this.set(system.matches);
    follow();
    system.addEventListener("change", follow);
  },
  set(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.cache = {};
    this.listeners = this.listeners.filter((listen) => !listen.canvas || listen.canvas.isConnected);
    this.listeners.forEach((listen) => listen());
  },
  read(name) {
    if (!(name in this.cache)) this.cache[name] = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    return this.cache[name];
  },
  // A colour of the data on this ground: in the dark they are lighter.
  shade(hex) {
    if (!this.dark) return hex;
    const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    return `rgb(${parts.map((part) => Math.round(part + 0.34 * (255 - part))).join(",")})`;
  },
  button() {
    const moon = "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z";
    return merlax.el("button", { class: "icon", id: "theme", title: "Dark or light (d)", "aria-label": "Dark or light",
      onclick: () => this.set(!this.dark) }, merlax.icon(moon));
  },
};

// A canvas as sharp as its screen; `draw(context, width, height)` is called whenever its size or the theme changes.
merlax.sharp = (canvas, draw) => {
  const context = canvas.getContext("2d");
  const paint = () => {
    const width = canvas.clientWidth, height = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, width, height);
  };
  new ResizeObserver(paint).observe(canvas);
  merlax.theme.listeners.push(Object.assign(paint, { canvas }));
  return paint;
};
