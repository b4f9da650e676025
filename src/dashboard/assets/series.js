// Draws the figures of the last cycles, with uPlot. The same numbers stand as a table below; without this script there is only that.
(() => {
  "use strict";
  const LEAST_CYCLES = 3;
  const LEAST_PAUSE = 5000; // milliseconds between two drawings
  const LINES = [["requests", "requests", "--ink"], ["changed", "changed", "--changed"], ["new pages", "new_pages", "--plot-3"], ["failed", "failed", "--failed"]];
  const figure = document.getElementById("series");
  if (!figure || !window.uPlot) return;
  const place = figure.firstElementChild;
  let plot = null, data = null, asked = 0, timer = 0;

  const number = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en"));
  const size = () => ({ width: Math.max(200, place.clientWidth), height: 260 });
  // 0, 1, 10, 100 and so on, up to the first that is above all.
  function powers(most) {
    const found = [0, 1];
    while (found.at(-1) < most) found.push(10 * found.at(-1));
    return found;
  }

  function options() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const family = getComputedStyle(document.body).fontFamily;
    const axis = { stroke: colour("--soft"), font: `12px ${family}`, grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
    const lines = LINES.map(([label, , name]) => ({
      label, stroke: colour(name), width: 1.5, value: (_, value) => number(value), points: { size: 5, fill: colour("--ground") },
    }));
    return {
      ...size(),
      // A number of a cycle is no time; zero has a place on the scale.
      scales: { x: { time: false }, y: { distr: 4, range: (_, least, most) => [0, powers(most || 1).at(-1)] } },
      axes: [
        { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100], values: (_, all) => all.map((value) => `${value}`) },
        { ...axis, size: 64, splits: (_, at, least, most) => powers(most), filter: (_, all) => all, values: (_, all) => all.map(number) },
      ],
      series: [{ label: "cycle", value: (_, value) => (value === null ? "–" : `${value}`) }, ...lines],
      cursor: { y: false, drag: { x: true, y: false } },
    };
  }

  // What a person does with the picture stays: a part that is looked at, and lines that are left out.
  function draw() {
    const shown = plot && plot.series.map((line) => line.show);
    const all = plot && plot.data[0];
    const { min, max } = plot ? plot.scales.x : {};
    const isPart = all && (min > all[0] || max < all.at(-1));
    if (plot) plot.destroy();
    const made = options();
    if (shown) made.series.forEach((line, at) => { line.show = shown[at]; });
    plot = new window.uPlot(made, data, place);
    if (isPart) plot.setScale("x", { min, max });
  }

  async function renew() {
    timer = 0;
    asked = Date.now();
    try {
      const answer = await fetch("/api/v1/cycles?limit=200", { headers: { Accept: "application/json" }, redirect: "error" });
      if (!answer.ok) return;
      const cycles = (await answer.json()).items.reverse();
      if (cycles.length < LEAST_CYCLES) return;
      data = [cycles.map((cycle) => cycle.cycle_id), ...LINES.map(([, key]) => cycles.map((cycle) => cycle[key]))];
    } catch { return; }
    figure.hidden = false;
    draw();
  }

  document.addEventListener("freshet:renewed", () => {
    if (!timer) timer = setTimeout(renew, Math.max(0, LEAST_PAUSE - (Date.now() - asked)));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (data) draw(); });
  new ResizeObserver(() => { if (plot && plot.width !== size().width) plot.setSize(size()); }).observe(place);
  renew();
})();
