"use strict";
// A scene on a canvas, at any instant, also between two of them.
merlax.Painter = class {
  constructor(scene, view) {
    this.scene = scene;
    this.view = view;
    this.tail = 14;
  }

  // From the world's units to the canvas: y points up in the world.
  place(size) {
    const [left, bottom, length] = this.view;
    this.scale = size / length;
    this.size = size;
    this.x = (x) => (x - left) * this.scale;
    this.y = (y) => size - (y - bottom) * this.scale;
  }

  // Where thing i of an array [time, thing, 2] is at a time that need not be whole.
  at(position, time, i) {
    const t = Math.floor(time), part = time - t;
    const a = merlax.instant(position, t) + 2 * i, b = merlax.instant(position, t + 1) + 2 * i;
    return [this.x(position[a] + part * (position[b] - position[a])), this.y(position[a + 1] + part * (position[b + 1] - position[a + 1]))];
  }

  angle(heading, time, i) {
    const t = Math.floor(time), part = time - t;
    const a = heading[merlax.instant(heading, t) + i], b = heading[merlax.instant(heading, t + 1) + i];
    const turn = Math.atan2(Math.sin(b - a), Math.cos(b - a));
    return a + part * turn;
  }

  static color(mark, i) {
    const named = { ink: "ink", grey: "grey", faint: "faint", gold: "gold", opponent: "opponent" }[mark.color];
    return named ? merlax.theme.read(named) : merlax.theme.shade(mark.hexes[Math.min(i, mark.hexes.length - 1)]);
  }

  draw(context, size, time, chosen) {
    this.place(size);
    this.ground(context);
    this.picture(context, time);
    const things = this.scene.marks.filter((mark) => mark.kind !== "labels");
    for (const mark of things) if (mark.trail) this.trails(context, mark, time);
    if (chosen) this.sectors(context, time, chosen);
    for (const mark of this.scene.marks) {
      if (mark.kind === "labels") this.labels(context, mark, time);
      else this.things(context, mark, time);
    }
    if (chosen) this.halo(context, time, chosen);
  }

  // What a world draws of itself: the picture nearest to an instant, as large as there is room.
  picture(context, time) {
    const { images, times } = this.scene;
    if (!images || !images.length) return;
    const step = times[Math.floor(time)], last = times[times.length - 1];
    const image = images[Math.round((step * (images.length - 1)) / Math.max(1, last))];
    if (!image.naturalWidth) return;
    const scale = this.size / Math.max(image.naturalWidth, image.naturalHeight);
    const width = scale * image.naturalWidth, height = scale * image.naturalHeight;
    context.drawImage(image, (this.size - width) / 2, (this.size - height) / 2, width, height);
  }

  ground(context) {
    if (!this.scene.box) return;
    const [[left, bottom], [right, top]] = this.scene.box;
    context.fillStyle = merlax.theme.read("card");
    context.strokeStyle = merlax.theme.read("line");
    context.lineWidth = 1;
    context.beginPath();
    context.rect(this.x(left), this.y(top), (right - left) * this.scale, (top - bottom) * this.scale);
    context.fill();
    context.stroke();
  }

  trails(context, mark, time) {
    const things = mark.position.shape[1], last = Math.floor(time);
    const first = Math.max(0, last - this.tail);
    context.lineCap = "butt";
    context.lineWidth = Math.max(1.5, this.size / 300);
    for (let i = 0; i < things; i++) {
      context.strokeStyle = merlax.Painter.color(mark, i);
      for (let t = first; t <= last; t++) {
        const end = Math.min(t + 1, time);
        if (end <= t) continue;
        context.globalAlpha = 0.08 + 0.62 * Math.pow(1 - (time - end) / (Math.min(this.tail, time) + 1), 1.5);
        context.beginPath();
        context.moveTo(...this.at(mark.position, t, i));
        context.lineTo(...this.at(mark.position, end, i));
        context.stroke();
      }
    }
    context.globalAlpha = 1;
  }

  things(context, mark, time) {
    const things = mark.position.shape[1], t = Math.floor(time);
    for (let i = 0; i < things; i++) {
      const [x, y] = this.at(mark.position, time, i);
      if (Number.isNaN(x + y)) continue;
      const lit = mark.lit ? mark.lit[merlax.instant(mark.lit, t) + i] > 0 : false;
      const color = merlax.Painter.color(mark, i);
      if (mark.kind === "circles") this.circle(context, mark, x, y, mark.radius[i] * this.scale, color, lit, time);
      else if (mark.heading) this.arrow(context, x, y, this.angle(mark.heading, time, i), color, lit);
      else this.dot(context, x, y, color, lit, mark.lit !== null);
    }
  }

  dot(context, x, y, color, lit, can) {
    const radius = Math.max(4, this.size / (can ? 72 : 95));
    const gold = merlax.theme.read("gold");
    if (lit) {
      const glow = context.createRadialGradient(x, y, radius * 0.5, x, y, radius * 3);
      glow.addColorStop(0, gold + "88");
      glow.addColorStop(1, gold + "00");
      context.fillStyle = glow;
      context.beginPath();
      context.arc(x, y, radius * 3, 0, 2 * Math.PI);
      context.fill();
    }
    context.fillStyle = lit ? gold : color;
    context.strokeStyle = merlax.theme.read(lit ? "ink" : "card");
    context.lineWidth = lit ? 1.2 : 1;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }

  arrow(context, x, y, angle, color, lit) {
    const length = Math.max(8, this.size / 38);
    context.save();
    context.translate(x, y);
    context.rotate(-angle);
    context.beginPath();
    for (const [u, v] of [[1, 0], [-0.8, 0.7], [-0.4, 0], [-0.8, -0.7]]) context.lineTo(u * length, v * length);
    context.closePath();
    context.fillStyle = lit ? merlax.theme.read("gold") : color;
    context.strokeStyle = merlax.theme.read("card");
    context.lineWidth = 1.4;
    context.lineJoin = "round";
    context.stroke();
    context.fill();
    context.restore();
  }

  circle(context, mark, x, y, radius, color, lit, time) {
    const gold = merlax.theme.read("gold");
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    if (mark.style === "dashed") {
      if (lit) {
        context.fillStyle = gold + "26";
        context.fill();
      }
      context.setLineDash([5, 4]);
      context.strokeStyle = lit ? gold : color;
      context.lineWidth = 1;
      context.stroke();
      context.setLineDash([]);
      return;
    }
    if (mark.style === "ring") {
      context.strokeStyle = color;
      context.lineWidth = Math.max(2.5, this.size / 170);
      context.stroke();
      return;
    }
    context.fillStyle = color;
    context.fill();
    context.strokeStyle = merlax.theme.read("card");
    context.lineWidth = 1;
    context.stroke();
    if (!lit) return;
    const pulse = time - Math.floor(time);
    context.strokeStyle = gold;
    context.lineWidth = Math.max(3, this.size / 140);
    context.stroke();
    context.globalAlpha = 0.7 * (1 - pulse);
    context.lineWidth = Math.max(1.5, this.size / 260);
    context.beginPath();
    context.arc(x, y, radius + (3 + 10 * pulse) * Math.max(1, this.size / 600), 0, 2 * Math.PI);
    context.stroke();
    context.globalAlpha = 1;
  }

  labels(context, mark, time) {
    const t = Math.floor(time);
    const height = Math.max(10, Math.min(14, this.size / 44));
    context.font = `600 ${height}px system-ui, "DejaVu Sans", sans-serif`;
    context.textAlign = "center";
    context.fillStyle = merlax.theme.read("ink");
    context.strokeStyle = merlax.theme.read("card");
    context.lineWidth = 3;
    context.lineJoin = "round";
    for (let i = 0; i < mark.position.shape[1]; i++) {
      const [x, y] = this.at(mark.position, time, i);
      const word = mark.words[mark.text[merlax.instant(mark.text, t) + i]];
      context.strokeText(word, x, y - this.size / 48 - 2);
      context.fillText(word, x, y - this.size / 48 - 2);
    }
  }

  // What the chosen agent senses, as wedges around it: the nearer, the longer.
  sectors(context, time, chosen) {
    const told = this.scene.told[chosen.mark.side];
    if (!told || !told.obs) return;
    const [x, y] = this.at(chosen.mark.position, time, chosen.index);
    const base = merlax.instant(told.obs, Math.floor(time)) + chosen.index * told.obs.shape[2];
    for (const part of this.scene.sectors.filter((each) => each.side === chosen.mark.side)) {
      const width = (2 * Math.PI) / part.count;
      context.fillStyle = merlax.Painter.color(part, 0);
      for (let k = 0; k < part.count; k++) {
        const value = told.obs[base + part.first + k];
        if (!(value > 0)) continue;
        const length = Math.min(1, Math.pow(value, part.power)) * this.size * 0.22;
        context.globalAlpha = 0.32;
        context.beginPath();
        context.moveTo(x, y);
        context.arc(x, y, length, -Math.PI / 2 + k * width, -Math.PI / 2 + (k + 1) * width);
        context.fill();
      }
    }
    context.globalAlpha = 1;
  }

  halo(context, time, chosen) {
    const [x, y] = this.at(chosen.mark.position, time, chosen.index);
    const own = chosen.mark.radius ? chosen.mark.radius[chosen.index] * this.scale : this.size / 48;
    context.strokeStyle = merlax.theme.read("ink");
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(x, y, own + 6, 0, 2 * Math.PI);
    context.stroke();
  }

  // The agent under a place on the canvas, if one is near.
  near(x, y, time) {
    let found = null, nearest = Math.max(22, this.size / 28);
    for (const mark of this.scene.marks) {
      if (mark.side === null || mark.side === undefined || mark.kind === "labels") continue;
      for (let i = 0; i < mark.position.shape[1]; i++) {
        const [u, v] = this.at(mark.position, time, i);
        const distance = Math.hypot(u - x, v - y) - (mark.radius ? mark.radius[i] * this.scale : 0);
        if (distance < nearest) [found, nearest] = [{ mark, index: i }, distance];
      }
    }
    return found;
  }
};
