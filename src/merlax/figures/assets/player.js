"use strict";
// Plays episodes: one picture for each team, all in step.
merlax.speeds = [0.25, 0.5, 1, 2, 4, 8];
merlax.icons = {
  play: "M7 4v16l13-8z", pause: "M6 4h4v16H6zM14 4h4v16h-4z", back: "M6 5h2v14H6zM20 5v14L9 12z", next: "M16 5h2v14h-2zM4 5v14l11-7z",
};

merlax.Player = class {
  constructor(data, { keys = true } = {}) {
    Object.assign(this, { data, at: 0, playing: false, speed: 1, number: 0, hovered: null, pinned: null, rest: 0 });
    this.root = merlax.el("section", { class: "replay" });
    this.build();
    this.choose(0);
    if (keys) document.addEventListener("keydown", (event) => this.key(event));
    merlax.theme.listeners.push(() => delete this.aside.dataset.showing);
    this.root.player = this;
  }

  get episode() { return this.data.episodes[this.number]; }
  get last() { return Math.max(...this.episode.scenes.map((scene) => scene.score.length - 1)); }

  // The step that an instant stands for: of a long episode not all are kept.
  stepAt(t) {
    const longest = this.episode.scenes.reduce((a, b) => (a.times.length >= b.times.length ? a : b));
    return longest.times[Math.min(Math.round(t), longest.times.length - 1)];
  }

  build() {
    const { el, icon, icons } = merlax;
    const button = (name, label, path, act) => el("button", { class: `icon ${name}`, title: label, "aria-label": label, onclick: act }, icon(path));
    this.stages = el("div", { class: "stages" });
    this.aside = el("aside", { class: "aside card", "aria-live": "off" });
    this.track = merlax.track(this);
    this.range = el("input", { type: "range", min: 0, step: 1, "aria-label": "Step", oninput: () => { const to = Number(this.range.value); this.pause(); this.go(to); } });
    this.playButton = button("main", "Play (space)", icons.play, () => this.toggle());
    this.timeText = el("span", { class: "time" });
    const option = (value, text) => el("option", { value }, text);
    this.speedSelect = el("select", { class: "speed", "aria-label": "Speed", onchange: () => { this.speed = Number(this.speedSelect.value); } },
      ...merlax.speeds.map((speed) => option(speed, `${speed} ×`)));
    this.speedSelect.value = 1;
    this.episodeSelect = el("select", { class: "episode", "aria-label": "Episode", onchange: () => this.choose(Number(this.episodeSelect.value)) },
      ...this.data.episodes.map((episode, k) => option(k, `${k + 1}: ${episode.scenes.map((scene) => `${scene.label ? `${scene.label} ` : ""}${merlax.number(scene.final, 2)}`).join(", ")}`)));
    const many = this.data.episodes.length > 1;
    const controls = el("div", { class: "controls" },
      button("back", "One step back (←)", icons.back, () => { this.pause(); this.go(Math.ceil(this.at) - 1); }), this.playButton,
      button("next", "One step on (→)", icons.next, () => { this.pause(); this.go(Math.floor(this.at) + 1); }), this.timeText, el("span", { class: "space" }),
      many ? el("label", {}, el("span", { class: "wide" }, "episode"), this.episodeSelect) : null, el("label", {}, el("span", { class: "wide" }, "speed"), this.speedSelect));
    this.root.append(this.stages, this.aside, el("div", { class: "below card" }, this.track.canvas, this.range, controls));
  }

  choose(number) {
    const count = this.data.episodes.length;
    this.number = ((number % count) + count) % count;
    this.episodeSelect.value = this.number;
    this.hovered = this.pinned = null;
    this.root.classList.toggle("two", this.episode.scenes.length > 1);
    this.views = this.episode.scenes.map((scene) => this.stage(scene));
    this.stages.replaceChildren(...this.views.map((view) => view.figure));
    this.range.max = this.last;
    this.go(0);
  }

  stage(scene) {
    scene.images ??= scene.pictures.map((letters) => {
      const image = new Image();
      image.onload = () => { if (!this.playing) this.show(); };
      image.src = `data:image/webp;base64,${letters}`;
      return image;
    });
    const painter = new merlax.Painter(scene, this.episode.view);
    painter.tail = this.long ? 1e6 : 14;
    const canvas = merlax.el("canvas", { role: "img", "aria-label": `${scene.title || "Episode"}: ${scene.headline}` });
    const caption = merlax.el("span", {});
    const figure = merlax.el("figure", { class: "stage card" }, merlax.el("figcaption", {}, merlax.el("b", {}, scene.label || scene.title), caption), canvas);
    const view = { scene, painter, canvas, caption, figure };
    const chosen = () => { const one = this.hovered || this.pinned; return one && one.view === view ? one : null; };
    view.paint = merlax.sharp(canvas, (context, width) => painter.draw(context, width, this.timeOf(scene), chosen()));
    const find = (event) => {
      const box = canvas.getBoundingClientRect();
      const found = painter.near(event.clientX - box.left, event.clientY - box.top, this.timeOf(scene));
      return found && { ...found, view };
    };
    canvas.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") { this.hovered = find(event); this.show(); } });
    canvas.addEventListener("pointerleave", () => { this.hovered = null; this.show(); });
    canvas.addEventListener("click", (event) => { this.pinned = find(event); this.hovered = null; this.show(); });
    return view;
  }

  timeOf(scene) { return Math.min(this.at, scene.score.length - 1); }

  go(at) {
    this.at = Math.max(0, Math.min(this.last, at));
    this.rest = 0;
    this.show();
  }

  show() {
    for (const view of this.views) {
      view.caption.textContent = view.scene.words[view.scene.caption[Math.floor(this.timeOf(view.scene))]];
      view.paint();
    }
    this.track.paint();
    const chosen = this.hovered || this.pinned, view = chosen ? chosen.view : this.views[0];
    merlax.inspect(view.scene, this.timeOf(view.scene), chosen, this.aside);
    this.range.value = Math.floor(this.at);
    this.timeText.textContent = `step ${this.stepAt(Math.floor(this.at))} / ${this.stepAt(this.last)}`;
    Object.assign(this.root.dataset, { at: Math.floor(this.at), playing: this.playing, episode: this.number });
  }

  toggle() { this.playing ? this.pause() : this.play(); }

  pause() {
    this.playing = false;
    this.face("Play (space)", merlax.icons.play);
    this.show();
  }

  play() {
    if (this.playing) return;
    if (this.at >= this.last) this.at = 0;
    this.playing = true;
    this.face("Pause (space)", merlax.icons.pause);
    let before = performance.now();
    const tick = (now) => {
      if (!this.playing || !this.root.isConnected) return;
      const passed = Math.max(0, Math.min(0.1, (now - before) / 1000)); // the first frame may have begun before
      before = now;
      this.advance(passed);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  face(label, path) {
    this.playButton.replaceChildren(merlax.icon(path));
    this.playButton.title = label;
    this.playButton.setAttribute("aria-label", label);
  }

  // Ten steps a second; the end is held a while, then it begins anew.
  advance(seconds) {
    if (this.at < this.last) this.at = Math.min(this.last, this.at + 10 * this.speed * seconds);
    else if ((this.rest += seconds) > 1.6) { this.at = 0; this.rest = 0; }
    this.show();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || ["SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    if (event.target.tagName === "BUTTON" && event.key === " ") return;
    const faster = (by) => {
      const place = Math.max(0, Math.min(merlax.speeds.length - 1, merlax.speeds.indexOf(this.speed) + by));
      this.speed = merlax.speeds[place];
      this.speedSelect.value = this.speed;
    };
    const still = (at) => () => { this.pause(); this.go(at); };
    const acts = {
      " ": () => this.toggle(), k: () => this.toggle(), ArrowLeft: still(Math.ceil(this.at) - 1), ArrowRight: still(Math.floor(this.at) + 1),
      Home: still(0), End: still(this.last), ArrowUp: () => faster(1), ArrowDown: () => faster(-1), "[": () => this.choose(this.number - 1), "]": () => this.choose(this.number + 1),
      d: () => merlax.theme.set(!merlax.theme.dark), Escape: () => { this.pinned = null; this.show(); },
      t: () => { this.long = !this.long; this.views.forEach((view) => { view.painter.tail = this.long ? 1e6 : 14; }); this.show(); },
    };
    if (!(event.key in acts)) return;
    event.preventDefault();
    acts[event.key]();
  }
};
