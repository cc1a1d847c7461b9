"use strict";
/* Benchmark runs: the model that their views share, leaderboard, figures, table of series, failures.
   Markup: run*.html; data: run_data() of run.py.                                                 */
const benchmark = (() => {
  let found = null;
  // One run per page, read on first use.
  const model = () => { found ??= read(vuskit.data("run")); return found; };
  // New data of a running benchmark: views keep the object, whose content is replaced.
  const update = (data) => { Object.assign(model(), read(data)); vuskit.refresh(); };
  const read = (data) => {
    const values = vuskit.numbers(data.values);
    const seconds = vuskit.numbers(data.seconds);
    const [M, D, S] = [data.measures.length, data.detectors.length, data.series.name.length];
    const value = (settings, measure, detector, series) => values[((settings * M + measure) * D + detector) * S + series];
    const outcome = (detector, series) => data.outcome_names[Number(data.outcomes[detector * S + series])];
    const title = (series) => `${data.datasets[data.series.dataset[series]]}/${data.series.name[series]}`;
    // Places of the series that pass the filters: {dataset, kind, number, length}; "" passes all.
    const chosen = (filters = {}) => {
      const place = data.datasets.indexOf(filters.dataset ?? "");
      const tests = Object.entries(data.filters).flatMap(([name, { classes, series }]) => {
        const wanted = classes.findIndex(([key]) => key === filters[name]);
        return wanted < 0 || !series ? [] : [(i) => series[i] === String(wanted)];
      });
      return Array.from({ length: S }, (_, i) => i)
        .filter((i) => (place < 0 || data.series.dataset[i] === place) && tests.every((passes) => passes(i)));
    };
    const titles = new Map(data.series.name.map((_, i) => [title(i), i]));
    const shell = (text) => /^[\w@%+=:,.\/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\"'\"'")}'`;
    return {
      ...data, D, S, M, value, outcome, title, chosen,
      place: (name) => titles.get(name) ?? -1,
      // All digits in the file.
      exact: (number) => Number.isNaN(number) ? "" : String(Number(number.toPrecision(data.digits))),
      second: (detector, series) => seconds[detector * S + series],
      command: (series) => (data.command ? `${data.command} ${shell(title(series))}` : ""),
      link: (series) => series in data.embedded ? vuskit.address(data.embedded[series]) : vuskit.address("series", { name: title(series) }),
    };
  };

  const mean = (numbers) => numbers.length ? numbers.reduce((sum, one) => sum + one, 0) / numbers.length : NaN;
  const median = (numbers) => {
    if (!numbers.length) return NaN;
    const sorted = [...numbers].sort((one, other) => one - other);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  };
  // Ranks from 1 (best); ties share their mean rank; NaN has no rank.
  const ranks = (numbers, higher) => {
    const order = numbers.map((_, i) => i).filter((i) => !Number.isNaN(numbers[i]))
      .sort((i, j) => higher ? numbers[j] - numbers[i] : numbers[i] - numbers[j]);
    const given = numbers.map(() => NaN);
    for (let start = 0; start < order.length;) {
      let stop = start;
      while (stop < order.length && numbers[order[stop]] === numbers[order[start]]) stop++;
      for (let k = start; k < stop; k++) given[order[k]] = (start + 1 + stop) / 2;
      start = stop;
    }
    return given;
  };
  /* One {value, n, sets} per detector for a measure. It uses the n series on which all detectors
     have a value of the measure (common_series() of vuskit.bench), or with the basis "own" all
     series of the detector. Detectors without any value do not count among "all".
     `weigh` is "series", or "dataset": a number of each data set first, then the mean of those, as
     in publication tables. `sets`: number of data sets used.                                      */
  const summarize = (run, { settings, measure, series, summary, basis, weigh }) => {
    const rows = Array.from({ length: run.D }, (_, d) => series.map((i) => run.value(settings, measure, d, i)));
    const present = rows.filter((row) => row.some((value) => !Number.isNaN(value)));
    const shared = series.map((_, k) => present.every((row) => !Number.isNaN(row[k])));
    const common = basis === "common" || summary === "rank";
    const ranked = summary === "rank" ? rankRows(rows, shared, run.measures[measure].higher) : rows;
    const one = summary === "median" ? median : mean;
    return ranked.map((row) => {
      const used = series.map((_, k) => k).filter((k) => !Number.isNaN(row[k]) && (!common || shared[k]));
      const groups = run.datasets.map(() => []);
      for (const k of used) groups[run.series.dataset[series[k]]].push(row[k]);
      const filled = groups.filter((group) => group.length);
      const value = weigh === "dataset" ? mean(filled.map(one)) : one(used.map((k) => row[k]));
      return { value, n: used.length, sets: filled.length };
    });
  };
  const rankRows = (rows, shared, higher) => {
    const ranked = rows.map((row) => row.map(() => NaN));
    shared.forEach((all, k) => {
      if (all) ranks(rows.map((row) => row[k]), higher).forEach((rank, d) => { ranked[d][k] = rank; });
    });
    return ranked;
  };

  /* Control for means over several data sets. All views share its value, and hide it if there is
     only one data set.                                                                            */
  const WEIGHTS = { series: "series", dataset: "series, then data sets" };
  let weight = "series";
  const weighing = (select, run, changed) => {
    const show = () => {
      select.value = weight;
      select.parentElement.hidden = run.datasets.length < 2;
    };
    fillSelect(select, Object.entries(WEIGHTS), weight);
    select.addEventListener("change", () => { weight = select.value; changed(); });
    return {
      show,
      take: (given) => { if (given in WEIGHTS) weight = given; show(); },
      value: () => run.datasets.length < 2 ? "series" : weight,
      address: () => weight === "series" ? undefined : weight,
    };
  };
  const fillSelect = (select, entries, value) => {
    select.replaceChildren(...entries.map(([key, text]) => new Option(text, key)));
    if (entries.some(([key]) => key === value)) select.value = value;
  };
  /* Filters that the views of a run share: they stay when the reader opens another view.
     `filters.fill()` lists the current content of the run, `take(options)` reads an address, `remember`
     writes one, of the shared filters and those of the view.                                     */
  const SHARED = ["dataset", "kind", "number", "length", "measure", "settings"];
  const TITLES = { kind: "anomalies", number: "how many", length: "length" };
  let shared = {};
  const makeFilters = (place, run, key) => {
    const byId = (id) => place.querySelector(`#${id}`);
    const form = byId("filters");
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const name of Object.keys(run.filters).reverse()) {
      byId("dataset").parentElement.after(vuskit.element("label", { text: `${TITLES[name]} ` }, vuskit.element("select", { id: name })));
    }
    const usual = () => ({ dataset: "", kind: "", number: "", length: "", measure: run.favorite, settings: "0" });
    const chosen = () => Object.fromEntries(["dataset", ...Object.keys(run.filters)].map((id) => [id, byId(id).value]));
    const fill = () => {
      const kept = Object.fromEntries(SHARED.map((id) => [id, byId(id).value || usual()[id]]));
      const lists = {
        dataset: [["", `all (${run.S})`], ...run.datasets.map((name) => [name, `${name} (${run.chosen({ dataset: name }).length})`])],
        measure: run.measures.map((one) => [one.name, titled(one)]),
        settings: run.settings.map((text, i) => [String(i), text]),
      };
      for (const [name, { classes }] of Object.entries(run.filters)) {
        lists[name] = [["", "any"], ...classes.map(([one, text]) => [one, `${text} (${run.chosen({ [name]: one }).length})`])];
        byId(name).parentElement.hidden = classes.length < 2;
      }
      for (const id of SHARED) fillSelect(byId(id), lists[id], kept[id]);
      byId("settings").parentElement.hidden = run.settings.length < 2;
    };
    const keep = () => {
      const defaults = usual();
      shared = Object.fromEntries(SHARED.filter((id) => byId(id).value !== defaults[id]).map((id) => [id, byId(id).value]));
      for (const link of document.querySelectorAll("#sections a")) {
        if (["run", "detectors", "table"].includes(link.dataset.key)) link.href = vuskit.address(link.dataset.key, shared);
      }
    };
    const take = (given) => {
      const wanted = { ...usual(), ...(Object.keys(given).length ? given : shared) };
      for (const id of SHARED) if ([...byId(id).options].some((one) => one.value === wanted[id])) byId(id).value = wanted[id];
      keep();
    };
    const remember = (own = {}) => {
      keep();
      window.history.replaceState(null, "", vuskit.address(key, { ...shared, ...own }));
    };
    fill();
    return {
      fill, take, remember, chosen,
      get shared() { return shared; },
      settings: () => Number(byId("settings").value || 0),
      measure: () => Math.max(run.measures.findIndex((one) => one.name === byId("measure").value), 0),
      series: () => run.chosen(chosen()),
    };
  };
  const shown = (value) => {
    if (Number.isNaN(value)) return "–";
    const size = Math.abs(value);
    return size === 0 || (size >= 0.0005 && size < 1000) ? value.toFixed(3).replace("-", "−") : vuskit.format(value);
  };
  // Title of a measure for headers and lists; an arrow if lower is better.
  const titled = (measure) => measure.higher ? measure.title : `${measure.title} ↓`;
  return { model, update, ranks, mean, median, summarize, weighing, fillSelect, makeFilters, shown, titled };
})();

