"use strict";
/* Benchmark runs: what the views of a run share, and the leaderboard. The figures are in
   run_figures.js, the table of series in run_table.js; run_sections.py makes the data.          */
const benchmark = (() => {
  let found = null;
  // One run per page, read when a view asks for it first.
  const model = () => { found ??= read(vuskit.data("run")); return found; };
  const read = (data) => {
    const values = vuskit.floats(data.values);
    const seconds = vuskit.floats(data.seconds);
    const [M, D, S] = [data.measures.length, data.detectors.length, data.series.name.length];
    const value = (settings, measure, detector, series) => values[((settings * M + measure) * D + detector) * S + series];
    const outcome = (detector, series) => data.outcome_names[Number(data.outcomes[detector * S + series])];
    const title = (series) => `${data.datasets[data.series.dataset[series]]}/${data.series.name[series]}`;
    // Places of the series of a data set; all for "".
    const chosen = (dataset) => {
      const place = data.datasets.indexOf(dataset);
      const all = Array.from({ length: S }, (_, i) => i);
      return place < 0 ? all : all.filter((i) => data.series.dataset[i] === place);
    };
    const shell = (text) => /^[\w@%+=:,.\/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\"'\"'")}'`;
    return {
      ...data, D, S, M, value, outcome, title, chosen,
      second: (detector, series) => seconds[detector * S + series],
      command: (series) => `${data.command} ${shell(title(series))}`,
      link: (series) => series in data.embedded ? vuskit.address(data.embedded[series]) : vuskit.address("lean", { series }),
    };
  };

  const mean = (numbers) => numbers.length ? numbers.reduce((sum, one) => sum + one, 0) / numbers.length : NaN;
  const median = (numbers) => {
    if (!numbers.length) return NaN;
    const sorted = [...numbers].sort((one, other) => one - other);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  };
  // Ranks from 1, the best first, ties share their mean; NaN has none.
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
  /* One number per detector for a measure: {value, n} each, n the series it rests on. A mean rank
     only makes sense over series that all detectors have; those without any value do not count. */
  const summarise = (run, { settings, measure, series, summary, basis }) => {
    const rows = Array.from({ length: run.D }, (_, d) => series.map((i) => run.value(settings, measure, d, i)));
    const present = rows.filter((row) => row.some((value) => !Number.isNaN(value)));
    const shared = series.map((_, k) => present.every((row) => !Number.isNaN(row[k])));
    const common = basis === "common" || summary === "rank";
    const reduced = summary === "rank" ? rankRows(rows, shared, run.measures[measure].higher) : rows;
    return reduced.map((row) => {
      const used = row.filter((value, k) => !Number.isNaN(value) && (!common || shared[k]));
      return { value: summary === "median" ? median(used) : mean(used), n: used.length };
    });
  };
  const rankRows = (rows, shared, higher) => {
    const ranked = rows.map((row) => row.map(() => NaN));
    shared.forEach((all, k) => {
      if (all) ranks(rows.map((row) => row[k]), higher).forEach((rank, d) => { ranked[d][k] = rank; });
    });
    return ranked;
  };

  const fillSelect = (select, entries, value) => {
    select.replaceChildren(...entries.map(([key, text]) => new Option(text, key)));
    if (entries.some(([key]) => key === value)) select.value = value;
  };
  const fillFilters = (place, run, options) => {
    const byId = (id) => place.querySelector(`#${id}`);
    fillSelect(byId("dataset"), [["", `all (${run.S})`], ...run.datasets.map((name) => [name, `${name} (${run.chosen(name).length})`])], options.dataset ?? "");
    fillSelect(byId("measure"), run.measures.map((one) => [one.name, one.title]), options.measure ?? run.favourite);
    fillSelect(byId("settings"), run.settings.map((text, i) => [String(i), text]), options.settings ?? "0");
    byId("settings-label").hidden = run.settings.length < 2;
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
  };
  const shown = (value) => Number.isNaN(value) ? "-" : value.toFixed(3);
  const exact = (value) => Number.isNaN(value) ? "" : String(Number(value.toPrecision(7)));
  return { model, ranks, mean, median, summarise, fillSelect, fillFilters, shown, exact };
})();

