"use strict";
/* The views of the scenarios, the summary of the studies, and the execution-time study. */
(() => {
  const { element } = vuskit;
  const charts = studyCharts;
  const { exact, short, known } = charts;
  const { choice, study, fillTable, plainTable, tableCsv, csvValue, byName, options } = studies;
  const DASHES = ["", "7 4", "2 3", "7 3 2 3"];

  // ---- scenarios ----
  vuskit.view("study-scenarios", (place, data) => {
    const find = (id) => place.querySelector(`#${id}`);
    const slider = find("scenario");
    slider.max = String(data.scenarios.length - 1);
    const exactPlace = data.scenarios.findIndex(({ name }) => name === data.exact);
    slider.value = String(Math.max(data.scenarios.findIndex(({ name }) => name === data.touching) - 1, 0));
    const first = Math.min(...data.scenarios.map(({ start }) => start), -data.buffer / 2);
    const last = Math.max(...data.scenarios.map(({ stop }) => stop), data.length + data.buffer / 2);
    const turns = {};
    const dashes = data.measures.map(({ family }) => DASHES[(turns[family] = (turns[family] ?? -1) + 1) % DASHES.length]);
    const drawWalk = (draw, scenario) => draw(128, (canvas) => {
      const x = vuskit.scale({ low: first, high: last, from: 8, to: canvas.width - 8 });
      const half = data.buffer / 2;
      const strip = (from, to, top, height, kind, words) => canvas.mark(
        canvas.shape("rect", { x: x(from), y: top, width: Math.max(x(to) - x(from), 1), height, class: kind }), words);
      const middle = (from, to) => Math.min(Math.max((x(from) + x(to)) / 2, 70), canvas.width - 70);
      strip(-half, data.length + half, 22, 34, "buffer", `the buffer gives ${half} points to each side of the anomaly`);
      strip(0, data.length, 22, 34, "anomaly", `anomaly: points 0 to ${data.length - 1}`);
      strip(scenario.start, scenario.stop, 64, 26, "prediction", `prediction: points ${scenario.start} to ${scenario.stop - 1}`);
      canvas.text(middle(0, data.length), 15, `anomaly, ${data.length} points`, { "text-anchor": "middle" });
      canvas.text(middle(scenario.start, scenario.stop), 104, `prediction: ${scenario.title}`, { "text-anchor": "middle", class: "lit" });
      for (const tick of x.ticks(canvas.width < 500 ? 4 : 8)) canvas.text(x(tick), 124, String(tick), { "text-anchor": "middle" });
    });
    const view = study(place, data, ({ items, plots }) => {
      const k = Number(slider.value);
      const scenario = data.scenarios[k];
      find("scenario-name").textContent = `${scenario.name}: ${scenario.title}`;
      drawWalk(plots(find("walk"), ["Anomaly and prediction"])[0], scenario);
      charts.bars(plots(find("walk-bars"), ["Values in the scenario"])[0], items.map((item) => ({
        ...item, value: data.values[k][item.k], text: `${scenario.name}, ${scenario.title}: ${exact(data.values[k][item.k])}`,
      })), { high: 1 });
      const upright = [{ at: 0, kind: "touchline" }];
      if (k <= exactPlace) upright.push({ at: scenario.stop, kind: "chosen" });
      charts.lines(plots(find("sweep"), ["Values by the end of the prediction"])[0], items.map((item) => ({
        ...item, dash: dashes[item.k], points: data.positions.map((at, j) => [at, data.sweep[j][item.k]]),
      })), { height: 340, x: { title: "end of the prediction, from the start of the anomaly", at: scenario.stop }, y: { title: "value", range: [0, 1] }, upright, marks: false });
      const touch = byName(data.touch);
      const columns = data.touch.columns.slice(1);
      fillTable(find("touch"), "Where the prediction comes to touch the anomaly", [{ title: "measure" }, ...columns.map((name) => ({ title: name.replace("_", " ") }))],
        items.map((item) => ({ title: item.title, name: item.name, cells: columns.map((name) => ({ value: touch.get(item.name)[name] })) })));
      fillTable(find("values"), "Value of each measure in each scenario", [{ title: "scenario" }, ...items.map(({ title, name }) => ({ title, name }))],
        data.scenarios.map(({ name, title }, j) => ({ title: `${name} ${title}`, cells: items.map((item) => {
          const value = data.values[j][item.k];
          return known(value) ? { value, text: value.toFixed(2), share: value } : { value: null };
        }) })), { sort: false });
    });
    slider.addEventListener("input", () => view.draw());
    const names = data.measures.map(({ name }) => name);
    const all = () => [["scenario", "prediction", "start", "stop", ...names], ...data.scenarios.map(({ name, title, start, stop }, j) => [name, title, start, stop, ...data.values[j].map(csvValue)])];
    vuskit.copies(place, {
      walk: () => { const rows = all(); return [rows[0], rows[Number(slider.value) + 1]]; },
      sweep: () => [["end", ...names], ...data.positions.map((at, j) => [at, ...data.sweep[j].map(csvValue)])],
      touch: () => tableCsv(data.touch),
      values: all,
    });
    return view;
  });

  // ---- summary ----
  vuskit.view("study-summary", (place, data) => {
    const find = (id) => place.querySelector(`#${id}`);
    const [ranks, scores, scatter] = [data.ranks, data.scores, data.scatter].map((table) => byName(table));
    const columns = data.ranks.columns.slice(1);
    const view = study(place, data, ({ items, plots }) => {
      const named = new Map(items.map((item) => [item.name, item]));
      const order = [...ranks.keys()].filter((name) => named.has(name));
      fillTable(find("summary"), "Rank of each measure in each study; light is good", [{ title: "measure" }, ...columns.map((title) => ({ title }))],
        order.map((name) => ({ title: named.get(name).title, name, cells: columns.map((column) => {
          const value = ranks.get(name)[column];
          return { value, share: known(value) ? 1 - (value - 1) / Math.max(ranks.size - 1, 1) : undefined };
        }) })));
      charts.scatter(plots(find("scatter"), ["Robustness against separability"])[0], items.map((item) => {
        const { deviation, z, ratio } = scatter.get(item.name);
        return { ...item, x: deviation, y: z, size: ratio, text: `${item.title}\nstandard deviation under lag and noise ${exact(deviation)}\nz ${exact(z)}\nstandard deviation under ratio ${exact(ratio)}` };
      }), { xTitle: "mean standard deviation under lag and noise", yTitle: "z" });
      const behind = data.scores.columns.slice(1);
      fillTable(find("scores"), "Low is good, except for separability", [{ title: "measure" }, ...behind.map((title) => ({ title }))],
        items.map((item) => ({ title: item.title, name: item.name, cells: behind.map((name) => ({ value: scores.get(item.name)[name] })) })));
    });
    vuskit.copies(place, { summary: () => tableCsv(data.ranks), scatter: () => tableCsv(data.scatter), scores: () => tableCsv(data.scores) });
    return view;
  });

  // ---- execution time ----
  vuskit.view("study-timing", (place, data) => {
    const find = (id) => place.querySelector(`#${id}`);
    const quantity = find("panels-quantity");
    const chosen = new Set();
    const legend = place.querySelector(".legend");
    options(quantity, data.quantities);
    const colourOf = ({ colour }) => colour === "#000000" ? "var(--ink)" : colour;
    const titles = new Map(data.contestants.map((one) => [one.name, one]));
    const choose = (name) => { if (!chosen.delete(name)) chosen.add(name); draw(); };
    const figures = data.panels.map((panel) => {
      const holder = element("div");
      return { panel, figure: element("figure", {}, element("h3", { text: panel.title }), holder), plot: charts.plot(holder, panel.title, choose) };
    });
    find("panels").replaceChildren(...figures.map(({ figure }) => figure));
    const draw = () => {
      const focused = [...legend.querySelectorAll("button")].indexOf(document.activeElement);
      legend.replaceChildren(element("div", { class: "choices", role: "group", "aria-label": "Algorithms highlighted" },
        element("span", { class: "quiet", text: "highlight" }),
        ...data.contestants.map((one) => choice(one.title, colourOf(one), chosen.has(one.name), () => choose(one.name), one.dash))));
      if (focused >= 0) legend.querySelectorAll("button")[focused].focus();
      const name = data.quantities[quantity.value];
      const { lit, faint } = charts;
      [charts.lit, charts.faint] = [(one) => chosen.has(one), (one) => chosen.size > 0 && !chosen.has(one)];
      for (const { panel, plot } of figures) {
        charts.lines(plot, panel.curves.map((curve) => {
          const [middle, low, high] = curve[name];
          return {
            name: curve.name, title: titles.get(curve.name).title, colour: colourOf(titles.get(curve.name)), dash: titles.get(curve.name).dash,
            points: curve.x.map((at, k) => [at, middle[k]]), shade: curve.x.map((at, k) => [at, low[k], high[k]]),
            dots: curve.dots?.x.map((at, k) => [at, curve.dots[name][k]]),
          };
        }), { height: 300, x: { kind: panel.scale, title: panel.title }, y: { kind: "log", title: name } });
      }
      [charts.lit, charts.faint] = [lit, faint];
    };
    quantity.addEventListener("change", draw);
    for (const [title, table] of Object.entries(data.tables)) {
      const holder = element("div");
      const key = `table ${title}`;
      find("tables").append(element("section", {}, element("div", { class: "head" }, element("h2", { text: title }),
        element("button", { type: "button", "data-copy": key, text: "Copy csv" })), holder));
      if (table.rows.length) plainTable(holder, table.caption, table); else holder.append(element("p", { text: "Too few cells." }));
    }
    const { columns, rows } = data.summary;
    const label = (row) => [row[columns.indexOf("contestant")], ...row.filter((_, k) => columns[k] !== "contestant")];
    plainTable(find("cells"), "Median, quartiles and extremes of the seconds of each cell", { columns: label(columns), rows: rows.map(label) });
    if (data.dropped.length) find("dropped").append(element("h2", { text: "Left out: more than the budget allowed" }), element("ul", {}, ...data.dropped.map((text) => element("li", { text }))));
    find("machine").append(element("dl", {}, ...data.environment.flatMap(([name, text]) => [element("dt", { text: name }), element("dd", { text })])));
    vuskit.copies(place, {
      panels: () => tableCsv(data.summary),
      cells: () => tableCsv(data.summary),
      ...Object.fromEntries(Object.entries(data.tables).map(([title, table]) => [`table ${title}`, () => tableCsv(table)])),
    });
    return { draw };
  });
})();
