"use strict";
/* Detectors of a run against each other: means by data set with intervals, box plots, one detector
   against another, families. Markup: run_detectors.html; data: run_data() of run.py.             */
benchmark.RESAMPLES = 1000;
// A small seeded generator, so that intervals are reproducible.
benchmark.randomPlaces = (seed) => {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296 * n);
  };
};
/* Mean of each row, and the 2.5 % and 97.5 % quantiles of its bootstrap means. Rows are values of
   detectors on the same series and share the samples. A single value has no interval.            */
benchmark.intervals = (rows, seed = 0) => {
  const n = rows[0]?.length ?? 0;
  const means = rows.map((row) => benchmark.mean(row));
  if (n < 2) return means.map((mean) => ({ mean, low: NaN, high: NaN, n }));
  const pick = benchmark.randomPlaces(seed);
  const drawn = rows.map(() => new Float64Array(benchmark.RESAMPLES));
  const counts = new Uint32Array(n);
  for (let k = 0; k < benchmark.RESAMPLES; k++) {
    counts.fill(0);
    for (let i = 0; i < n; i++) counts[pick(n)]++;
    rows.forEach((row, d) => {
      let sum = 0;
      for (let i = 0; i < n; i++) sum += counts[i] * row[i];
      drawn[d][k] = sum / n;
    });
  }
  return drawn.map((samples, d) => {
    samples.sort();
    return { mean: means[d], low: benchmark.quantile(samples, 0.025), high: benchmark.quantile(samples, 0.975), n };
  });
};
// Quantile of sorted numbers, interpolated as in NumPy.
benchmark.quantile = (sorted, share) => {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
};
// Quartiles, whiskers at the last values within 1.5 times the interquartile range, and outliers.
benchmark.boxOf = (numbers) => {
  const sorted = Float64Array.from(numbers).sort();
  if (!sorted.length) return { box: [NaN, NaN, NaN, NaN, NaN], outliers: [] };
  const [q1, q2, q3] = [0.25, 0.5, 0.75].map((share) => benchmark.quantile(sorted, share));
  const reach = 1.5 * (q3 - q1);
  const inside = sorted.filter((value) => value >= q1 - reach && value <= q3 + reach);
  return { box: [inside[0], q1, q2, q3, inside.at(-1)], outliers: [...sorted.filter((value) => value < inside[0] || value > inside.at(-1))] };
};