vuskit.view("failures", (place, data) => {
  vuskit.sortable(place.querySelector("#counts"));
  vuskit.copies(place, {
    counts: () => vuskit.tableRows(place.querySelector("#counts")),
    failures: () => [["status", "job", "message", "command"], ...data],
  });
});

// ---- figures: critical differences, heat map of ranks, time against accuracy ----
benchmark.figures = (place, run, state) => {
  const { color, element, lineColor, heat, prepare, format, fitted, fittedNames } = vuskit;
  const { shown } = benchmark;
  const { exact } = run;
  const byId = (id) => place.querySelector(`#${id}`);
  const sized = (canvas, height) => { canvas.style.height = `${height}px`; return prepare(canvas); };
  const stroke = (pen, ...points) => {
    pen.beginPath();
    points.forEach(([px, py], i) => { if (i) pen.lineTo(px, py); else pen.moveTo(px, py); });
    pen.stroke();
  };

  // ---- critical differences ----
  const compared = (measure = state().measure) => {
    const { settings, filters } = state();
    if (!run.M) return { error: "There are no values yet." };
    if (benchmark.compare) return benchmark.compare(run, settings, measure, filters);
    if (filters.kind || filters.number || filters.length) return { error: "this file contains tests for whole data sets only; `vuskit explore` tests any selection." };
    const place = run.datasets.indexOf(filters.dataset);
    return run.comparisons[`${settings},${measure}${place < 0 ? "" : `,${place}`}`]
      ?? { error: "this file contains the comparisons of the largest data sets only; `vuskit explore` tests any selection." };
  };
  const openTable = (options) => {
    const { filters, measure, settings } = state();
    vuskit.go("table", { ...filters, measure: run.measures[measure].name, settings: settings || undefined, ...options });
  };
  const plotRanks = charts.plot(byId("ranks"), "Critical differences", (name) => openTable({ sort: name }));
  const drawRanks = () => {
    const found = compared();
    const now = state();
    const measure = run.measures[now.measure];
    byId("ranks").hidden = Boolean(found.error);
    if (found.error) {
      byId("ranks-note").textContent = found.pending ? "Computing the tests…" : `No diagram: ${found.error}${found.error.endsWith(".") ? "" : "."}`;
      return;
    }
    const name = (d) => run.detectors[d];
    charts.ranks(plotRanks, found.detectors.map((d, k) => ({ name: name(d), title: name(d), color: "var(--ink)", rank: found.ranks[k] })), found.groups.map((group) => group.map(name)));
    byId("ranks-note").textContent = ranksNote(found, now, measure);
  };
  const drawVerdict = () => {
    const found = compared();
    const text = found.pending ? "Computing the tests…" : `No verdict: ${found.error}${found.error?.endsWith(".") ? "" : "."}`;
    byId("verdict").replaceChildren(...Object.entries(found.error ? { "": text } : found.verdict.sentences).map(([question, sentence]) =>
      element("p", {}, element("strong", { text: run.questions[question] ?? "" }), element("span", { text: sentence }))));
  };
  // ---- all pairs ----
  const matrixOf = (found, measure) => {
    const { means, cells } = found.matrix;
    const k = found.detectors.length;
    const full = Array.from({ length: k }, () => Array(k).fill(null));
    let at = 0;
    for (let row = 0; row < k; row++) for (let column = row + 1; column < k; column++) {
      const [difference, wins, ties, losses, p, significant] = cells[at++];
      full[row][column] = { difference, wins, ties, losses, p, significant: Boolean(significant) };
      full[column][row] = { ...full[row][column], difference: -difference, wins: losses, losses: wins };
    }
    return { items: found.detectors.map((d, j) => ({ title: run.detectors[d], mean: means[j] })), cells: full, higher_is_better: measure.higher };
  };
  const drawPairs = () => {
    const found = compared();
    const measure = run.measures[state().measure];
    byId("pairs").hidden = !found.matrix;
    byId("pairs-note").textContent = found.matrix
      ? `Row minus column: mean difference of ${measure.title} over ${found.n} series; wins, ties and losses of the row; adjusted p-value. Blue: in favor of the row, red: of the column. Bold: significant.`
      : found.error ? "No pairs: see above." : "Too many detectors for this page: see vuskit compare.";
    if (found.matrix) charts.matrix(byId("pairs"), matrixOf(found, measure), "All pairs");
  };

  // ---- means with intervals: the chosen measure, VUS-PR and VUS-ROC ----
  const forests = () => {
    const named = ["vus_pr", "vus_roc"].map((name) => run.measures.findIndex((one) => one.name === name));
    const places = [...new Set([state().measure, ...named])].filter((m) => m >= 0 && m < run.M);
    const panels = places.map((m) => ({ m, found: compared(m) })).filter(({ found }) => found.forest);
    const order = panels.length ? panels[0].found.forest.items.map(([d]) => d) : [];
    return panels.map(({ m, found }) => {
      const items = new Map(found.forest.items.map(([d, ...numbers]) => [d, numbers]));
      return { measure: run.measures[m], n: found.n, chance: found.forest.chance, items: [...new Set([...order, ...items.keys()])].map((d) => {
        const [value, lower, upper] = items.get(d) ?? [];
        return { name: run.detectors[d], title: run.detectors[d], color: vuskit.lineColor(d), value, lower, upper };
      }) };
    });
  };
  let forestPlots = { titles: "", draw: [] };
  const drawForest = () => {
    const panels = forests();
    const titles = panels.map(({ measure }) => benchmark.titled(measure));
    if (titles.join("\n") !== forestPlots.titles) {
      const made = titles.map((title) => {
        const holder = element("div");
        return { figure: element("figure", {}, element("h3", { text: title }), holder), draw: charts.plot(holder, title, (name) => openTable({ sort: name })) };
      });
      byId("forest").replaceChildren(...made.map(({ figure }) => figure));
      forestPlots = { titles: titles.join("\n"), draw: made.map(({ draw }) => draw) };
    }
    panels.forEach(({ items, chance }, k) => charts.forest(forestPlots.draw[k], items, { chance, title: "mean, 95% interval" }));
    byId("forest").hidden = !panels.length;
    const missing = panels.some(({ chance }) => chance === null);
    byId("forest-note").textContent = panels.length
      ? `Mean over ${panels[0].n} series of ${where(state())} and its 95% interval, by a bootstrap over the series. ${missing ? "" : "Dashed: random scores. "}Overlapping intervals say little about differences, because all detectors are tried on the same series: see all pairs.`
      : "No intervals: see the verdict.";
  };
  const where = (now) => now.dataset || (run.datasets.length > 1 ? "all data sets" : run.datasets[0]);
  const listed = (names) => names.length > 12 ? `${names.slice(0, 12).join(", ")} and ${names.length - 12} more` : names.join(", ");
  const ranksNote = (found, now, measure) => {
    const missing = run.detectors.filter((_, d) => !found.detectors.includes(d));
    const used = found.n === now.series.length ? "" : ` (${found.n} of ${now.series.length}: those with values of all detectors)`;
    return [`Mean ranks by ${measure.title}${measure.higher ? "" : " (lower is better)"} over ${found.n} series of ${where(now)}${used}; 1 is best. Bars join groups in which no pair differs significantly; a missing bar does not imply a difference.`,
      found.unjoined, found.tests, missing.length ? `Detectors without values are excluded: ${listed(missing)}.` : ""].filter(Boolean).join(" ");
  };

  // ---- heat map ----
  let grid = null;
  let cursor = null;
  // Always over the series that all detectors have, independent of the leaderboard's choices.
  const common = (now, series, summary) => run.M
    ? benchmark.summarize(run, { ...now, series, summary, basis: "common", weigh: "series" })
    : run.detectors.map(() => ({ value: NaN, n: 0 }));
  const makeGrid = () => {
    const now = state();
    const { higher } = run.measures[now.measure] ?? { higher: true };
    const bySeries = now.series.map((series) => {
      const values = run.detectors.map((_, d) => run.M ? run.value(now.settings, now.measure, d, series) : NaN);
      return { series, values, ranks: benchmark.ranks(values, higher) };
    });
    let columns = bySeries.map((one) => ({ name: run.title(one.series), ...one }));
    if (now.columns === "dataset") {
      columns = run.datasets.map((name, k) => {
        const own = now.series.filter((i) => run.series.dataset[i] === k);
        const [means, places] = ["mean", "rank"].map((summary) => common(now, own, summary));
        const n = Math.max(0, ...means.map((one) => one.n));
        return { name, dataset: name, n, size: own.length, values: means.map((one) => one.value), ranks: places.map((one) => one.value) };
      }).filter((one) => one.size);
    }
    const overall = common(now, now.series, "rank").map((one) => one.value);
    const rows = run.detectors.map((_, d) => d).sort((a, b) => vuskit.comparing(Number.isNaN(overall[a]) ? "" : overall[a], Number.isNaN(overall[b]) ? "" : overall[b]));
    return { now, columns, rows, worst: Math.max(run.D, 2) };
  };
  const drawHeat = () => {
    grid = makeGrid();
    const { columns, rows, worst } = grid;
    const canvas = byId("heat");
    const room = canvas.parentElement.clientWidth;
    const left = Math.min(150, room * 0.32);
    const cell = Math.max((room - left) / Math.max(columns.length, 1), 3);
    const named = cell >= 15;
    const short = (column) => column.series === undefined ? column.name : run.series.name[column.series];
    const { pen: ruler } = prepare(canvas);
    const longest = Math.max(0, ...(named ? columns.map((column) => ruler.measureText(short(column)).width) : []));
    const level = longest <= cell - 8; // horizontal names if they fit
    const foot = Math.min(longest, room < 600 ? 110 : 190);
    const bottom = named ? (level ? 20 : foot + 12) : 8;
    canvas.style.width = `${left + cell * columns.length}px`;
    const height = 24;
    const { pen } = sized(canvas, rows.length * height + bottom);
    Object.assign(grid, { left, cell, height });
    const names = fittedNames(pen, run.detectors, left - 8);
    rows.forEach((d, r) => {
      pen.fillStyle = color("ink");
      pen.textAlign = "right";
      pen.fillText(names[d], left - 6, r * height + 16);
      columns.forEach((column, c) => {
        const rank = column.ranks[d];
        const at = left + c * cell;
        if (Number.isNaN(rank)) {
          pen.strokeStyle = color("rule");
          stroke(pen, [at + 1, (r + 1) * height - 2], [at + Math.min(cell, 24) - 1, r * height + 2]);
          return;
        }
        const paint = heat((worst - rank) / (worst - 1));
        pen.fillStyle = paint;
        pen.fillRect(at, r * height, cell > 6 ? cell - 1 : cell + 0.3, height - 1);
        if (cell < 30) return;
        pen.fillStyle = vuskit.inkOn(paint);
        pen.textAlign = "center";
        pen.fillText(format(Number(rank.toFixed(1))), at + cell / 2, r * height + 16);
      });
    });
    if (level && named) columns.forEach((column, c) => {
      pen.fillStyle = color("quiet");
      pen.textAlign = "center";
      pen.fillText(short(column), left + (c + 0.5) * cell, rows.length * height + 15);
    });
    if (named && !level) columns.forEach((column, c) => {
      pen.save();
      pen.translate(left + (c + 0.5) * cell + 4, rows.length * height + 6);
      pen.rotate(-Math.PI / 2);
      pen.fillStyle = color("quiet");
      pen.textAlign = "right";
      pen.fillText(fitted(pen, short(column), foot), 0, 0);
      pen.restore();
    });
    if (cursor) {
      pen.strokeStyle = color("focus");
      pen.lineWidth = 3;
      pen.strokeRect(left + cursor[0] * cell, cursor[1] * height, Math.max(cell, 4), height);
    }
    drawScale();
    byId("heat-note").textContent = cursor ? cellText(...cursor).replaceAll("\n", "; ") : heatNote(grid.now, columns.length);
  };
  const heatNote = (now, count) => {
    const by = run.measures[now.measure]?.title ?? "no measure";
    const on = now.columns === "dataset" ? `mean ranks on ${count === 1 ? "1 data set" : `${count} data sets`}, ${now.series.length} series` : `ranks on ${now.series.length} series`;
    const among = now.columns === "dataset" ? "over the series on which all detectors have a value" : "among detectors with a value";
    return `Detectors by ${by}: ${on}, ${among}. A diagonal line marks a missing value. Click a cell to open the series.`;
  };
  const drawScale = () => {
    const { pen, width, height } = prepare(byId("heat-scale"));
    for (let i = 0; i < width; i++) { pen.fillStyle = heat(i / width); pen.fillRect(i, 0, 1.5, height); }
  };
  const cellText = (c, r) => {
    const [column, d] = [grid.columns[c], grid.rows[r]];
    const said = `${run.detectors[d]} on ${column.name}`;
    if (Number.isNaN(column.ranks[d])) return `${said}\nno value: ${column.series === undefined ? (column.n ? "none of its series" : "no series has values of all detectors") : run.outcome(d, column.series) || "not run yet"}`;
    const title = run.measures[grid.now.measure].title;
    return column.series === undefined
      ? `${said} (${column.n} of ${column.size} series)\nmean rank ${column.ranks[d].toFixed(2)}, mean ${title} ${shown(column.values[d])}`
      : `${said}\nrank ${format(column.ranks[d])}, ${title} ${shown(column.values[d])}`;
  };
  const cellAt = (px, py) => {
    const [c, r] = [Math.floor((px - grid.left) / grid.cell), Math.floor(py / grid.height)];
    return c >= 0 && c < grid.columns.length && r >= 0 && r < grid.rows.length ? [c, r] : null;
  };
  const openCell = ([c]) => {
    const column = grid.columns[c];
    if (column.series !== undefined) { window.location.hash = run.link(column.series); return; }
    openTable({ dataset: column.dataset });
  };
  vuskit.tip(byId("heat"), (px, py) => { const at = cellAt(px, py); return at && cellText(...at); });
  byId("heat").addEventListener("click", (event) => {
    const box = byId("heat").getBoundingClientRect();
    const at = cellAt(event.clientX - box.left, event.clientY - box.top);
    if (at) openCell(at);
  });
  byId("heat").addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Enter" && cursor) { openCell(cursor); return; }
    if (!(event.key in steps) || !grid.columns.length || !grid.rows.length) return;
    event.preventDefault();
    const [c, r] = cursor ?? [0, 0];
    const [right, down] = cursor ? steps[event.key] : [0, 0];
    cursor = [Math.min(Math.max(c + right, 0), grid.columns.length - 1), Math.min(Math.max(r + down, 0), grid.rows.length - 1)];
    drawHeat();
  });
  byId("heat").addEventListener("blur", () => { if (cursor) { cursor = null; drawHeat(); } });

  // ---- time against accuracy ----
  const timed = () => {
    const now = state();
    if (!run.M) return [];
    const values = benchmark.summarize(run, now);
    return run.detectors.map((name, d) => {
      const seconds = now.series.map((i) => run.second(d, i)).filter((value) => value > 0);
      return { name, d, seconds: benchmark.median(seconds), n: seconds.length, value: values[d].value, used: values[d].n };
    });
  };
  const used = (points) => {
    const counts = points.map((one) => one.used);
    const [least, most] = [Math.min(...counts), Math.max(...counts)];
    return `${least === most ? most : `${least} to ${most}`} series`;
  };
  let dots = [];
  const drawTime = () => {
    const now = state();
    const points = timed().filter((one) => one.seconds > 0 && !Number.isNaN(one.value));
    const canvas = byId("time");
    canvas.hidden = points.length === 0;
    dots = [];
    const rank = now.summary === "rank";
    const up = !rank && run.measures[now.measure]?.higher !== false; // the best are always at the top
    const title = `${rank ? "mean rank by" : now.summary} ${run.measures[now.measure]?.title ?? ""}`;
    byId("time-note").textContent = points.length
      ? `Median seconds of fitting and scoring over ${now.series.length} series of ${where(now)}, against ${title}${up ? "" : " (lower is better)"}, over ${used(points)}; fast and accurate detectors are at the top left. Jobs that include imports or compilation count only if there are no others.`
      : "No diagram: no times were measured. Imported scores have none.";
    if (!points.length) return;
    const { pen, width, height } = prepare(canvas);
    const box = { left: 52, right: width - 12, top: 10, bottom: height - 40 };
    const seconds = points.map((one) => one.seconds);
    const values = points.map((one) => one.value);
    const pad = (Math.max(...values) - Math.min(...values)) * 0.1 || 0.05;
    const [low, high] = [Math.min(...values) - pad, Math.max(...values) + pad];
    const x = vuskit.scale({ low: Math.min(...seconds) / 2, high: Math.max(...seconds) * 2, from: box.left, to: box.right, log: true });
    const y = vuskit.scale({ low, high, from: up ? box.bottom : box.top, to: up ? box.top : box.bottom });
    vuskit.axes(pen, box, { x, y, xTitle: "seconds per series", yTitle: title });
    dots = points.map((one) => ({ ...one, px: x(one.seconds), py: y(one.value) }));
    const taken = dots.map(({ px, py }) => [px - 6, py - 6, px + 6, py + 6]);
    for (const dot of dots) {
      pen.fillStyle = lineColor(dot.d);
      pen.beginPath();
      // Squares where colors repeat.
      if (vuskit.lineDash(dot.d).length) pen.rect(dot.px - 4.5, dot.py - 4.5, 9, 9); else pen.arc(dot.px, dot.py, 5, 0, 7);
      pen.fill();
    }
    pen.fillStyle = color("ink");
    pen.textAlign = "left";
    const names = fittedNames(pen, run.detectors, 150);
    for (const dot of dots) {
      const text = names[dot.d];
      const wide = pen.measureText(text).width;
      const places = [[9, 4], [-9 - wide, 4], [-wide / 2, -10], [-wide / 2, 18], [9, -8], [9, 16], [-9 - wide, -8], [-9 - wide, 16]];
      const boxes = places.map(([dx, dy]) => [dot.px + dx, dot.py + dy - 11, dot.px + dx + wide, dot.py + dy + 2]);
      const free = boxes.findIndex((one) => one[0] >= box.left && one[2] <= width && one[1] >= 0 && one[3] <= box.bottom
        && !taken.some((other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]));
      if (free < 0) continue; // only a tooltip
      taken.push(boxes[free]);
      pen.fillText(text, boxes[free][0], boxes[free][3] - 2);
    }
    canvas.setAttribute("aria-label", `Time against accuracy: ${dots.map((one) => `${one.name} ${format(one.seconds)} s, ${shown(one.value)}`).join("; ")}`);
  };
  vuskit.tip(byId("time"), (px, py) => {
    const near = dots.find((one) => Math.hypot(one.px - px, one.py - py) < 12);
    return near && `${near.name}\n${format(near.seconds)} s, ${shown(near.value)}`;
  });

  const head = (id) => byId(id).closest("section").querySelector(".head");
  charts.savable(byId("heat"), drawHeat, "Ranks", head("heat"));
  charts.savable(byId("time"), drawTime, "Time against accuracy", head("time"));

  return {
    draw: () => { drawVerdict(); drawForest(); drawRanks(); drawPairs(); drawHeat(); drawTime(); },
    copies: {
      ranks: () => {
        const found = compared();
        const now = state();
        return [["measure", "dataset", "detector", "mean_rank", "series"], ...(found.detectors ?? []).map((d, k) => [
          run.measures[now.measure].name, now.dataset, run.detectors[d], found.ranks[k], found.n])];
      },
      pairs: () => {
        const found = compared();
        return found.matrix ? charts.matrixRows(matrixOf(found, run.measures[state().measure])) : [["first", "second"]];
      },
      forest: () => [["measure", "detector", "mean", "lower", "upper", "chance", "series"], ...forests().flatMap(({ measure, items, chance, n }) =>
        items.map(({ name, value, lower, upper }) => [measure.name, name, value ?? "", lower ?? "", upper ?? "", chance ?? "", n]))],
      heat: () => {
        const { now, columns, rows } = makeGrid();
        return [[now.columns, "detector", "measure", "rank", "value", "n"], ...columns.flatMap((column) => rows.map((d) => [
          column.name, run.detectors[d], run.measures[now.measure]?.name ?? "", exact(column.ranks[d]), exact(column.values[d]), column.n ?? 1]))];
      },
      time: () => [["detector", "median_seconds", "series_timed", "measure", "value", "series"], ...timed().map((one) => [
        one.name, exact(one.seconds), one.n, run.measures[state().measure].name, exact(one.value), one.used])],
    },
  };
};

