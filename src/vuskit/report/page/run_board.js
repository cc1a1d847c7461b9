"use strict";
/* The leaderboard of a run, and the filters that its figures follow. */
vuskit.view("run", (place, _, options) => {
  const run = benchmark.model();
  const { element } = vuskit;
  const byId = (id) => place.querySelector(`#${id}`);
  benchmark.fillFilters(place, run, options);
  benchmark.fillSelect(byId("family"), [["", "all"], ...Object.entries(run.families)], "");
  byId("columns").value = run.S > 200 ? "dataset" : "series";
  if (run.datasets.length < 2) for (const id of ["columns", "weigh"]) byId(id).parentElement.hidden = true;
  // The best first: of ranks, and of some measures, that is the lowest.
  const bestFirst = (column) => {
    const measure = run.measures.find((one) => `measure ${one.name}` === column);
    return { column, falling: column !== "detector" && (!measure || (byId("summary").value !== "rank" && measure.higher)) };
  };
  let order = null;
  // What was chosen is in the address, so that a link to the page can show it.
  const CHOICES = ["dataset", "measure", "settings", "summary", "weigh", "basis"];
  const take = (given) => {
    for (const id of CHOICES) if ([...byId(id).options].some((one) => one.value === given[id])) byId(id).value = given[id];
    if (given.dataset === undefined && Object.keys(given).length) byId("dataset").value = "";
    byId("weigh").disabled = byId("dataset").value !== "";
    if (order === null || given.measure !== undefined) order = bestFirst(`measure ${byId("measure").value}`);
  };
  const remember = () => {
    const usual = { dataset: "", measure: run.favourite, settings: "0", summary: "mean", weigh: "series", basis: "common" };
    const changed = CHOICES.filter((id) => byId(id).value !== usual[id]).map((id) => [id, byId(id).value]);
    window.history.replaceState(null, "", vuskit.address("run", Object.fromEntries(changed)));
  };
  take(options);

  const state = () => ({
    dataset: byId("dataset").value,
    settings: Number(byId("settings").value || 0),
    measure: Math.max(run.measures.findIndex((one) => one.name === byId("measure").value), 0),
    summary: byId("summary").value,
    basis: byId("basis").value,
    weigh: byId("dataset").value ? "series" : byId("weigh").value,
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
        const to = vuskit.address("table", { measure: columns[k].name, dataset: now.dataset, sort: row.name, settings: now.settings || undefined });
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
      element("caption", {}, element("span", { text: caption(now) })),
      element("thead", {}, head), element("tbody", {}, ...body), element("tfoot", {}, foot));
    byId("board-note").textContent = note(now, columns);
  };
  // A bar behind the number, where numbers are shares.
  const bar = (value, measure) => byId("summary").value === "rank" || !measure.higher || !(value >= 0 && value <= 1)
    ? null : `--share: ${(100 * value).toFixed(1)}%`;
  const caption = (now) => {
    const what = byId("summary").selectedOptions[0].text;
    const over = now.dataset || (run.datasets.length > 1 ? "all data sets" : run.datasets[0] ?? "");
    const each = now.weigh === "dataset" ? `mean over ${run.datasets.length} data sets, of the ${what} over the series of each` : `${what} over the series of ${over}`;
    return `${each}; ${run.settings[now.settings] ?? ""}`;
  };
  const note = (now, columns) => {
    if (!run.detectors.length) return "There is nothing yet: no job has ended.";
    if (!run.measures.length) return "There are no values: no job has been evaluated.";
    const basis = now.basis === "common" ? "numbers rest on the series for which every detector has a value"
      : "each number rests on the series that the detector has a value for, so they may not be comparable";
    return ["Bold: the best.", columns.some((one) => !one.higher) ? "↓: lower is better." : "",
      `A detector without a value on a series is never counted as zero: ${basis}.`,
      now.summary === "rank" ? "Mean ranks are always taken over the series that all detectors have; 1 is best." : "",
      now.weigh === "dataset" ? "Every data set counts the same, however many series it has." : "",
      "A number leads to its series."].filter(Boolean).join(" ");
  };
  const figures = benchmark.figures(place, run, state);
  const copyBoard = () => {
    const board = boardRows();
    return [["detector", "series_with_values", "summary", "over", "dataset", "measure", "value", "series"],
      ...sorted(board).flatMap((row) => row.cells.map((cell, k) => [
        row.name, row.own, board.now.summary, board.now.weigh, board.now.dataset, board.columns[k].name, run.exact(cell.value), cell.n]))];
  };
  vuskit.copies(place, { board: copyBoard, ...figures.copies });
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
  return { draw, show: (given) => { take(given); draw(); } };
});

