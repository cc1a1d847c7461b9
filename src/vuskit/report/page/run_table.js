"use strict";
/* The table of series of a run, a page of rows at a time, and what is known of a series whose
   drawings are not in the file.                                                                 */
vuskit.view("table", (place, _, options) => {
  const ROWS = 50;
  const run = benchmark.model();
  const { element } = vuskit;
  const byId = (id) => place.querySelector(`#${id}`);
  benchmark.fillFilters(place, run, options);
  let order = { column: "series", falling: false };
  let first = 0;
  let lead = 0; // the detector that was asked for stands first
  const detectors = () => [lead, ...run.detectors.keys()].filter((d, k) => k === 0 ? d < run.D : d !== lead);

  const measure = () => Math.max(run.measures.findIndex((one) => one.name === byId("measure").value), 0);
  const higher = () => run.measures[measure()]?.higher !== false;
  const rows = () => {
    const [settings, m, part] = [Number(byId("settings").value || 0), measure(), byId("name").value.toLowerCase()];
    const found = run.chosen(byId("dataset").value).filter((i) => run.title(i).toLowerCase().includes(part))
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
  byId("name").addEventListener("input", () => { first = 0; draw(); });
  byId("filters").addEventListener("change", () => { first = 0; draw(); });
  vuskit.copies(place, {
    series: () => [["dataset", "series", "points", "anomalies", "measure", ...run.detectors], ...rows().map(({ i, values }) => [
      run.datasets[run.series.dataset[i]], run.series.name[i], run.series.points[i], run.series.anomalies[i],
      run.measures[measure()]?.name ?? "", ...values.map(run.exact)])],
  });
  const take = (given) => {
    if (given.measure !== undefined) byId("measure").value = given.measure;
    if (given.measure !== undefined || given.dataset !== undefined) byId("dataset").value = given.dataset ?? "";
    if (given.settings !== undefined) byId("settings").value = given.settings;
    if (!run.detectors.includes(given.sort)) return;
    lead = run.detectors.indexOf(given.sort);
    order = { column: `detector ${given.sort}`, falling: higher() };
    first = 0;
  };
  take(options);
  return { draw, show: (given) => { take(given); draw(); } };
});

vuskit.view("lean", (place, _, options) => {
  const run = benchmark.model();
  const { element } = vuskit;
  const byId = (id) => place.querySelector(`#${id}`);
  const show = (given) => {
    const i = Math.min(Math.max(Number.parseInt(given.series, 10) || 0, 0), run.S - 1);
    if (i < 0) return;
    byId("name").textContent = run.title(i);
    byId("facts").textContent = `${run.series.points[i].toLocaleString("en")} points, ${run.series.anomalies[i].toLocaleString("en")} anomalies`;
    const reason = run.not_drawn[i];
    byId("why").textContent = reason ? `It cannot be drawn: ${reason}.` : "Its drawings are not in this file. This command makes a page that has them:";
    byId("command").textContent = reason ? "" : run.command(i);
    byId("values").replaceChildren(
      element("caption", {}, element("span", { text: `Measures of ${run.title(i)}` })),
      element("thead", {}, element("tr", {}, ...["measure", ...run.detectors].map((text) => element("th", { scope: "col", text, class: vuskit.wrapping(text) })))),
      element("tbody", {}, ...run.settings.flatMap((settings, s) => run.measures.map((one, m) => element("tr", {},
        element("th", { scope: "row", text: run.settings.length > 1 ? `${benchmark.titled(one)} (${settings})` : benchmark.titled(one) }),
        ...run.detectors.map((__, d) => {
          const value = run.value(s, m, d, i);
          return element("td", { text: benchmark.shown(value), "data-value": run.exact(value), title: Number.isNaN(value) ? run.outcome(d, i) || "not run yet" : null });
        }))))));
  };
  vuskit.copies(place, { values: () => vuskit.tableRows(byId("values")) });
  show(options);
  return { show };
});
