"use strict";
// What is beside the picture: an agent that somebody points at, the numbers of a state, everybody's rewards, or the legend.
merlax.inspect = (scene, time, chosen, aside) => {
  const still = scene.table.length ? "table" : scene.pictures.length && scene.told.length ? "paid" : "legend";
  const cards = { table: () => [merlax.tableCard(scene, time)], paid: () => merlax.paidCard(scene, time), legend: () => merlax.legendCard(scene) };
  const key = chosen ? `${chosen.mark.name} ${chosen.index}` : still;
  if (aside.dataset.showing !== key || (!chosen && still !== "legend")) {
    aside.dataset.showing = key;
    aside.replaceChildren(...(chosen ? merlax.agentCard(scene, chosen) : cards[still]()));
  }
  if (chosen) merlax.fillAgent(scene, Math.floor(time), chosen, aside);
};

merlax.agentCard = (scene, { mark, index }) => {
  const dot = merlax.el("span", { class: "dot" });
  dot.style.background = merlax.Painter.color(mark, index);
  const many = mark.position.shape[1] > 1;
  const told = scene.told[mark.side];
  const sensed = scene.sectors.filter((part) => part.side === mark.side);
  const parts = [merlax.el("h2", {}, dot, many ? `${mark.name} ${index + 1}` : mark.name)];
  if (told && told.obs && sensed.length) {
    const rose = merlax.el("canvas", { "data-part": "rose" });
    rose.style.height = "180px";
    parts.push(merlax.el("h3", {}, `senses ${sensed.map((part) => part.name).join(" and ")} in ${sensed[0].count} sectors`), rose);
  }
  if (told && told.obs) parts.push(merlax.el("h3", {}, `observation (${told.obs.shape[2]} numbers)`), tall("obs", 44));
  if (told && told.action) parts.push(merlax.el("h3", {}, "action"), tall("action", 14 * Math.min(8, told.action.shape[2]) + 4));
  if (told) parts.push(merlax.el("dl", { "data-part": "paid" }));
  return parts;

  function tall(name, height) {
    const canvas = merlax.el("canvas", { "data-part": name });
    canvas.style.height = `${height}px`;
    return canvas;
  }
};

merlax.fillAgent = (scene, t, { mark, index }, aside) => {
  const told = scene.told[mark.side];
  if (!told) return;
  const part = (name) => aside.querySelector(`[data-part="${name}"]`);
  const row = (array) => {
    const width = array.shape[2], at = merlax.instant(array, t) + index * width;
    return array.subarray(at, at + width);
  };
  const once = (canvas, draw) => {
    canvas.paint ??= merlax.sharp(canvas, (...all) => canvas.draw(...all));
    canvas.draw = draw;
    canvas.paint();
  };
  const color = merlax.Painter.color(mark, index);
  if (part("rose")) once(part("rose"), (context, width, height) => merlax.rose(context, width, height, scene, mark, row(told.obs)));
  if (part("obs")) once(part("obs"), (context, width, height) => merlax.bars(context, width, height, row(told.obs), color));
  if (part("action")) once(part("action"), (context, width, height) => merlax.levels(context, width, height, row(told.action), color));
  part("paid").replaceChildren(...merlax.paid(t, [["agent", told.agent, index], ["team", told.team, 0]]));
};

// What whoever is named was paid: in the step that led to an instant, and so far.
merlax.paid = (t, named) => {
  const gain = (array, i) => {
    const now = array[merlax.instant(array, t) + i], before = array[merlax.instant(array, Math.max(0, t - 1)) + i];
    return [merlax.number(now - before), merlax.number(now)];
  };
  const line = (name, cells, kind = "") => [name, ...cells].map((text, k) => merlax.el(k ? "dd" : "dt", { class: kind }, text));
  return [...line("reward", ["this step", "so far"], "head"), ...named.flatMap(([name, array, i]) => line(name, gain(array, i)))];
};

// Beside pictures, where nobody can be pointed at: everybody's rewards.
merlax.paidCard = (scene, time) => {
  const agents = scene.told.flatMap(({ agent }) => Array.from({ length: agent.shape[1] }, (_, i) => [agent, i]));
  const named = agents.map(([array, i], k) => [`agent ${k + 1}`, array, i]);
  const list = merlax.el("dl", {}, ...merlax.paid(Math.floor(time), [...named, ["team", scene.told[0].team, 0]]));
  return [merlax.el("h2", {}, scene.label ? `Rewards, ${scene.label}` : "Rewards"), list, merlax.keysHint()];
};

