"use strict";
// Curves that can be pointed at, toggled and zoomed; every one is a uPlot.
merlax.hues = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7b4b2a", "#56b4e9", "#8f7700", "#5d5fc4", "#b03a5b", "#3b7d3b"];
merlax.hue = (number) => merlax.theme.shade(merlax.hues[number % merlax.hues.length]);

merlax.short = (value) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const [unit, letter] = size >= 1e9 ? [1e9, "G"] : size >= 1e6 ? [1e6, "M"] : size >= 1e4 ? [1e3, "k"] : [1, ""];
  return unit === 1 ? merlax.number(value) : `${Number((value / unit).toPrecision(3))} ${letter}`;
};

// uPlot knows gaps as null.
merlax.gaps = (values) => Array.from(values, (value) => (Number.isFinite(value) ? value : null));

/* lines: [{label, y, hue, low, high, dashed, scale, width}], all over one x; a band belongs to its line.
   Those that somebody has switched off stay off when the page renews itself. */
merlax.off = new Set();
merlax.chart = (id, x, lines, { xName = "frames", yName = "", y2Name = "", height = 280, range = null } = {}) => {
  const holder = merlax.el("div", { class: "plot", "data-chart": id });
  const chips = merlax.el("div", { class: "chips" });
  const figure = merlax.el("div", {}, holder, chips);
  const data = [Array.from(x)], series = [{}], bands = [], groups = [];
  for (const line of lines) {
    const group = [];
    const add = (values, options) => { data.push(merlax.gaps(values)); series.push({ scale: line.scale || "y", ...options }); group.push(series.length - 1); return series.length - 1; };
    if (line.high) {
      const soft = { stroke: "transparent", width: 0, points: { show: false } };
      const high = add(line.high, soft), low = add(line.low, soft);
      bands.push({ series: [high, low], fill: () => merlax.clear(line.hue(), 0.16) });
    }
    if (line.y) add(line.y, { stroke: () => line.hue(), width: line.width || 2, dash: line.dashed ? [6, 5] : undefined, points: { show: line.y.length < 3, size: 7 }, spanGaps: true });
    groups.push(group);
  }
  const scales = { x: { time: false }, y: range ? { range: (u, low, high) => range(low, high) } : {} };
  const axis = (more) => ({ stroke: () => merlax.theme.read("muted"), grid: { stroke: () => merlax.theme.read("line"), width: 1 }, ticks: { stroke: () => merlax.theme.read("line"), width: 1, size: 5 },
    font: "12px system-ui", labelFont: "12px system-ui", labelSize: 20, ...more, values: (u, ticks) => ticks.map(merlax.short) });
  const axes = [axis({ label: xName, size: 34, space: 70 }), axis({ label: yName, size: 54 })];
  if (lines.some((line) => line.scale === "y2")) axes.push(axis({ label: y2Name, side: 1, scale: "y2", size: 54, grid: { show: false } }));
  let plot = null;
  const values = chips.children;
  const tell = (u) => lines.forEach((line, k) => {
    const at = u && u.cursor.idx !== null && u.cursor.idx !== undefined ? u.cursor.idx : null;
    const own = line.y || line.high;
    const known = at === null ? Array.from(own).filter(Number.isFinite).at(-1) : own[at];
    if (values[k]) values[k].lastChild.textContent = merlax.short(known);
  });
  lines.forEach((line, k) => {
    const key = `${id} ${line.label}`;
    const swatch = merlax.el("span", { class: "swatch" });
    swatch.style.background = line.hue();
    const chip = merlax.el("button", { class: "chip", "aria-pressed": String(!merlax.off.has(key)), "data-line": line.label, title: "Show or hide", onclick: () => {
      const show = merlax.off.has(key);
      if (show) merlax.off.delete(key); else merlax.off.add(key);
      chip.setAttribute("aria-pressed", String(show));
      groups[k].forEach((number) => plot && plot.setSeries(number, { show }));
    } }, swatch, line.label, merlax.el("b", {}, ""));
    chips.append(chip);
  });
  const build = () => {
    const width = holder.clientWidth;
    if (!width) return;
    if (plot) { plot.setSize({ width, height }); return; }
    series.forEach((one, number) => { one.show = !lines.some((line, k) => merlax.off.has(`${id} ${line.label}`) && groups[k].includes(number)); });
    plot = new uPlot({ width, height, scales, axes, series, bands, legend: { show: false }, cursor: { drag: { x: true, y: false }, points: { size: 7 } }, hooks: { setCursor: [tell] } }, data, holder);
    holder.plot = plot;
    tell(null);
  };
  new ResizeObserver(build).observe(holder);
  merlax.theme.listeners.push(Object.assign(() => {
    lines.forEach((line, k) => { values[k].firstChild.style.background = line.hue(); });
    if (plot) plot.redraw(false, true);
  }, { canvas: holder }));
  return figure;
};

merlax.clear = (color, share) => {
  const parts = color.startsWith("#") ? [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16)) : color.match(/\d+/g).slice(0, 3);
  return `rgba(${parts.join(",")},${share})`;
};

// A mean with its interval on a common scale, as a small picture in a table.
merlax.interval = ([mean, low, high], from, to, hue) => {
  const canvas = merlax.el("canvas", { class: "interval", "aria-hidden": "true" });
  merlax.sharp(canvas, (context, width, height) => {
    const x = (value) => 5 + ((value - from) / (to - from || 1)) * (width - 10);
    context.fillStyle = merlax.theme.read("line");
    context.fillRect(0, height / 2 - 0.5, width, 1);
    context.fillStyle = context.strokeStyle = hue();
    context.lineWidth = 3;
    context.lineCap = "round";
    if (low !== null && high !== null) {
      context.globalAlpha = 0.45;
      context.beginPath();
      context.moveTo(x(Math.max(from, low)), height / 2);
      context.lineTo(x(Math.min(to, high)), height / 2);
      context.stroke();
      context.globalAlpha = 1;
    }
    context.beginPath();
    context.arc(x(mean), height / 2, 4.5, 0, 2 * Math.PI);
    context.fill();
  });
  return canvas;
};
