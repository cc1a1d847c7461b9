"use strict";
/* The views of the studies of scores: robustness, separability, consistency. */
(() => {
  const { floats } = vuskit;
  const charts = studyCharts;
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
        ...item, boxes: [{ box: boxOf(j, item.k), colour: item.colour }],
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
        boxes: [{ box: boxOf(good, item.k), colour: "#009E73", text: `${good} (accurate)` }, { box: boxOf(bad, item.k), colour: "#D55E00", text: `${bad} (inaccurate)` }],
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
        return { title: name in data.families ? family.title : name, colour: family.colour, value };
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
