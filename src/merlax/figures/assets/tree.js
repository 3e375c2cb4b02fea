"use strict";
// The champion's family: time goes to the right, the champion is the last line; where a line begins, its colour says how.
merlax.kinds = { mutation: "#0072b2", crossover: "#cc79a7", copy: "#8c8c8c", "first population": "#8c8c8c", "tuned team": "#009e73" };
merlax.kind = (name) => merlax.theme.shade(merlax.kinds[name] || "#d55e00");

merlax.shares = (family) => {
  const bar = merlax.el("div", { class: "shares", role: "img", "aria-label": "Origins of the champion" });
  const key = merlax.el("div", { class: "key" });
  for (const [name, share] of Object.entries(family.shares).sort((a, b) => b[1] - a[1])) {
    const part = merlax.el("i", { title: `${name} ${(100 * share).toFixed(0)}%` });
    part.style.flexGrow = share;
    part.style.background = merlax.kind(name);
    bar.append(part);
    key.append(merlax.el("span", {}, merlax.spot(merlax.kind(name)), `${(100 * share).toFixed(0)}% from the ${name}`));
  }
  return [bar, key];
};

merlax.spot = (color) => {
  const swatch = merlax.el("span", { class: "swatch" });
  swatch.style.background = color;
  return swatch;
};

merlax.tree = (family) => {
  const shape = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const nodes = family.nodes.filter((node) => node.born > 0);
  const kept = new Map(nodes.map((node) => [family.nodes.indexOf(node), node]));
  if (!kept.size) return null;
  const lanes = new Map();
  const order = [];
  const visit = (number, lane) => {
    if (lanes.has(number) || !kept.has(number)) return;
    lanes.set(number, lane);
    order.push(number);
    kept.get(number).parents.forEach((parent, k) => {
      if (k === 0) visit(parent, lane);
      else if (!lanes.has(parent)) visit(parent, Math.max(...lanes.values()) + 1);
    });
  };
  visit(0, 0);
  const rows = Math.max(...lanes.values()) + 1;
  const first = Math.min(...order.map((number) => kept.get(number).born)), last = Math.max(...order.map((number) => kept.get(number).until));
  const width = 960, step = Math.max(9, Math.min(26, 380 / rows)), top = 14, height = top + rows * step + 24;
  const x = (generation) => 14 + ((generation - first) / Math.max(1, last - first)) * (width - 28);
  const y = (number) => top + (rows - 1 - lanes.get(number)) * step + step / 2;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "tree", role: "img", "aria-label": "Family tree of the champion" });
  for (const number of order) {
    const node = kept.get(number), color = merlax.kind(node.kind), at = y(number);
    for (const parent of node.parents.filter((one) => lanes.has(one))) {
      const from = x(Math.min(kept.get(parent).until, node.born)), to = x(node.born);
      svg.append(shape("path", { d: `M${from} ${y(parent)}C${(from + to) / 2} ${y(parent)} ${(from + to) / 2} ${at} ${to} ${at}`, fill: "none", stroke: color, "stroke-width": 1.5, opacity: 0.65 }));
    }
    const thick = 1.5 + 3.5 * Math.sqrt(Math.min(1, node.weight));
    const line = shape("path", { d: `M${x(node.born)} ${at}H${Math.max(x(node.until), x(node.born) + 1)}`, stroke: color, "stroke-width": thick, "stroke-linecap": "round" });
    const dot = shape("circle", { cx: x(node.born), cy: at, r: Math.max(2.5, thick), fill: color });
    const told = `generation ${node.born} to ${node.until}: ${node.kind === "first population" ? "there from the start" : ["mutation", "crossover", "copy"].includes(node.kind) ? `by ${node.kind}` : `the ${node.kind}'s team`}, ${(100 * node.weight).toFixed(0)}% of the line`;
    line.append(shape("title", {}, told));
    dot.append(shape("title", {}, told));
    svg.append(line, dot);
  }
  svg.append(shape("text", { x: 14, y: height - 6 }, `generation ${first}`), shape("text", { x: width - 14, y: height - 6, "text-anchor": "end" }, `generation ${last}: the champion`));
  return svg;
};