// ---- the leaderboard, and the filters that the figures follow ----
vuskit.view("run", (place, _, options) => {
  const run = benchmark.model();
  const { element } = vuskit;
  const byId = (id) => place.querySelector(`#${id}`);
  const filters = benchmark.makeFilters(place, run, "run");
  const fill = () => {
    benchmark.fillSelect(byId("family"), [["", "all"], ...Object.entries(run.families)], byId("family").value);
    byId("columns").parentElement.hidden = run.datasets.length < 2;
    weighing.show();
  };
  const weighing = benchmark.weighing(byId("weigh"), run, () => {});
  fill();
  byId("columns").value = run.S > 200 ? "dataset" : "series";
  // Best first: for ranks and some measures, that is the lowest.
  const bestFirst = (column) => {
    const measure = run.measures.find((one) => `measure ${one.name}` === column);
    return { column, falling: column !== "detector" && (!measure || (byId("summary").value !== "rank" && measure.higher)) };
  };
  let order = null;
  // The address contains all choices, so that links can share them.
  const CHOICES = { summary: "mean", basis: "common" };
  const take = (given) => {
    filters.take(given);
    for (const id of Object.keys(CHOICES)) if ([...byId(id).options].some((one) => one.value === given[id])) byId(id).value = given[id];
    weighing.take(given.weigh);
    byId("weigh").disabled = byId("dataset").value !== "";
    if (order === null || given.measure !== undefined) order = bestFirst(`measure ${byId("measure").value}`);
  };
  const remember = () => filters.remember({ weigh: weighing.address(), ...Object.fromEntries(
    Object.keys(CHOICES).filter((id) => byId(id).value !== CHOICES[id]).map((id) => [id, byId(id).value])) });
  take(options);

  const state = () => ({
    dataset: byId("dataset").value,
    filters: filters.chosen(),
    settings: filters.settings(),
    measure: filters.measure(),
    summary: byId("summary").value,
    basis: byId("basis").value,
    weigh: byId("dataset").value ? "series" : weighing.value(),
    series: filters.series(),
    columns: byId("columns").value,
  });
  // The chosen measure first: the figures show it, and it fits on the narrowest screen. Then those of the paper.
  const FIRST = ["vus_roc", "vus_pr"];
  const listedMeasures = () => run.measures.map((one, m) => ({ ...one, m }))
    .filter((one) => !byId("family").value || one.family === byId("family").value)
    .sort((one, other) => (other.m === state().measure) - (one.m === state().measure)
      || FIRST.indexOf(other.name) - FIRST.indexOf(one.name) || one.m - other.m);

  const boardRows = () => {
    const now = state();
    const columns = listedMeasures();
    const found = columns.map((one) => benchmark.summarize(run, { ...now, measure: one.m }));
    const rows = run.detectors.map((name, d) => {
      const own = now.series.filter((i) => run.measures.some((_, m) => !Number.isNaN(run.value(now.settings, m, d, i)))).length;
      return { d, name, own, cells: found.map((column) => column[d]) };
    });
    return { now, columns, rows };
  };
  const best = (cells, lowest) => {
    const there = cells.map((one) => one.value).filter((value) => !Number.isNaN(value));
    return new Set(there).size < 2 ? NaN : lowest ? Math.min(...there) : Math.max(...there);
  };
  const sorted = ({ columns, rows }) => {
    const key = (row) => {
      if (order.column === "detector") return row.name;
      if (order.column === "own") return row.own;
      const k = columns.findIndex((one) => `measure ${one.name}` === order.column);
      const value = k < 0 ? NaN : row.cells[k].value;
      return Number.isNaN(value) ? "" : value;
    };
    return [...rows].sort((one, other) => {
      const [a, b] = [key(one), key(other)];
      return a === "" || b === "" ? vuskit.comparing(a, b) : (order.falling ? -1 : 1) * vuskit.comparing(a, b);
    });
  };
  const drawBoard = () => {
    const board = boardRows();
    const { now, columns } = board;
    const header = (column, text) => {
      const current = order.column === column;
      const button = element("button", { type: "button", class: "sort", text, "data-column": column });
      button.addEventListener("click", () => {
        order = current ? { column, falling: !order.falling } : bestFirst(column);
        drawBoard();
        place.querySelector(`#board [data-column="${CSS.escape(column)}"]`).focus();
      });
      return element("th", { scope: "col", "aria-sort": current ? (order.falling ? "descending" : "ascending") : null }, button);
    };
    const winners = columns.map((one, k) => best(board.rows.map((row) => row.cells[k]), now.summary === "rank" || !one.higher));
    const head = element("tr", {}, header("detector", "detector"), header("own", "series"), ...columns.map((one) => header(`measure ${one.name}`, benchmark.titled(one))));
    const chosen = columns.findIndex((one) => `measure ${one.name}` === order.column);
    const body = sorted(board).map((row) => element("tr", { class: Number.isNaN(row.cells[chosen]?.value) ? "unplaced" : null },
      element("th", { scope: "row", text: row.name, title: row.name }),
      element("td", { text: `${row.own} of ${now.series.length}` }),
      ...row.cells.map((cell, k) => {
        const to = vuskit.address("table", { ...filters.shared, measure: columns[k].name, sort: row.name });
        const about = `${row.name}, ${columns[k].title}: ${benchmark.shown(cell.value)} over ${cell.n} series`;
        const link = element("a", { href: to, text: benchmark.shown(cell.value), title: about });
        return element("td", { class: cell.value === winners[k] ? "best" : null, style: bar(cell.value, columns[k]) }, link);
      })));
    const counts = columns.map((_, k) => {
      const numbers = board.rows.map((row) => row.cells[k].n).filter(Boolean);
      const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
      return numbers.length ? (least === most ? String(least) : `${least}-${most}`) : "0";
    });
    const foot = element("tr", {}, element("th", { scope: "row", text: "series used" }), element("td"), ...counts.map((text) => element("td", { text })));
    const first = bestFirst(order.column);
    byId("board").classList.toggle("placed", order.column.startsWith("measure ") && order.falling === first.falling);
    byId("board").replaceChildren(
      element("caption", {}, element("span", { text: caption(now, board) })),
      element("thead", {}, head), element("tbody", {}, ...body), element("tfoot", {}, foot));
    byId("board-note").textContent = note(now, columns);
  };
  // A bar behind the number, if values range from 0 to 1.
  const bar = (value, measure) => byId("summary").value === "rank" || !measure.higher || !(value >= 0 && value <= 1)
    ? null : `--share: ${(100 * value).toFixed(1)}%`;
  const caption = (now, { rows }) => {
    const what = byId("summary").selectedOptions[0].text;
    const over = now.dataset || (run.datasets.length > 1 ? "all data sets" : run.datasets[0] ?? "");
    const sets = Math.max(0, ...rows.flatMap((row) => row.cells.map((cell) => cell.sets)));
    const each = now.weigh === "dataset" ? `mean over ${sets} data ${sets === 1 ? "set" : "sets"} of the ${what} over the series of each` : `${what} over the series of ${over}`;
    return `${each[0].toUpperCase()}${each.slice(1)}; ${run.settings[now.settings] ?? ""}`;
  };
  const note = (now, columns) => {
    if (!run.detectors.length) return "No job has finished yet.";
    if (!run.measures.length) return "There are no values: no scores have been evaluated yet.";
    const basis = now.basis === "common" ? "Each number uses the series on which all detectors have a value of the measure; the last row counts them. Detectors without any value are ignored."
      : "Each number uses all series on which the detector has a value, so numbers may not be comparable.";
    return ["Bold: best in column.", columns.some((one) => !one.higher) ? "↓: lower is better." : "",
      `Missing values never count as zero. ${basis}`,
      now.summary === "rank" ? "Mean ranks use the series on which all detectors have a value of the measure; 1 is best." : "",
      now.weigh === "dataset" ? "Every data set has the same weight." : "",
      "Click a number to list its series."].filter(Boolean).join(" ");
  };
  // A running benchmark may have its first measures only now.
  const refresh = () => {
    filters.fill();
    fill();
    if (order.column.startsWith("measure ") && !run.measures.some((one) => `measure ${one.name}` === order.column)) order = bestFirst(`measure ${byId("measure").value}`);
  };
  const figures = benchmark.figures(place, run, state);
  const copyBoard = () => {
    const board = boardRows();
    return [["detector", "series_with_values", "summary", "over", "dataset", "measure", "value", "series"],
      ...sorted(board).flatMap((row) => row.cells.map((cell, k) => [
        row.name, row.own, board.now.summary, board.now.weigh, board.now.dataset, board.columns[k].name, run.exact(cell.value), cell.n]))];
  };
  byId("copy-verdict").addEventListener("click", async () => {
    await vuskit.copyText([...place.querySelectorAll("#verdict span")].map((one) => one.textContent).join(" "));
    vuskit.confirm(byId("copy-verdict"), "verdict copied");
  });
  vuskit.copies(place, { board: copyBoard, "board-table": () => vuskit.tableRows(byId("board")), ...figures.copies });
  const draw = () => { drawBoard(); figures.draw(); };
  byId("family").addEventListener("change", drawBoard);
  byId("columns").addEventListener("change", figures.draw);
  byId("filters").addEventListener("change", (event) => {
    if (event.target.id === "measure") order = bestFirst(`measure ${byId("measure").value}`);
    if (event.target.id === "summary") order = bestFirst(order.column);
    byId("weigh").disabled = byId("dataset").value !== "";
    remember();
    draw();
  });
  return { draw, show: (given) => { take(given); draw(); }, refresh };
});

