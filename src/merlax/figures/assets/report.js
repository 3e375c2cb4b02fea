"use strict";
// A report of many runs: one world at a time, and one run in detail.
merlax.Report = class {
  constructor(data) {
    this.root = merlax.el("div", { class: "report" });
    this.world = 0;
    this.run = null;
    this.open(data);
  }

  open(data) {
    this.data = data;
    this.world = Math.min(this.world, data.worlds.length - 1);
    this.build();
  }

  build() {
    const { el } = merlax, { data } = this, world = data.worlds[this.world];
    if (this.run === null || this.run >= world.runs.length) this.run = world.best;
    const words = el("div", {}, el("h1", {}, data.title), el("p", { class: "muted" }, data.worlds.length > 1 ? "Each world for itself; choose one below." : world.methods.map((method) => `${method.label}: ${method.runs.length}`).join(" · ")));
    const top = el("header", { class: "top" }, words, this.live || null, merlax.theme.button());
    const tabs = data.worlds.length > 1 ? el("nav", { class: "tabs" }, ...data.worlds.map((each, k) => el("button", { "aria-pressed": String(k === this.world), onclick: () => { this.world = k; this.run = null; this.build(); } }, each.title))) : null;
    const notes = data.notes.length ? el("div", { class: "notes card" }, ...data.notes.slice(0, 6).map((note) => el("p", {}, note)), data.notes.length > 6 ? el("p", {}, `… and ${data.notes.length - 6} more.`) : null) : null;
    this.details = el("div", {});
    const parts = [top, tabs, notes, merlax.curves(world), merlax.scores(world), this.replay(world), this.chooser(world), this.details, merlax.configSection(world)];
    this.root.replaceChildren(...parts.filter((part) => part));
    this.detail(world);
  }

  // The best team plays on while the page renews itself, unless there is a better one.
  replay(world) {
    if (!world.replay) return null;
    const key = JSON.stringify([world.title, world.replay.title, world.replay.subtitle, world.replay.episodes.map((episode) => [episode.seed, episode.scenes.map((scene) => scene.headline)])]);
    if (this.playing !== key) {
      this.playing = key;
      const player = new merlax.Player(world.replay, { keys: false });
      this.player = player;
      player.root.tabIndex = 0;
      player.root.addEventListener("keydown", (event) => player.key(event));
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches) requestAnimationFrame(() => player.play());
    }
    const best = world.runs[world.best];
    return merlax.section("The best team", `${best.label}, in '${best.name}': three fresh instances.`, this.player.root);
  }

  chooser(world) {
    const select = merlax.el("select", { class: "run", "aria-label": "Run", onchange: () => { this.run = Number(select.value); this.detail(world); } },
      ...world.methods.flatMap((method) => method.runs.map((k) => merlax.el("option", { value: k }, `${method.label}, seed ${world.runs[k].seed}: ${world.runs[k].score === null ? "–" : world.runs[k].score.toFixed(3)}${k === world.best ? " (best)" : ""}`))));
    select.value = this.run;
    return merlax.el("div", { class: "bar" }, merlax.el("h2", {}, "One run in detail"), select);
  }

  detail(world) {
    const run = world.runs[this.run];
    const about = merlax.el("section", { class: "card" }, merlax.el("h2", {}, run.name), merlax.facts(run));
    this.details.replaceChildren(...[about, merlax.runCharts(run), merlax.familySection(run)].filter((part) => part));
  }
};
