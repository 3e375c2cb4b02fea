"use strict";
merlax.begin((data) => {
  const report = new merlax.Report(data);
  document.getElementById("app").replaceChildren(report.root);
  report.root.report = report;
  if (!data.live) return;
  report.live = merlax.el("span", { class: "live" }, "live");
  report.build();
  let tag = data.live;
  const renew = async () => {
    try {
      const answer = await fetch("data", { headers: { "If-None-Match": tag }, cache: "no-store" });
      if (answer.status === 200) {
        tag = answer.headers.get("ETag");
        report.open(await merlax.unpack(await answer.text()));
      }
      report.live.className = "live";
      report.live.textContent = "live";
    } catch (error) {
      report.live.className = "live lost";
      report.live.textContent = "merlax watch has ended; this is what it last showed";
    }
    setTimeout(renew, 4000);
  };
  setTimeout(renew, 4000);
});
