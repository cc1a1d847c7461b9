"use strict";
/* The views of the studies. Chosen measures and hidden families are the same on the whole page.
   Markup and data: studies.py.                                                                   */
const studies = (() => {
  const { element } = vuskit;
  const { short } = charts;

  // ---- what is chosen, on the whole page ----
  const lit = new Set();
  const hidden = new Set();
  charts.lit = (name) => lit.has(name);
  charts.faint = (name) => lit.size > 0 && !lit.has(name);
  const toggle = (set, name) => { if (!set.delete(name)) set.add(name); };

  const swatch = (color, dash) => charts.svg("svg", { width: 18, height: 12, "aria-hidden": "true" }, dash === undefined
    ? charts.svg("rect", { x: 1, y: 1, width: 16, height: 10, fill: color, class: "bar" })
    : charts.svg("path", { d: "M0 6H18", stroke: color, "stroke-width": 3, "stroke-dasharray": dash || null }));
  const choice = (title, color, pressed, click, dash) => {
    const button = element("button", { type: "button", class: "choice", onclick: click }, swatch(color, dash), element("span", { text: title }));
    button.setAttribute("aria-pressed", String(pressed));
    return button;
  };

  // What every view of measures starts with: their items in order, and the legend above the figures.
  const study = (place, data, render) => {
    const color = (measure) => data.families[measure.family].color;
    const items = data.measures.map((measure, k) => ({ ...measure, k, color: color(measure) }));
    const choose = (name) => { toggle(lit, name); redraw(); };
    const shown = () => items.filter(({ family }) => !hidden.has(family));
    const legend = place.querySelector(".legend");
    const drawLegend = () => {
      const families = Object.entries(data.families).map(([name, { title, color: own }]) =>
        choice(title, own, !hidden.has(name), () => {
          toggle(hidden, name);
          if (!shown().length) toggle(hidden, name); // something stays to be seen
          redraw();
        }));
      const measures = shown().map((item) => choice(item.title, item.color, lit.has(item.name), () => choose(item.name)));
      const clear = element("button", { type: "button", text: "show all", onclick: () => { lit.clear(); hidden.clear(); redraw(); } });
      clear.disabled = !lit.size && !hidden.size;
      const focused = [...legend.querySelectorAll("button")].indexOf(document.activeElement);
      legend.replaceChildren(
        element("div", { class: "choices", role: "group", "aria-label": "Families shown" }, element("span", { text: "families", class: "quiet" }), ...families),
        element("div", { class: "choices", role: "group", "aria-label": "Measures highlighted" }, element("span", { text: "highlight", class: "quiet" }), ...measures, clear),
      );
      if (focused >= 0) legend.querySelectorAll("button")[Math.min(focused, legend.querySelectorAll("button").length - 1)].focus();
    };
    const redraw = () => { drawLegend(); render({ items: shown(), choose, plots }); };
    // Plots are made once for each place and kept, so that focus stays where it was.
    const made = new Map();
    const plots = (holder, labels) => {
      if (made.get(holder)?.labels.join() !== labels.join()) {
        const figures = labels.map((label) => {
          const place = element("div");
          const title = element("h3", { text: label });
          return { figure: element("figure", {}, ...(labels.length > 1 ? [title] : []), place), draw: charts.plot(place, label, choose) };
        });
        holder.replaceChildren(...figures.map(({ figure }) => figure));
        made.set(holder, { labels, figures });
      }
      return made.get(holder).figures.map(({ draw }) => draw);
    };
    return { draw: redraw };
  };

  // ---- tables ----
  const cellText = (value) => value === null ? "-" : typeof value === "number" ? short(value) : String(value);
  const csvValue = (value) => value === null || Number.isNaN(value) ? "" : value;
  const inkOn = (background) => {
    const [r, g, b] = background.match(/\d+/g).map((part) => part / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
  };
  // rows: [{title, name, cells: [{value, text, share}]}]; a share paints its cell.
  const fillTable = (holder, caption, columns, rows, { sort = true } = {}) => {
    const words = (column) => column > 0 && rows.length && rows.every(({ cells }) => typeof cells[column - 1]?.value === "string");
    const head = element("tr", {}, ...columns.map(({ title, name }, k) => element("th", { scope: "col", text: title, class: name && lit.has(name) ? "lit" : words(k) ? "words" : null })));
    const body = rows.map(({ title, name, cells }) => element("tr", { class: name && lit.has(name) ? "lit" : null },
      element("th", { scope: "row", text: title }),
      ...cells.map(({ value, text, share }) => {
        const cell = element("td", { text: text ?? cellText(value), "data-value": csvValue(value ?? null), class: typeof value === "string" ? "words" : null });
        if (share !== undefined && !Number.isNaN(share)) {
          cell.classList.add("heat");
          cell.style.backgroundColor = vuskit.heat(share);
          cell.style.color = inkOn(cell.style.backgroundColor);
        }
        return cell;
      })));
    const before = holder.querySelector("th[aria-sort]");
    const order = before && [before.cellIndex, before.getAttribute("aria-sort")];
    const mapped = columns.length > 9 || rows.some(({ cells }) => cells.some(({ share }) => share !== undefined));
    const table = element("table", { class: mapped ? "map" : null }, ...(caption ? [element("caption", {}, element("span", { text: caption }))] : []), element("thead", {}, head), element("tbody", {}, ...body));
    holder.replaceChildren(element("div", { class: rows.length > 40 ? "wide long" : "wide", tabindex: 0, role: "region", "aria-label": caption }, table));
    if (!sort) return;
    vuskit.sortable(table);
    if (!order) return;
    const again = table.tHead.rows[0].cells[order[0]]?.querySelector("button");
    again?.click();
    if (order[1] === "ascending") again?.click();
  };
  const plainTable = (holder, caption, { columns, rows }) => fillTable(holder, caption, columns.map((title) => ({ title })),
    rows.map(([title, ...cells]) => ({ title: cellText(title), cells: cells.map((value) => ({ value })) })));
  const tableCsv = ({ columns, rows }) => [columns, ...rows.map((row) => row.map(csvValue))];
  const byName = (table, name = "measure") => new Map(table.rows.map((row) => [row[table.columns.indexOf(name)], Object.fromEntries(table.columns.map((key, k) => [key, row[k]]))]));
  const failures = (place, { count, rows }) => {
    if (!count) { place.replaceChildren(element("p", { class: "quiet", text: "No series failed." })); return; }
    const more = count > rows.length ? ` The first ${rows.length} are shown.` : "";
    plainTable(place, `${count} series could not be studied.${more}`, { columns: ["series", "reason"], rows });
  };
  const options = (select, titles) => select.replaceChildren(...titles.map((title, k) => new Option(title, String(k))));
  const fullNumber = (value) => Number.isNaN(value) ? "" : Number(value.toPrecision(7));

  // ---- critical differences ----
  const drawRanks = (holder, draw, comparison, items) => {
    const ranks = byName(comparison.ranks, "name");
    charts.ranks(draw, items.map((item) => {
      const row = ranks.get(item.name);
      return { ...item, rank: row.mean_rank, lower: row.lower, upper: row.upper };
    }), comparison.groups);
  };
  const rankFigures = (holder, comparisons, redraw) => {
    const figures = Object.entries(comparisons).map(([title, comparison]) => {
      const place = element("div");
      const words = comparison
        ? element("ul", { class: "quiet" }, ...comparison.sentences.map((text) => element("li", { text })))
        : element("p", { text: "Too few series with all measures defined for a test." });
      const heading = title ? [element("h3", { text: title })] : [];
      return { title, comparison, place, figure: element("figure", {}, ...heading, place, words) };
    });
    holder.classList.add("wide-panels");
    holder.replaceChildren(...figures.map(({ figure }) => figure));
    const drawn = figures.filter(({ comparison }) => comparison).map(({ title, comparison, place }) =>
      ({ comparison, place, draw: charts.plot(place, `Mean ranks${title && `, ${title}`}`, (name) => { toggle(lit, name); redraw(); }) }));
    return (items) => { for (const one of drawn) drawRanks(one.place, one.draw, one.comparison, items); };
  };
  const rankCsv = (comparisons) => [["test", "measure", "mean", "median", "mean_rank", "lower", "upper"],
    ...Object.entries(comparisons).flatMap(([title, found]) => (found?.ranks.rows ?? []).map((row) => [title, ...row]))];

  return {
    hidden, choice, study, fillTable, plainTable, tableCsv, csvValue, fullNumber, byName, failures, options, rankFigures, rankCsv,
  };
})();

// ---- robustness, separability, consistency ----
(() => {
  const { floats } = vuskit;
  const { exact, short, known } = charts;
  const { hidden, study, fillTable, plainTable, tableCsv, csvValue, fullNumber, byName, failures, options, rankFigures, rankCsv } = studies;

  const MOST_PANELS = 60;

  // ---- robustness ----
  const undefinedValues = (holder, table) => {
    const at = (name) => table.columns.indexOf(name);
    const totals = new Map();
    for (const row of table.rows) {
      const total = totals.get(row[at("perturbation")]) ?? { values: 0, undefined: 0 };
      totals.set(row[at("perturbation")], { values: total.values + row[at("values")], undefined: total.undefined + row[at("undefined")] });
    }
    const words = [...totals].map(([name, total]) => `${name}: ${total.undefined.toLocaleString("en")} of ${total.values.toLocaleString("en")} values`);
    const inside = vuskit.element("div");
    plainTable(inside, "Undefined values by perturbation and measure", table);
    holder.classList.add("wide-panels");
    holder.replaceChildren(vuskit.element("p", { text: `${words.join("; ")}.` }), vuskit.element("details", {}, vuskit.element("summary", { text: "by measure" }), inside));
  };
  vuskit.view("study-robustness", (place, data) => {
    const find = (id) => place.querySelector(`#${id}`);
    const kinds = data.perturbations;
    const [series, detector, kind] = [find("boxes-series"), find("boxes-detector"), find("datasets-perturbation")];
    const drawTests = rankFigures(find("ranks"), data.tests, () => view.draw());
    const listDetectors = () => {
      const before = detector.selectedOptions[0]?.textContent;
      const names = ["all detectors", ...data.series[series.value].detectors];
      options(detector, names);
      detector.value = String(Math.max(names.indexOf(before), 0));
    };
    // By perturbation, then all detectors and each, then measure: five numbers.
    const boxOf = (kindPlace, measure) => {
      const { detectors, boxes } = data.series[series.value];
      const numbers = data.series[series.value].numbers ??= floats(boxes);
      const start = ((kindPlace * (detectors.length + 1) + Number(detector.value)) * data.measures.length + measure) * 5;
      return [...numbers.subarray(start, start + 5)];
    };
    options(series, data.series.map(({ name }) => name));
    options(kind, kinds);
    listDetectors();
    find("boxes-note").textContent = data.note;
    const count = data.datasets.names.length;
    if (count > MOST_PANELS) find("datasets-note").textContent = `The first ${MOST_PANELS} of ${count} data sets; the csv has all.`;
    failures(find("failures"), data.failures);
    undefinedValues(find("undefined"), data.undefined);
    series.addEventListener("change", () => { listDetectors(); view.draw(); });
    for (const select of [detector, kind]) select.addEventListener("change", () => view.draw());
    const view = study(place, data, ({ items, plots }) => {
      plots(find("averages"), kinds).forEach((draw, j) => charts.bars(draw, items.map((item) => ({
        ...item, value: data.averages[kinds[j]][item.k],
        text: `mean over data sets ${exact(data.averages[kinds[j]][item.k])}\nmean over series ${exact(data.over_series[kinds[j]][item.k])}`,
      }))));
      fillTable(find("averages-table"), "Mean standard deviation; low is robust", [{ title: "measure" }, ...kinds.map((title) => ({ title }))],
        items.map((item) => ({ title: item.title, name: item.name, cells: kinds.map((name) => ({ value: data.averages[name][item.k] })) })));
      drawTests(items);
      plots(find("boxes"), kinds).forEach((draw, j) => charts.boxes(draw, items.map((item) => ({
        ...item, boxes: [{ box: boxOf(j, item.k), color: item.color }],
      })), { title: "value less mean" }));
      const values = data.datasets.values[kinds[kind.value]];
      const high = Math.max(...values.flat().filter(known), 0);
      plots(find("datasets"), data.datasets.names.slice(0, MOST_PANELS)).forEach((draw, j) => charts.bars(draw, items.map((item) => ({ ...item, value: values[j][item.k] })), { high, row: 17 }));
    });
    vuskit.copies(place, {
      averages: () => [["measure", ...kinds, ...kinds.map((name) => `${name}_over_series`)], ...data.measures.map(({ name }, k) =>
        [name, ...kinds.map((one) => csvValue(data.averages[one][k])), ...kinds.map((one) => csvValue(data.over_series[one][k]))])],
      ranks: () => rankCsv(data.tests),
      boxes: () => [["series", "detector", "perturbation", "measure", "lower_whisker", "lower_quartile", "median", "upper_quartile", "upper_whisker"],
        ...kinds.flatMap((name, j) => data.measures.map((measure, k) => [data.series[series.value].name, detector.selectedOptions[0].textContent, name, measure.name, ...boxOf(j, k).map(fullNumber)]))],
      datasets: () => [["perturbation", "dataset", ...data.measures.map(({ name }) => name)], ...kinds.flatMap((name) =>
        data.datasets.names.map((dataset, j) => [name, dataset, ...data.datasets.values[name][j].map(csvValue)]))],
      undefined: () => tableCsv(data.undefined),
    });
    return view;
  });

  // ---- separability ----
  vuskit.view("study-separability", (place, data) => {
    const find = (id) => place.querySelector(`#${id}`);
    const averages = byName(data.averages);
    const [series, pair] = [find("pairs-series"), find("pairs-pair")];
    const drawTests = rankFigures(find("ranks"), { "": data.test }, () => view.draw());
    const chosen = () => {
      const one = data.series[series.value];
      const boxes = one.numbers ??= floats(one.boxes);
      const z = one.zNumbers ??= floats(one.z);
      const count = data.measures.length;
      const [good, bad] = one.pairs[pair.value];
      const boxOf = (name, k) => { const start = (one.detectors.indexOf(name) * count + k) * 5; return [...boxes.subarray(start, start + 5)]; };
      return { one, good, bad, boxOf, z: (k) => z[pair.value * count + k] };
    };
    const listPairs = () => options(pair, data.series[series.value].pairs.map(([good, bad]) => `${good} against ${bad}`));
    options(series, data.series.map(({ name }) => name));
    listPairs();
    failures(find("failures"), data.failures);
    series.addEventListener("change", () => { listPairs(); view.draw(); });
    pair.addEventListener("change", () => view.draw());
    const zText = (value) => Number.isNaN(value) ? "undefined" : Number.isFinite(value) ? short(value) : "infinite";
    const view = study(place, data, ({ items, plots }) => {
      plots(find("z"), ["mean z", "median z"]).forEach((draw, j) => charts.bars(draw, items.map((item) => {
        const row = averages.get(item.name);
        const value = row[["mean", "median"][j]];
        return { ...item, value, text: `mean z ${exact(row.mean)}\nmedian z ${exact(row.median)}\nright in ${exact(row.right)} of ${row.pairs} pairs\n${row.infinite} infinite, ${row.undefined} undefined` };
      })));
      const shown = data.averages.columns.slice(1);
      fillTable(find("z-table"), "High z is separable; right: share of pairs in which the accurate detector has the better mean",
        [{ title: "measure" }, ...shown.map((title) => ({ title }))],
        items.map((item) => ({ title: item.title, name: item.name, cells: shown.map((name) => ({ value: averages.get(item.name)[name] })) })));
      const { one, good, bad, boxOf, z } = chosen();
      const merit = (name) => known(one.criterion[name]) ? `, criterion ${short(one.criterion[name])}` : "";
      plots(find("pairs"), ["Values of the pair"]).forEach((draw) => charts.boxes(draw, items.map((item) => ({
        ...item, title: `${item.title}, z ${zText(z(item.k))}`,
        boxes: [{ box: boxOf(good, item.k), color: "#009E73", text: `${good} (accurate)` }, { box: boxOf(bad, item.k), color: "#D55E00", text: `${bad} (inaccurate)` }],
      })), { title: "value", low: 0 }));
      find("pairs-note").textContent = `Upper box, green: ${good} (accurate${merit(good)}). Lower box, orange: ${bad} (inaccurate${merit(bad)}). Buffer ${one.buffer}. ${data.note}`;
      drawTests(items);
    });
    vuskit.copies(place, {
      z: () => tableCsv(data.averages),
      pairs: () => {
        const { one, good, bad, boxOf, z } = chosen();
        return [["series", "accurate", "inaccurate", "measure", "z", "detector", "lower_whisker", "lower_quartile", "median", "upper_quartile", "upper_whisker"],
          ...data.measures.flatMap(({ name }, k) => [good, bad].map((detector) => [one.name, good, bad, name, fullNumber(z(k)), detector, ...boxOf(detector, k).map(fullNumber)]))];
      },
      ranks: () => rankCsv({ z: data.test }),
    });
    return view;
  });

  // ---- consistency ----
  vuskit.view("study-consistency", (place, data) => {
    const find = (id) => place.querySelector(`#${id}`);
    const [dataset, quantity] = [find("map-data-set"), find("map-quantity")];
    const QUANTITIES = { "mean rank": "ranks", "entropy of the rank (bits)": "entropies" };
    options(dataset, data.maps.map(({ name }) => name || "all data sets"));
    options(quantity, Object.keys(QUANTITIES));
    for (const select of [dataset, quantity]) select.addEventListener("change", () => view.draw());
    failures(find("failures"), data.failures);
    find("map-note").textContent = data.note;
    const numbersOf = (map, key) => (map.decoded ??= {})[key] ??= floats(map[key]);
    const view = study(place, data, ({ items, plots }) => {
      const [byMeasure, byFamily] = plots(find("entropies"), ["by measure", "by family"]);
      const low = 0.95 * Math.min(...data.entropies.filter(known));
      const high = Math.max(...data.entropies.filter(known));
      const title = low > 0 ? `bits; the axis starts at ${short(low)}` : "bits";
      charts.bars(byMeasure, items.map((item) => ({ ...item, value: data.entropies[item.k] })), { low, high, title });
      const families = Object.entries(data.by_family).filter(([name]) => !hidden.has(name in data.families ? name : "custom"));
      charts.bars(byFamily, families.map(([name, value]) => {
        const family = data.families[name] ?? data.families.custom;
        return { title: name in data.families ? family.title : name, color: family.color, value };
      }), { low, high, title });
      const map = data.maps[dataset.value];
      const name = Object.keys(QUANTITIES)[quantity.value];
      const numbers = numbersOf(map, QUANTITIES[name]);
      const least = Math.min(...numbers.filter(known));
      const top = Math.max(...numbers.filter(known));
      const count = data.measures.length;
      fillTable(find("map"), `${name}, ${map.name || "all data sets"}; light is ${name === "mean rank" ? "good" : "steady"}`,
        [{ title: "detector" }, ...items.map(({ title, name: own }) => ({ title, name: own }))],
        map.detectors.map((title, j) => ({ title, cells: items.map((item) => {
          const value = fullNumber(numbers[j * count + item.k]);
          return value === "" ? { value: null } : { value, text: value.toFixed(2), share: top > least ? 1 - (value - least) / (top - least) : 1 };
        }) })));
      const place = items.map(({ name: own }) => data.datasets.columns.indexOf(own));
      fillTable(find("by-dataset"), "Mean entropy over the detectors of a data set", [{ title: "data set" }, ...items.map(({ title: own, name: key }) => ({ title: own, name: key }))],
        data.datasets.rows.map((row) => ({ title: row[0], cells: place.map((k) => ({ value: row[k] })) })));
    });
    vuskit.copies(place, {
      entropies: () => [["measure", "family", "entropy"], ...data.measures.map(({ name, family }, k) => [name, family, csvValue(data.entropies[k])])],
      map: () => [["dataset", "detector", "measure", "mean_rank", "entropy"], ...data.maps.slice(dataset.value, Number(dataset.value) + 1).flatMap((map) =>
        map.detectors.flatMap((detector, j) => data.measures.map(({ name }, k) => [map.name || "all", detector, name,
          ...["ranks", "entropies"].map((key) => fullNumber(numbersOf(map, key)[j * data.measures.length + k]))])))],
      "by-dataset": () => tableCsv(data.datasets),
    });
    return view;
  });
})();

// ---- scenarios, summary, execution time ----
(() => {
  const { element } = vuskit;
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
    const colorOf = ({ color }) => color === "#000000" ? "var(--ink)" : color;
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
        ...data.contestants.map((one) => choice(one.title, colorOf(one), chosen.has(one.name), () => choose(one.name), one.dash))));
      if (focused >= 0) legend.querySelectorAll("button")[focused].focus();
      const name = data.quantities[quantity.value];
      const { lit, faint } = charts;
      [charts.lit, charts.faint] = [(one) => chosen.has(one), (one) => chosen.size > 0 && !chosen.has(one)];
      for (const { panel, plot } of figures) {
        charts.lines(plot, panel.curves.map((curve) => {
          const [middle, low, high] = curve[name];
          return {
            name: curve.name, title: titles.get(curve.name).title, color: colorOf(titles.get(curve.name)), dash: titles.get(curve.name).dash,
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
