"use strict";
// Reads what pack.py wrote: a JSON text, and after it the arrays, all of it compressed.
const merlax = {};

merlax.inflate = async (letters) => {
  const bytes = Uint8Array.from(atob(letters.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
};

merlax.unpack = async (letters) => {
  const buffer = await merlax.inflate(letters);
  const length = new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, length));
  const blob = buffer.slice(4 + length);
  return JSON.parse(text, (name, value) => (value && Array.isArray(value.$) ? merlax.array(blob, ...value.$) : value));
};

// An array: its numbers one after another, and its shape. `row` is how many there are of one instant.
merlax.array = (blob, at, shape, low, step) => {
  const size = shape.reduce((a, b) => a * b, 1);
  const row = shape.length ? size / (shape[0] || 1) : 1;
  if (step === undefined) return Object.assign(new Float64Array(blob.slice(at, at + 8 * size)), { shape, row });
  const bytes = new Uint8Array(blob, at, 2 * size);
  const steps = new Uint16Array(size);
  const values = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    const change = bytes[i] + 256 * bytes[size + i];
    steps[i] = (change + (i >= row ? steps[i - row] : 0)) & 65535;
    values[i] = steps[i] === 65535 ? NaN : low + step * steps[i];
  }
  return Object.assign(values, { shape, row });
};

// The number of the first instants that an array has, for one that never changes has one.
merlax.instant = (array, t) => Math.min(t, (array.shape[0] || 1) - 1) * array.row;

merlax.say = (sentence) => {
  const app = document.getElementById("app");
  const p = document.createElement("p");
  p.className = "sentence";
  p.textContent = sentence;
  app.replaceChildren(p);
};

// Begins a page, or says in a sentence why it cannot be shown.
merlax.begin = async (show) => {
  try {
    if (typeof DecompressionStream === "undefined" || typeof ResizeObserver === "undefined") {
      merlax.say("This page needs a newer browser: Chrome 92, Firefox 113, Safari 16.4 or any later one shows it.");
      return;
    }
    if (!document.createElement("canvas").getContext("2d")) {
      merlax.say("This page draws on a canvas, which this browser does not allow; allow it, or open it in another one.");
      return;
    }
    merlax.theme.begin();
    await show(await merlax.unpack(document.getElementById("data").textContent));
  } catch (error) {
    console.error(error);
    merlax.say(`This page is damaged or incomplete (${error.message}); make it anew with merlax.`);
  }
};

// An element with attributes and children; texts never become markup.
merlax.el = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};

merlax.icon = (path) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
};

merlax.number = (value, digits = 3) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e5 || (size > 0 && size < 1e-3)) return value.toExponential(2);
  return Number(value.toFixed(Math.max(0, digits - (size >= 100 ? 2 : size >= 10 ? 1 : 0)))).toString().replace("-", "−");
};
