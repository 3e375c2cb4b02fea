"use strict";
// The parts of a report, each from the data of one world or one run.
merlax.section = (title, words, ...children) => {
  const parts = children.flat().filter((child) => child);
  return parts.length ? merlax.el("section", { class: "card" }, merlax.el("h2", {}, title), words ? merlax.el("p", { class: "muted small" }, words) : null, ...parts) : null;
};

merlax.unit = (low, high) => (low >= 0 && high <= 1 ? [0, 1] : [low - 0.05 * (high - low || 1), high + 0.05 * (high - low || 1)]);

// Intervals of a few seeds may be wider than anything that can be: the scale follows the means, and leaves bands some room.
merlax.around = (lines) => {
  const known = lines.flatMap((line) => Array.from(line.y)).filter(Number.isFinite);
  const least = Math.min(...known), most = Math.max(...known), room = (most - least || 1) / 2;
  return (low, high) => (least >= 0 && most <= 1 ? [0, 1] : merlax.unit(Math.max(low, least - room), Math.min(high, most + room)));
};

merlax.table = (kind, head, rows) => merlax.el("div", { class: "scroll" }, merlax.el("table", { class: kind },
  merlax.el("thead", {}, merlax.el("tr", {}, ...head.map((text) => merlax.el("th", { scope: "col" }, text)))), merlax.el("tbody", {}, ...rows)));

merlax.plusMinus = (estimate) => {
  if (!estimate) return "–";
  const [value, low, high] = estimate;
  return low === null ? value.toFixed(3) : `${value.toFixed(3)} ± ${((high - low) / 2).toFixed(3)}`;
};

merlax.curves = (world) => {
  const lines = world.methods.map((method, k) => ({ label: method.label, hue: () => merlax.hue(k), y: method.band.mean, ...(method.scores.length > 1 ? { low: method.band.low, high: method.band.high } : {}) }));
  const words = "The champion's score on fresh episodes, as a running mean over a twentieth of the run; bands are 95% intervals over seeds. Drag to zoom, double-click to go back.";
  return merlax.section("Learning curves", words, merlax.chart(`curves ${world.title}`, world.grid, lines, { yName: "team score", height: 330, range: merlax.around(lines) }));
};

merlax.scores = (world) => {
  const known = world.methods.flatMap((method) => (method.mean ? method.mean.filter((value) => value !== null) : []).concat(method.scores));
  const from = Math.min(...known), to = Math.max(...known);
  const rows = world.methods.map((method, k) => merlax.el("tr", {}, merlax.el("td", {}, merlax.spot(merlax.hue(k)), method.label), merlax.el("td", {}, String(method.runs.length)),
    merlax.el("td", {}, merlax.plusMinus(method.mean)), merlax.el("td", {}, method.mean ? merlax.interval(method.mean, from, to, () => merlax.hue(k)) : ""),
    merlax.el("td", {}, method.iqm ? method.iqm[0].toFixed(3) : "–"), merlax.el("td", {}, method.scores.length ? Math.max(...method.scores).toFixed(3) : "–")));
  const parts = [merlax.table("scores", ["method", "runs", "mean ± 95%", "", "IQM", "best run"], rows)];
  if (world.better.length) {
    const cells = world.better.map((row, i) => merlax.el("tr", {}, merlax.el("td", {}, world.methods[i].label), ...row.map((cell) => {
      const td = merlax.el("td", { title: cell && cell[1] !== null ? `95%: ${cell[1].toFixed(2)} to ${cell[2].toFixed(2)}` : null }, cell ? `${cell[0].toFixed(2)}${cell[1] === null ? "" : ` [${cell[1].toFixed(2)}, ${cell[2].toFixed(2)}]`}` : "");
      if (cell) td.style.background = merlax.clear(merlax.hue(cell[0] >= 0.5 ? 2 : 1), 0.5 * Math.abs(cell[0] - 0.5));
      return td;
    })));
    parts.push(merlax.el("p", { class: "muted small", "data-space": "" }, "Probability that a run of the row beats a run of the column, with its 95% interval; a tie counts half."));
    parts.push(merlax.table("better", ["", ...world.methods.slice(0, world.better.length).map((method) => method.label)], cells));
  }
  return merlax.section("Final scores", "The mean over fresh episodes of each run's champion; of a run that has not ended, its newest tests.", parts);
};

merlax.facts = (run) => {
  const seconds = run.seconds, time = seconds === null ? "–" : seconds >= 5400 ? `${(seconds / 3600).toFixed(1)} h` : seconds >= 90 ? `${(seconds / 60).toFixed(1)} min` : `${seconds.toFixed(0)} s`;
  const frames = run.frames.at(-1);
  const facts = [["score", run.score === null ? "–" : `${run.score.toFixed(3)}${run.interval ? ` ± ${run.interval.toFixed(3)}` : ""}`], ["frames", `${merlax.short(frames)}${run.budget && !run.finished ? ` of ${merlax.short(run.budget)}` : ""}`],
    ["generations", String(run.generations)], ["time", time], ["frames per second", merlax.short(seconds ? Math.round(frames / seconds) : null)], ["peak memory", run.memory ? `${merlax.short(Math.round(run.memory))} MB` : "–"], ["state", run.finished ? "finished" : "not finished"]];
  return merlax.el("dl", { class: "facts" }, ...facts.map(([name, value]) => merlax.el("div", {}, merlax.el("dt", {}, name), merlax.el("dd", {}, value))));
};