merlax.rose = (context, width, height, scene, mark, seen) => {
  const radius = Math.min(width, height) / 2 - 6, x = width / 2, y = height / 2;
  context.strokeStyle = merlax.theme.read("line");
  context.lineWidth = 1;
  for (const share of [1 / 3, 2 / 3, 1]) {
    context.beginPath();
    context.arc(x, y, radius * share, 0, 2 * Math.PI);
    context.stroke();
  }
  for (const part of scene.sectors.filter((each) => each.side === mark.side)) {
    const step = (2 * Math.PI) / part.count;
    context.fillStyle = merlax.Painter.color(part, 0);
    context.globalAlpha = 0.75;
    for (let k = 0; k < part.count; k++) {
      const value = seen[part.first + k];
      if (!(value > 0)) continue;
      context.beginPath();
      context.moveTo(x, y);
      context.arc(x, y, radius * Math.min(1, Math.pow(value, part.power)), -Math.PI / 2 + k * step, -Math.PI / 2 + (k + 1) * step);
      context.fill();
    }
    context.globalAlpha = 1;
  }
};

// Numbers as bars from a middle line, each as high as it is large beside the others.
merlax.bars = (context, width, height, values, color) => {
  const most = Math.max(1e-9, ...Array.from(values, (value) => (Number.isFinite(value) ? Math.abs(value) : 0)));
  const negative = values.some((value) => value < 0), zero = negative ? height / 2 : height - 1;
  const step = width / values.length;
  context.fillStyle = color;
  values.forEach((value, i) => {
    const tall = (value / most) * (negative ? height / 2 : height - 2);
    context.fillRect(i * step, zero - Math.max(0, tall), Math.max(1, step - (step > 3 ? 1 : 0)), Math.abs(tall));
  });
  context.fillStyle = merlax.theme.read("line");
  context.fillRect(0, zero, width, 1);
};

// Actions from -1 to 1, one below the other.
merlax.levels = (context, width, height, values, color) => {
  const shown = Array.from(values).slice(0, 8), step = height / shown.length, room = 46;
  context.font = '12px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = "middle";
  shown.forEach((value, i) => {
    const y = (i + 0.5) * step, middle = (width - room) / 2;
    context.fillStyle = merlax.theme.read("line");
    context.fillRect(0, y - 3, width - room, 6);
    context.fillStyle = color;
    const long = Math.max(-1, Math.min(1, value)) * middle;
    context.fillRect(Math.min(middle, middle + long), y - 3, Math.abs(long), 6);
    context.fillStyle = merlax.theme.read("ink");
    context.textAlign = "right";
    context.fillText(value.toFixed(2).replace("-", "−"), width, y);
  });
};

merlax.tableCard = (scene, time) => {
  const t = Math.floor(time);
  const rows = scene.table.map(({ name, values }) => {
    const at = merlax.instant(values, t);
    const cells = Array.from(values.subarray(at, at + values.row), (value) => merlax.el("td", {}, merlax.number(value)));
    return merlax.el("tr", {}, merlax.el("td", {}, name), ...cells);
  });
  return merlax.el("div", {}, merlax.el("h2", {}, "State"), merlax.el("table", { class: "numbers" }, ...rows));
};

merlax.legendCard = (scene) => {
  const entries = new Map();
  for (const mark of scene.marks) {
    if (mark.kind === "labels") continue;
    if (mark.name && !entries.has(mark.name)) entries.set(mark.name, [mark, false]);
    if (mark.litName && !entries.has(mark.litName)) entries.set(mark.litName, [mark, true]);
  }
  const list = merlax.el("ul", { class: "legend" });
  for (const [name, [mark, lit]] of entries) {
    const canvas = merlax.el("canvas", { "aria-hidden": "true" });
    list.append(merlax.el("li", {}, canvas, name));
    const painter = new merlax.Painter({ marks: [], box: null, sectors: [], told: [] }, [0, 0, 1]);
    merlax.sharp(canvas, (context) => {
      painter.place(22);
      painter.size = 400;
      const color = merlax.Painter.color(mark, 0);
      if (mark.kind === "circles") painter.circle(context, mark, 11, 11, lit ? 6 : 8, color, lit, 0);
      else if (mark.heading) painter.arrow(context, 10, 11, 0, color, lit);
      else painter.dot(context, 11, 11, color, lit, mark.lit !== null);
    });
  }
  const agents = scene.marks.some((mark) => mark.side !== null && mark.side !== undefined && scene.told[mark.side]);
  return [
    merlax.el("h2", {}, "Legend"), list,
    agents ? merlax.el("p", { class: "muted small hint" }, "Point at an agent, or tap it, for what it sees, does and is paid.") : null,
    merlax.keysHint(),
  ].filter((part) => part !== null);
};

merlax.keysHint = () => {
  const keys = [["space", "play or pause"], ["← →", "step"], ["home end", "first, last"], ["↑ ↓", "slower, faster"], ["[ ]", "episode"], ["t", "long trails"], ["d", "dark or light"]];
  return merlax.el("p", { class: "keys" }, ...keys.flatMap(([key, what]) => [...key.split(" ").flatMap((k) => [merlax.el("kbd", {}, k), " "]), `${what}\u2003`]));
};