vuskit.view("run", (place, _, options) => {
  const run = benchmark.model();
  const { element } = vuskit;
  const byId = (id) => place.querySelector(`#${id}`);
  benchmark.fillFilters(place, run, options);
  benchmark.fillSelect(byId("family"), [["", "all"], ...Object.entries(run.families)], "");
  byId("columns").value = run.S > 200 ? "dataset" : "series";
  if (run.datasets.length < 2) byId("columns").parentElement.hidden = true;
  // The best first: of ranks, and of some measures, that is the lowest.
  const bestFirst = (column) => {
    const measure = run.measures.find((one) => `measure ${one.name}` === column);
    return { column, falling: column !== "detector" && (!measure || (byId("summary").value !== "rank" && measure.higher)) };
  };
  let order = bestFirst(`measure ${byId("measure").value}`);

  const state = () => ({
    dataset: byId("dataset").value,
    settings: Number(byId("settings").value || 0),
    measure: Math.max(run.measures.findIndex((one) => one.name === byId("measure").value), 0),
    summary: byId("summary").value,
    basis: byId("basis").value,
    series: run.chosen(byId("dataset").value),
    columns: byId("columns").value,
  });
  // The chosen measure first: it is what the figures show, and the narrowest screen has it.
  const listedMeasures = () => run.measures.map((one, m) => ({ ...one, m }))
    .filter((one) => !byId("family").value || one.family === byId("family").value)
    .sort((one, other) => (other.m === state().measure) - (one.m === state().measure) || one.m - other.m);

  const boardRows = () => {
    const now = state();
    const columns = listedMeasures();
    const found = columns.map((one) => benchmark.summarise(run, { ...now, measure: one.m }));
    const rows = run.detectors.map((name, d) => {
      const own = now.series.filter((i) => run.measures.some((_, m) => !Number.isNaN(run.value(now.settings, m, d, i)))).length;
      return { d, name, own, cells: found.map((column) => column[d]) };
    });
    return { now, columns, rows };
  };
  const best = (cells, lowest) => {
    const there = cells.map((one) => one.value).filter((value) => !Number.isNaN(value));
    return there.length < 2 ? NaN : lowest ? Math.min(...there) : Math.max(...there);
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
    const head = element("tr", {}, header("detector", "detector"), header("own", "series"), ...columns.map((one) => header(`measure ${one.name}`, one.title)));
    const body = sorted(board).map((row) => element("tr", {},
      element("th", { scope: "row", text: row.name }),
      element("td", { text: `${row.own} of ${now.series.length}` }),
      ...row.cells.map((cell, k) => {
        const to = vuskit.address("table", { measure: columns[k].name, dataset: now.dataset, sort: row.name, settings: now.settings || undefined });
        const about = `${row.name}, ${columns[k].title}: ${benchmark.shown(cell.value)} over ${cell.n} series`;
        const link = element("a", { href: to, text: benchmark.shown(cell.value), title: about });
        return element("td", { class: cell.value === winners[k] ? "best" : null }, link);
      })));
    const counts = columns.map((_, k) => {
      const numbers = board.rows.map((row) => row.cells[k].n).filter(Boolean);
      const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
      return numbers.length ? (least === most ? String(least) : `${least}-${most}`) : "0";
    });
    const foot = element("tr", {}, element("th", { scope: "row", text: "series used" }), element("td"), ...counts.map((text) => element("td", { text })));
    byId("board").replaceChildren(
      element("caption", { text: `${byId("summary").selectedOptions[0].text} over ${now.dataset || "all data sets"}, ${run.settings[now.settings] ?? ""}` }),
      element("thead", {}, head), element("tbody", {}, ...body), element("tfoot", {}, foot));
    const rank = now.summary === "rank" ? " Mean ranks are always taken over the series that all detectors have; 1 is best." : "";
    byId("board-note").textContent = `Bold: the best. A detector without a value on a series is never counted as zero: ${now.basis === "common"
      ? "numbers rest on the series for which every detector has a value" : "each number rests on the series that the detector has a value for, so they may not be comparable"}.${rank} A number leads to its series.`;
    if (!run.detectors.length) byId("board-note").textContent = "There is nothing yet: no job has ended.";
    else if (!run.measures.length) byId("board-note").textContent = "There are no values: no job has been evaluated.";
  };
  const figures = benchmark.figures(place, run, state);
  const copyBoard = () => {
    const board = boardRows();
    return [["detector", "series_with_values", "summary", "dataset", "measure", "value", "series"],
      ...sorted(board).flatMap((row) => row.cells.map((cell, k) => [
        row.name, row.own, board.now.summary, board.now.dataset, board.columns[k].name, benchmark.exact(cell.value), cell.n]))];
  };
  vuskit.copies(place, { board: copyBoard, ...figures.copies });
  const draw = () => { drawBoard(); figures.draw(); };
  byId("family").addEventListener("change", drawBoard);
  byId("columns").addEventListener("change", figures.draw);
  byId("filters").addEventListener("change", (event) => {
    if (event.target.id === "measure") order = bestFirst(`measure ${byId("measure").value}`);
    if (event.target.id === "summary") order = bestFirst(order.column);
    draw();
  });
  return { draw };
});

vuskit.view("failures", (place, data) => {
  vuskit.sortable(place.querySelector("#counts"));
  vuskit.copies(place, {
    counts: () => vuskit.tableRows(place.querySelector("#counts")),
    failures: () => [["status", "job", "message", "command"], ...data],
  });
});