merlax.runCharts = (run) => {
  const id = (name) => `${name} ${run.name}`;
  const words = (name) => name.replaceAll("_", " ");
  const lines = (columns) => Object.entries(columns).map(([name, y], k) => ({ label: words(name), y, hue: () => merlax.hue(k), width: name === "champion_score" ? 2.5 : 1.5 }));
  const opponent = Object.fromEntries(Object.entries(run.scores).filter(([name]) => name === "opponent_score"));
  const own = Object.fromEntries(Object.entries(run.scores).filter(([name]) => name !== "opponent_score"));
  const chart = (name, columns, options) => (Object.keys(columns).length ? merlax.chart(id(name), run.frames, lines(columns), options) : null);
  const critic = Object.fromEntries(Object.entries(run.losses).filter(([name]) => name.includes("critic")));
  const actor = Object.fromEntries(Object.entries(run.losses).filter(([name]) => !name.includes("critic")));
  const parts = [
    merlax.section("Scores", "The champion on fresh episodes, and the fitness of the population and its migrants.", chart("scores", own, { yName: "team score", range: merlax.unit }), chart("opponent", opponent, { yName: "opponent's score", height: 200 })),
    merlax.populationChart(run, id),
    merlax.selectionChart(run, id),
    merlax.rewardChart(run, id, words),
    merlax.section("Losses", "Of the critics and of the actors, in the learners' own units.", chart("critic", critic, { yName: "critics", height: 200 }), chart("actor", actor, { yName: "actors", height: 200 })),
    run.speed ? merlax.section("Speed", "Frames of all training rollouts together, per second.", merlax.chart(id("speed"), run.frames, [{ label: "frames per second", y: run.speed, hue: () => merlax.hue(2) }], { height: 240, range: (low, high) => [0, high * 1.08] })) : null,
  ];
  return merlax.el("div", { class: "grid" }, ...parts.filter((part) => part));
};

merlax.populationChart = (run, id) => {
  if (!run.population) return null;
  const [least, lower, middle, upper, most] = run.population, hue = () => merlax.hue(0);
  const lines = [{ label: "all teams", hue, high: most, low: least }, { label: "middle half", hue, high: upper, low: lower }, { label: "median", hue, y: middle }];
  return merlax.section("Population", "Fitness of all teams: from the least to the greatest, the middle half, and the median.", merlax.chart(id("population"), run.frames, lines, { yName: "fitness", range: merlax.unit }));
};

merlax.selectionChart = (run, id) => {
  if (!run.selection) return null;
  const { rates, overall, chance } = run.selection;
  const lines = Object.entries(rates).map(([name, y], k) => ({ label: name, y, hue: () => merlax.hue(k + 1) }));
  if (chance !== null) lines.push({ label: "by chance", y: new Float64Array(run.frames.length).fill(chance), hue: () => merlax.theme.read("muted"), dashed: true, width: 1.5 });
  const told = Object.entries(overall).map(([name, rate]) => `${name} ${(100 * rate).toFixed(0)}%`).join(", ");
  return merlax.section("Migrants selected", `How often a learner's team survived selection: ${told} over the run${chance === null ? "" : `; chance would give ${(100 * chance).toFixed(0)}%`}.`, merlax.chart(id("selection"), run.frames, lines, { yName: "share", range: () => [0, 1] }));
};

merlax.rewardChart = (run, id, words) => {
  const names = Object.keys(run.rewards);
  if (!names.length) return null;
  const lines = names.map((name, k) => ({ label: name.startsWith("agent") ? `${words(name)} per step` : words(name).replace("explore", "team"), y: run.rewards[name], hue: () => merlax.hue(name.startsWith("agent") ? 1 + k : 0 + 2 * k), scale: name.startsWith("agent") ? "y2" : "y" }));
  return merlax.section("Agent against team reward", "In the learners' noisy episodes: what the agents were paid per step, and what the team scored.", merlax.chart(id("rewards"), run.frames, lines, { yName: "team score", y2Name: "agent reward" }));
};

merlax.familySection = (run) => {
  if (!run.family) return null;
  const { family } = run, kinds = ["mutation", "crossover"];
  const words = `Over ${family.generations} generations, the line that led to the newest champion has ${merlax.number(family.mutations, 1)} mutations and ${merlax.number(family.crossovers, 1)} crossovers, on average over its branches; a crossed child is held to be half of each parent.`;
  const key = merlax.el("div", { class: "key" }, ...kinds.map((kind) => merlax.el("span", {}, merlax.spot(merlax.kind(kind)), `by ${kind}`)), merlax.el("span", {}, merlax.spot(merlax.kind("learner")), "a learner's migrant"));
  const tree = merlax.tree(family);
  return merlax.section("The champion's family", words, ...merlax.shares(family), tree, tree ? key : null);
};

merlax.configSection = (world) => {
  const differ = world.config.filter((row) => row.differs);
  const body = merlax.el("div", {});
  const fill = (all) => body.replaceChildren(merlax.table("config", ["option", ...world.methods.map((method) => method.label)], (all ? world.config : differ).map((row) =>
    merlax.el("tr", { class: row.differs ? "differs" : "" }, merlax.el("td", {}, row.name), ...row.values.map((value) => merlax.el("td", { title: value }, value))))));
  const all = merlax.el("button", { "aria-pressed": "false", onclick: () => { const on = all.getAttribute("aria-pressed") === "false"; all.setAttribute("aria-pressed", String(on)); all.textContent = on ? "Show less" : "Show everything"; if (on || several) fill(on); else body.replaceChildren(); } }, "Show everything");
  const several = world.methods.length > 1;
  if (several) fill(false);
  return merlax.section("Configuration", several ? `${differ.length} of ${world.config.length} options differ between the methods.` : "Everything that decides the run.", all, body);
};