// ---- the table of series, a page of rows at a time; the values of a series without drawings ----
vuskit.view("table", (place, _, options) => {
  const ROWS = 50;
  const run = benchmark.model();
  const { element } = vuskit;
  const byId = (id) => place.querySelector(`#${id}`);
  const filters = benchmark.makeFilters(place, run, "table");
  let order = { column: "series", falling: false };
  let first = 0;
  let lead = 0; // the requested detector comes first
  const detectors = () => [lead, ...run.detectors.keys()].filter((d, k) => k === 0 ? d < run.D : d !== lead);

  const { measure } = filters;
  const higher = () => run.measures[measure()]?.higher !== false;
  const rows = () => {
    const [settings, m, part] = [filters.settings(), measure(), byId("name").value.toLowerCase()];
    const found = filters.series().filter((i) => run.title(i).toLowerCase().includes(part))
      .map((i) => ({ i, values: run.detectors.map((__, d) => run.M ? run.value(settings, m, d, i) : NaN) }));
    const facts = { series: (row) => run.title(row.i), points: (row) => run.series.points[row.i], anomalies: (row) => run.series.anomalies[row.i] };
    const detector = run.detectors.findIndex((name) => `detector ${name}` === order.column);
    const key = facts[order.column] ?? ((row) => detector < 0 || Number.isNaN(row.values[detector]) ? "" : row.values[detector]);
    const keyed = found.map((row) => [key(row), row]);
    keyed.sort(([a], [b]) => a === "" || b === "" ? vuskit.comparing(a, b) : (order.falling ? -1 : 1) * vuskit.comparing(a, b));
    return keyed.map(([, row]) => row);
  };
  const header = (column, text) => {
    const current = order.column === column;
    const button = element("button", { type: "button", class: "sort", text, "data-column": column });
    button.addEventListener("click", () => {
      order = { column, falling: current ? !order.falling : column !== "series" && (!column.startsWith("detector ") || higher()) };
      first = 0;
      draw();
      place.querySelector(`#table [data-column="${CSS.escape(column)}"]`).focus();
    });
    return element("th", { scope: "col", class: vuskit.wrapping(text), "aria-sort": current ? (order.falling ? "descending" : "ascending") : null }, button);
  };
  const line = ({ i, values }) => {
    const there = values.filter((value) => !Number.isNaN(value));
    const top = higher() ? Math.max(...there) : Math.min(...there);
    return element("tr", {},
      element("th", { scope: "row" }, element("a", { href: run.link(i), text: run.title(i) })),
      element("td", { text: run.series.points[i].toLocaleString("en") }),
      element("td", { text: run.series.anomalies[i].toLocaleString("en") }),
      ...detectors().map((d) => element("td", {
        text: benchmark.shown(values[d]),
        class: values[d] === top && new Set(there).size > 1 ? "best" : null,
        title: Number.isNaN(values[d]) ? run.outcome(d, i) || "not run yet" : null,
      })));
  };
  const draw = () => {
    const all = rows();
    first = Math.min(first, Math.max(all.length - 1, 0));
    first -= first % ROWS;
    const last = Math.min(first + ROWS, all.length);
    byId("table").replaceChildren(
      element("caption", {}, element("span", { text: `${run.measures[measure()]?.title ?? "no measure"} of each detector on each series${higher() ? "" : "; lower is better"}` })),
      element("thead", {}, element("tr", {}, header("series", "series"), header("points", "points"), header("anomalies", "anomalies"),
        ...detectors().map((d) => header(`detector ${run.detectors[d]}`, run.detectors[d])))),
      element("tbody", {}, ...all.slice(first, last).map(line)));
    byId("rows").textContent = all.length ? `${(first + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${all.length.toLocaleString("en")}` : "none";
    byId("previous").disabled = first === 0;
    byId("next").disabled = last >= all.length;
  };
  const move = (step) => { first = Math.max(first + step * ROWS, 0); draw(); };
  byId("previous").addEventListener("click", () => move(-1));
  byId("next").addEventListener("click", () => move(1));
  const remember = () => filters.remember({ name: byId("name").value, sort: lead ? run.detectors[lead] : undefined });
  byId("name").addEventListener("input", () => { first = 0; remember(); draw(); });
  byId("filters").addEventListener("change", () => { first = 0; remember(); draw(); });
  vuskit.copies(place, {
    series: () => [["dataset", "series", "points", "anomalies", "measure", ...run.detectors], ...rows().map(({ i, values }) => [
      run.datasets[run.series.dataset[i]], run.series.name[i], run.series.points[i], run.series.anomalies[i],
      run.measures[measure()]?.name ?? "", ...values.map(run.exact)])],
  });
  const take = (given) => {
    filters.take(given);
    if (given.name !== undefined || given.sort !== undefined) byId("name").value = given.name ?? "";
    if (!run.detectors.includes(given.sort)) return;
    lead = run.detectors.indexOf(given.sort);
    order = { column: `detector ${given.sort}`, falling: higher() };
    first = 0;
  };
  take(options);
  return { draw, show: (given) => { take(given); draw(); }, refresh: filters.fill };
});