vuskit.view("detectors", (place, _, options) => {
  const run = benchmark.model();
  const { element } = vuskit;
  const { shown } = benchmark;
  const byId = (id) => place.querySelector(`#${id}`);
  const filters = benchmark.makeFilters(place, run, "detectors");
  const measure = () => run.measures[filters.measure()];
  const higher = () => measure()?.higher !== false;
  const valueOf = (d, i) => run.M ? run.value(filters.settings(), filters.measure(), d, i) : NaN;
  const detectors = () => {
    const series = filters.series();
    return run.detectors.map((__, d) => d).filter((d) => series.some((i) => !Number.isNaN(valueOf(d, i))));
  };

  const valuesOf = (d, series) => series.map((i) => valueOf(d, i)).filter((value) => !Number.isNaN(value));
  // Measures between 0 and 1 keep the full axis, so that figures can be compared.
  const axisOf = (numbers) => numbers.every((value) => value >= 0 && value <= 1) ? { low: 0, high: 1 } : {};

  // ---- means by data set ----
  // Over the series on which all detectors have a value, as in the leaderboard.
  const weighing = benchmark.weighing(byId("weigh"), run, () => change());
  let layout = "";
  let known = null; // resampling is slow: cached for other sizes and themes
  const summaries = () => {
    const key = JSON.stringify([filters.chosen(), filters.measure(), filters.settings(), weighing.value()]);
    if (known?.key !== key) known = { key, ...summarized() };
    return known;
  };
  const summarized = () => {
    const series = filters.series();
    const present = (own) => detectors().filter((d) => own.some((i) => !Number.isNaN(valueOf(d, i))));
    const row = (name, own, seed, weigh = "series") => {
      const there = present(own);
      const complete = own.filter((i) => there.every((d) => !Number.isNaN(valueOf(d, i))));
      const groups = run.datasets.map((_, k) => complete.filter((i) => run.series.dataset[i] === k)).filter((group) => group.length);
      const numbers = (d) => weigh === "dataset" ? groups.map((group) => benchmark.mean(group.map((i) => valueOf(d, i)))) : complete.map((i) => valueOf(d, i));
      const found = benchmark.intervals(there.map(numbers), seed);
      return { name, n: complete.length, cells: new Map(there.map((d, k) => [d, found[k]])) };
    };
    const overall = row(weighing.value() === "dataset" ? "mean of data sets" : "all series", series, 0, weighing.value());
    const mean = (d) => overall.cells.get(d)?.mean ?? NaN;
    const used = detectors().sort((one, other) => Number.isNaN(mean(one)) - Number.isNaN(mean(other)) || (higher() ? -1 : 1) * (mean(one) - mean(other)) || one - other);
    const missing = { mean: NaN, low: NaN, high: NaN, n: 0 };
    const rows = run.datasets.map((name, k) => row(name, series.filter((i) => run.series.dataset[i] === k), k + 1)).filter((one) => one.n);
    const listed = rows.length > 1 ? [...rows, overall] : rows;
    return { used, rows: listed.map((one) => ({ ...one, cells: used.map((d) => one.cells.get(d) ?? missing) })) };
  };
  const drawSets = () => {
    const { used, rows } = summaries();
    const best = (means) => new Set(means).size < 2 ? NaN : (higher() ? Math.max : Math.min)(...means);
    const lists = rows.map((one) => ({ ...one, best: best(one.cells.map(({ mean }) => mean).filter((mean) => !Number.isNaN(mean))) }));
    const cell = ({ mean, low, high }, best) => element("td", { class: mean === best ? "best" : null, "data-value": run.exact(mean) },
      shown(mean), element("small", { text: Number.isNaN(low) ? "–" : `${shown(low)} to ${shown(high)}` }));
    const name = (text) => element("th", { scope: "row", text, title: text });
    const head = (texts) => element("thead", {}, element("tr", {}, ...texts.map((text) => element("th", { scope: "col", text, class: vuskit.wrapping(text) }))));
    // By default the shorter list is in columns.
    if (!layout) byId("layout").value = rows.length < used.length ? "rows" : "columns";
    const across = byId("layout").value === "columns";
    const body = across
      ? lists.map((one) => element("tr", {}, name(one.name), element("td", { text: String(one.n) }), ...one.cells.map((found) => cell(found, one.best))))
      : used.map((d, k) => element("tr", {}, name(run.detectors[d]), ...lists.map((one) => cell(one.cells[k], one.best))));
    byId("sets").replaceChildren(
      element("caption", {}, element("span", { text: `Mean ${measure()?.title ?? ""} and 95% interval` })),
      across ? head(["data set", "series", ...used.map((d) => run.detectors[d])]) : head(["detector", ...lists.map((one) => `${one.name} (${one.n})`)]),
      element("tbody", {}, ...body));
    byId("sets-note").textContent = rows.length
      ? `Means over the series of a data set on which all detectors have a value; a detector without any value there does not count. ${rows.length > 1 ? (weighing.value() === "dataset" ? "Mean of data sets: every data set has the same weight. " : "All series: every series has the same weight. ") : ""}Intervals: 2.5% and 97.5% quantiles of ${benchmark.RESAMPLES.toLocaleString("en")} bootstrap means over the series${rows.length > 1 && weighing.value() === "dataset" ? ", or over the data sets" : ""}. Bold: best of the data set. The detector with the best overall mean comes first.${higher() ? "" : " Lower is better."}`
      : "No series has values of all detectors.";
  };

  // ---- box plots ----
  const boxes = (series = filters.series()) => detectors().map((d) => {
    const numbers = valuesOf(d, series);
    return { name: run.detectors[d], title: run.detectors[d], d, numbers, ...benchmark.boxOf(numbers) };
  }).sort((one, other) => (higher() ? -1 : 1) * (one.box[2] - other.box[2]));
  const drawBoxPlot = charts.plot(byId("boxes"), "Box plots", (name) => vuskit.go("table", { ...filters.shared, measure: measure()?.name, sort: name }));
  const drawBoxes = () => {
    const found = boxes();
    byId("boxes").hidden = !found.length;
    if (!found.length) { byId("boxes-note").textContent = "There are no values."; return; }
    charts.boxes(drawBoxPlot, found.map(({ name, title, d, numbers, box, outliers }) => ({
      name, title, boxes: [{ box, outliers, color: vuskit.lineColor(d), text: `${numbers.length} series` }],
    })), { title: measure().title, ...axisOf(found.flatMap((one) => one.numbers)) });
    byId("boxes-note").textContent = "One box per detector, over all of its series: median and quartiles; whiskers end at the last value within 1.5 interquartile ranges, dots lie beyond. The best median is at the top. Click a box to list the series.";
  };

  // ---- X versus Y ----
  const picked = { x: "", y: "" }; // chosen by the reader; otherwise the best two, also during a run
  const listDetectors = () => {
    const best = summaries().used.map((d) => run.detectors[d]);
    ["x", "y"].forEach((id, k) => {
      const kept = picked[id];
      benchmark.fillSelect(byId(id), run.detectors.map((name) => [name, name]), kept || best[1 - k] || run.detectors[k]);
    });
  };
  const pairs = () => {
    const [x, y] = ["x", "y"].map((id) => run.detectors.indexOf(byId(id).value));
    if (x < 0 || y < 0) return [];
    return filters.series().map((i) => ({ i, x: valueOf(x, i), y: valueOf(y, i) })).filter((one) => !Number.isNaN(one.x) && !Number.isNaN(one.y));
  };
  const tint = (i) => vuskit.lineColor(run.series.dataset[i]);
  const few = () => run.datasets.length > 1 && run.datasets.length <= 12;
  const drawVersusPlot = charts.plot(byId("versus"), "X versus Y", (name) => { window.location.hash = run.link(run.place(name)); });
  const drawVersus = () => {
    const found = pairs();
    const [x, y] = [byId("x").value, byId("y").value];
    byId("versus").hidden = !found.length;
    byId("versus-legend").replaceChildren(...(few() ? run.datasets.map((name, k) => element("span", { text: name }, element("i", { style: `--ink: ${vuskit.lineColor(k)}` }))) : []));
    if (!found.length) { byId("versus-note").textContent = "No series has values of both detectors."; return; }
    charts.versus(drawVersusPlot, found.map((one) => ({
      name: run.title(one.i), x: one.x, y: one.y, color: few() ? tint(one.i) : vuskit.lineColor(0),
      text: `${run.title(one.i)}\n${x} ${shown(one.x)}\n${y} ${shown(one.y)}`,
    })), { xTitle: x, yTitle: y, ...axisOf(found.flatMap((one) => [one.x, one.y])) });
    const better = (one, other) => higher() ? one > other : one < other;
    const [wins, losses] = [found.filter((one) => better(one.x, one.y)).length, found.filter((one) => better(one.y, one.x)).length];
    byId("versus-note").textContent = `${measure().title} of ${found.length} series: ${x} is better on ${wins}, ${y} on ${losses}, equal on ${found.length - wins - losses}. ${higher() ? "Above" : "Below"} the diagonal ${y} is better. Click a point to open its series.`;
  };

  // ---- families ----
  const families = () => {
    const found = new Map();
    for (const d of detectors()) {
      const family = run.detector_families?.[d];
      if (family) found.set(family, [...(found.get(family) ?? []), d]);
    }
    return [...found].map(([name, own]) => {
      const numbers = filters.series().map((i) => own.map((d) => valueOf(d, i)).filter((value) => !Number.isNaN(value)))
        .filter((some) => some.length).map((some) => higher() ? Math.max(...some) : Math.min(...some));
      return { name, own, numbers, ...benchmark.boxOf(numbers) };
    }).sort((one, other) => (higher() ? -1 : 1) * (one.box[2] - other.box[2]));
  };
  const drawFamilyPlot = charts.plot(byId("families"), "Families of detectors");
  const drawFamilies = () => {
    const found = families();
    byId("families-section").hidden = found.length < 2;
    if (found.length < 2) return;
    charts.boxes(drawFamilyPlot, found.map(({ name, own, numbers, box, outliers }, k) => ({
      title: name, boxes: [{ box, outliers, color: vuskit.lineColor(k), text: `${numbers.length} series: ${own.map((d) => run.detectors[d]).join(", ")}` }],
    })), { title: measure().title, ...axisOf(found.flatMap((one) => one.numbers)) });
    byId("families-note").textContent = `Best detector of each family on each series: ${found.map(({ name, own }) => `${name} (${own.map((d) => run.detectors[d]).join(", ")})`).join("; ")}. More detectors give a family more chances.`;
  };

  const chosen = () => ({ ...picked, layout, weigh: weighing.address() });
  const draw = () => {
    listDetectors();
    const n = filters.series().length;
    byId("detectors-note").textContent = run.M ? `${measure().title} on ${n.toLocaleString("en")} of ${run.S.toLocaleString("en")} series; ${run.settings[filters.settings()]}.` : "There are no values yet.";
    drawSets();
    drawBoxes();
    drawVersus();
    drawFamilies();
  };
  const change = () => { filters.remember(chosen()); draw(); };
  byId("filters").addEventListener("change", change);
  const pick = () => { for (const id of ["x", "y"]) picked[id] = byId(id).value; };
  for (const id of ["x", "y"]) byId(id).addEventListener("change", () => { pick(); change(); });
  byId("layout").addEventListener("change", () => { layout = byId("layout").value; change(); });
  byId("swap").addEventListener("click", () => { [byId("x").value, byId("y").value] = [byId("y").value, byId("x").value]; pick(); change(); });
  const take = (given) => {
    filters.take(given);
    weighing.take(given.weigh);
    listDetectors();
    for (const id of ["x", "y", "layout"]) if ([...byId(id).options].some((one) => one.value === given[id])) byId(id).value = given[id];
    if (given.x || given.y) pick();
    if (given.layout) layout = byId("layout").value;
  };
  take(options);
  vuskit.copies(place, {
    sets: () => {
      const { used, rows } = summaries();
      return [["dataset", "series", "detector", "measure", "mean", "low", "high"], ...rows.flatMap((row) => row.cells.map((cell, k) => [
        row.name, row.n, run.detectors[used[k]], measure()?.name, run.exact(cell.mean), run.exact(cell.low), run.exact(cell.high)]))];
    },
    "sets-table": () => [...byId("sets").rows].map((row) => [...row.cells].map((cell) => {
      const [value, interval] = cell.childNodes;
      return interval ? `${value.textContent} [${interval.textContent}]` : cell.textContent;
    })),
    boxes: () => [["detector", "measure", "series", "low_whisker", "q1", "median", "q3", "high_whisker", "beyond"],
      ...boxes().map((one) => [one.name, measure()?.name, one.numbers.length, ...one.box.map(run.exact), one.outliers.length])],
    versus: () => [["dataset", "series", "measure", byId("x").value, byId("y").value], ...pairs().map((one) => [
      run.datasets[run.series.dataset[one.i]], run.series.name[one.i], measure()?.name, run.exact(one.x), run.exact(one.y)])],
    families: () => [["family", "detectors", "measure", "series", "low_whisker", "q1", "median", "q3", "high_whisker"],
      ...families().map((one) => [one.name, one.own.map((d) => run.detectors[d]).join(" "), measure()?.name, one.numbers.length, ...one.box.map(run.exact)])],
  });
  return { draw, show: (given) => { take(given); draw(); }, refresh: () => { known = null; filters.fill(); weighing.show(); } };
});