// ---- one series, by its name, whether the file contains its drawings or not ----
benchmark.valuesTable = (run, i) => {
  const { element } = vuskit;
  return [
    element("caption", {}, element("span", { text: `Measures of ${run.title(i)}` })),
    element("thead", {}, element("tr", {}, ...["measure", ...run.detectors].map((text) => element("th", { scope: "col", text, class: vuskit.wrapping(text) })))),
    element("tbody", {}, ...run.settings.flatMap((settings, s) => run.measures.map((one, m) => element("tr", {},
      element("th", { scope: "row", text: run.settings.length > 1 ? `${benchmark.titled(one)} (${settings})` : benchmark.titled(one) }),
      ...run.detectors.map((__, d) => {
        const value = run.value(s, m, d, i);
        return element("td", { text: benchmark.shown(value), "data-value": run.exact(value), title: Number.isNaN(value) ? run.outcome(d, i) || "not run yet" : null });
      }))))),
  ];
};
benchmark.facts = (run, i) => {
  const counted = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
  return [counted(run.series.points[i], "point", "points"), counted(run.series.anomalies[i], "anomaly", "anomalies"),
    counted(run.series.anomalous[i], "anomalous point", "anomalous points")].join(", ");
};

vuskit.view("series-values", (place, _, options) => {
  const run = benchmark.model();
  const byId = (id) => place.querySelector(`#${id}`);
  const show = (given) => {
    const i = run.place(given.name ?? "");
    for (const part of place.querySelectorAll("section")) part.hidden = i < 0;
    if (i < 0) {
      byId("name").textContent = given.name ?? "Series";
      byId("facts").textContent = "The run has no series of this name.";
      for (const id of ["why", "command"]) byId(id).textContent = "";
      return;
    }
    if (i in run.embedded) { window.location.replace(run.link(i)); return; }
    byId("name").textContent = run.title(i);
    byId("facts").textContent = benchmark.facts(run, i);
    const reason = run.not_drawn[i];
    byId("why").textContent = reason ? `This series cannot be drawn: ${reason}.` : "This file does not contain the drawings of this series. These commands show it in a browser, or write its page:";
    byId("command").textContent = reason ? "" : `${run.explore}\n${run.command(i)}`.trim();
    byId("values").replaceChildren(...benchmark.valuesTable(run, i));
  };
  const copied = () => vuskit.tableRows(byId("values"));
  vuskit.copies(place, { values: copied, "values-table": copied });
  show(options);
  return { show };
});
