"use strict";
/* Studies: one view for all of them. A section holds the dictionaries of displays and tables
   (studies.py); `kind` of a display selects its renderer here:

     figures.add(kind, (place, data, view) => ({ draw(), rows() }))

   `draw` paints and is called again when a choice, the size or the theme changes; `rows` gives the
   table that "Copy csv" copies. A renderer draws what the display computed: it computes only what
   depends on a control. Chosen measures and hidden families are the same on the whole page.

   view: items(measures)   those of visible families, with their place `k`
         plots(place, titles) -> functions for charts.*      state: shared by the figures of a study
         choose(name), redraw()                                                                    */
const figures = (() => {
  const renderers = new Map();
  const add = (kind, make) => { renderers.set(kind, make); };
  const make = (place, data, view) => (renderers.get(data.kind) ?? renderers.get("picture"))(place, data, view);
  return { add, make };
})();

// ---- choices that apply to the whole page ----
const chosen = { lit: new Set(), hidden: new Set() };
charts.lit = (name) => chosen.lit.has(name);
charts.faint = (name) => chosen.lit.size > 0 && !chosen.lit.has(name);

// ---- tables ----
const tables = (() => {
  const { element } = vuskit;
  const { short } = charts;
  const text = (value) => value === null ? "–" : typeof value === "number" ? short(value) : String(value);
  const csvValue = (value) => value === null || Number.isNaN(value) ? "" : value;
  const rounded = (value) => value === null || Number.isNaN(value) ? "" : typeof value === "number" ? Number(value.toPrecision(7)) : value;
  // rows: [{title, name, cells: [{value, text, share}]}]; a share paints its cell.
  const fill = (holder, caption, columns, rows, { sort = true, label = caption } = {}) => {
    const words = (column) => column > 0 && rows.length && rows.every(({ cells }) => typeof cells[column - 1]?.value === "string");
    const lit = (name) => name && charts.lit(name);
    const head = element("tr", {}, ...columns.map(({ title, name }, k) => element("th", { scope: "col", text: title, class: lit(name) ? "lit" : words(k) ? "words" : null })));
    const body = rows.map(({ title, name, cells }) => element("tr", { class: lit(name) ? "lit" : null },
      element("th", { scope: "row", text: title }),
      ...cells.map(({ value, text: words, share }) => {
        const cell = element("td", { text: words ?? text(value), "data-value": csvValue(value ?? null), class: typeof value === "string" ? "words" : null });
        if (share !== undefined && !Number.isNaN(share)) {
          cell.classList.add("heat");
          cell.style.backgroundColor = vuskit.heat(share);
          cell.style.color = vuskit.inkOn(cell.style.backgroundColor);
        }
        return cell;
      })));
    const before = holder.querySelector("th[aria-sort]");
    const order = before && [before.cellIndex, before.getAttribute("aria-sort")];
    const mapped = columns.length > 9 || rows.some(({ cells }) => cells.some(({ share }) => share !== undefined));
    const table = element("table", { class: mapped ? "map" : null }, ...(caption ? [element("caption", {}, element("span", { text: caption }))] : []), element("thead", {}, head), element("tbody", {}, ...body));
    holder.replaceChildren(element("div", { class: rows.length > 40 ? "wide long" : "wide", tabindex: 0, role: "region", "aria-label": label }, table));
    if (!sort) return;
    vuskit.sortable(table);
    if (!order) return;
    const again = table.tHead.rows[0].cells[order[0]]?.querySelector("button");
    again?.click();
    if (order[1] === "ascending") again?.click();
  };
  /* A table as it was computed. Measures are shown under their titles; rows and columns of hidden
     families are left out.                                                                        */
  const plain = (holder, { columns, rows, title }, view) => {
    const visible = columns.map((name, k) => ({ name, k })).filter(({ name, k }) => k === 0 || view.visible(name));
    const first = (row) => typeof row[0] === "string" ? row[0] : null;
    fill(holder, "", visible.map(({ name }) => ({ title: view.titled(name).replaceAll("_", " "), name })),
      rows.filter((row) => view.visible(first(row))).map((row) => ({
        title: first(row) === null ? text(row[0]) : view.titled(row[0]), name: first(row),
        cells: visible.slice(1).map(({ k }) => ({ value: row[k], text: typeof row[k] === "string" ? view.titled(row[k]) : undefined })),
      })), { label: title });
  };
  const rows = ({ columns, rows: all }) => [columns, ...all.map((row) => row.map(csvValue))];
  return { fill, plain, rows, csvValue, rounded };
})();

// ---- the view ----
vuskit.view("study", (place, data) => {
  const { element } = vuskit;
  const toggle = (set, name) => { if (!set.delete(name)) set.add(name); };
  const known = new Map(data.measures.map((measure) => [measure.name, measure]));
  const { choice, refocused } = charts;
  const legend = place.querySelector(".legend");
  const shown = () => data.measures.filter(({ family }) => !chosen.hidden.has(family));
  const drawLegend = () => refocused(legend, () => {
    if (!data.measures.length) return;
    const families = Object.entries(data.families).map(([name, { title, color }]) =>
      choice(title, color, !chosen.hidden.has(name), () => {
        toggle(chosen.hidden, name);
        if (!shown().length) toggle(chosen.hidden, name); // one family stays visible
        draw();
      }));
    const measures = shown().map(({ name, title, color }) => choice(title, color, chosen.lit.has(name), () => view.choose(name)));
    const clear = element("button", { type: "button", text: "show all", onclick: () => { chosen.lit.clear(); chosen.hidden.clear(); draw(); } });
    clear.disabled = !chosen.lit.size && !chosen.hidden.size;
    legend.replaceChildren(
      element("div", { class: "choices", role: "group", "aria-label": "Families shown" }, element("span", { text: "families", class: "quiet" }), ...families),
      element("div", { class: "choices", role: "group", "aria-label": "Measures highlighted" }, element("span", { text: "highlight", class: "quiet" }), ...measures, clear),
    );
  });
  // Each place keeps its plot, so that the focus stays.
  const made = new Map();
  const plots = (holder, titles, choose = view.choose) => {
    if (made.get(holder)?.titles.join("\n") !== titles.join("\n")) {
      const panels = titles.map((title) => {
        const plot = element("div");
        const heading = titles.length > 1 ? [element("h3", { text: title })] : [];
        return { figure: element("figure", {}, ...heading, plot), draw: charts.plot(plot, title, choose) };
      });
      holder.replaceChildren(...panels.map(({ figure }) => figure));
      made.set(holder, { titles, panels });
    }
    return made.get(holder).panels.map((panel) => panel.draw);
  };
  const view = {
    state: {},
    plots, choice, refocused,
    choose: (name) => { toggle(chosen.lit, name); draw(); },
    redraw: () => draw(),
    visible: (name) => !known.has(name) || !chosen.hidden.has(known.get(name).family),
    titled: (name) => known.get(name)?.title ?? name,
    items: (measures) => measures.map((measure, k) => ({ ...measure, k })).filter(({ family }) => !chosen.hidden.has(family)),
  };
  const find = (id) => place.querySelector(`#${CSS.escape(id)}`);
  const drawn = data.figures.map(({ name, ...figure }) => ({ name, ...figures.make(find(`figure-${name}`), figure, view) }));
  const draw = () => {
    drawLegend();
    for (const figure of drawn) figure.draw();
    for (const table of data.tables) tables.plain(find(`table-${table.name}`), table, view);
  };
  vuskit.copies(place, Object.fromEntries([
    ...drawn.map((figure) => [`figure-${figure.name}`, figure.rows]),
    ...data.tables.map((table) => [`table-${table.name}`, () => tables.rows(table)]),
  ]));
  return { draw };
});

// ---- renderers ----
(() => {
  const { element } = vuskit;
  const { exact, short, known } = charts;
  const { fill, csvValue, rounded } = tables;
  const FIVE = ["lower_whisker", "lower_quartile", "median", "upper_quartile", "upper_whisker"];
  const DASHES = ["", "7 4", "2 3", "7 3 2 3"];
  const MOST_PANELS = 60;
  const numbers = (values) => values.filter(known);

  // A figure that only matplotlib draws: the page contains its picture.
  figures.add("picture", (place, data) => {
    place.replaceChildren(element("img", { src: data.picture, alt: data.title }));
    return { draw: () => {}, rows: () => data.rows ?? [["figure"], [data.title]] };
  });

  // One of several displays: a select for each part of their keys.
  figures.add("choice", (place, data, view) => {
    const inside = element("div", { class: "panels" });
    const selects = data.labels.map((label) => document.getElementById(`${place.id}-${label.replaceAll(" ", "-")}`));
    const note = data.total > data.choices.length ? [element("p", { class: "quiet", text: `${data.choices.length.toLocaleString("en")} of ${data.total.toLocaleString("en")} are in this file, from all data sets.` })] : [];
    place.classList.add("wide-panels");
    place.replaceChildren(inside, ...note);
    const matching = (count) => data.choices.filter(({ key }) => selects.slice(0, count).every((select, j) => key[j] === select.value));
    const list = (from) => selects.slice(from).forEach((select, j) => {
      const before = select.value;
      const names = [...new Set(matching(from + j).map(({ key }) => key[from + j]))];
      select.replaceChildren(...names.map((name) => new Option(name, name)));
      if (names.includes(before)) select.value = before;
    });
    list(0);
    // Each choice replaces the previous drawing.
    let current = null;
    const make = () => {
      const { figure } = data.choices.find(({ key }) => key.every((name, j) => name === selects[j].value));
      current = figures.make(inside, { ...data.shared, ...vuskit.unpacked(figure) }, view);
    };
    make();
    selects.forEach((select, j) => select.addEventListener("change", () => { list(j + 1); make(); current.draw(); }));
    return {
      draw: () => current.draw(),
      rows: () => {
        const [header, ...rows] = current.rows();
        return [[...data.labels.map((label) => label.replaceAll(" ", "_")), ...header], ...rows.map((row) => [...selects.map(({ value }) => value), ...row])];
      },
    };
  });

  // ---- bars ----
  const bars = (place, data, view) => ({
    draw: () => {
      const panels = data.panels.slice(0, MOST_PANELS);
      const high = data.shares_axis ? Math.max(...data.panels.flatMap(({ values }) => numbers(values)), 0) : undefined;
      const row = panels.length > 6 ? 17 : undefined;
      view.plots(place, panels.map(({ title }) => title)).forEach((draw, j) => charts.bars(draw, view.items(data.measures).map((item) => ({
        ...item, value: panels[j].values[item.k], text: `${data.label} ${exact(panels[j].values[item.k])}${panels[j].marks ? `, ${data.mark_label} ${exact(panels[j].marks[item.k])}` : ""}`,
      })), { high, row, title: panels.length > 6 ? "" : data.label }));
    },
    rows: () => [["measure", ...data.panels.map(({ title }) => title)], ...data.measures.map(({ name }, k) => [name, ...data.panels.map(({ values }) => csvValue(values[k]))])],
  });
  figures.add("robustness_bars", bars);
  figures.add("separability_bars", bars);
  figures.add("entropy", (place, data, view) => ({
    draw: () => {
      const [byMeasure, byFamily] = view.plots(place, ["by measure", "by family"]);
      const low = 0.95 * Math.min(...numbers(data.values));
      const high = Math.max(...numbers(data.values));
      const title = low > 0 ? `${data.label}; the axis starts at ${short(low)}` : data.label;
      charts.bars(byMeasure, view.items(data.measures).map((item) => ({ ...item, value: data.values[item.k] })), { low, high, title });
      charts.bars(byFamily, data.by_family.filter(({ family }) => !chosen.hidden.has(family)), { low, high, title });
    },
    rows: () => [["measure", "family", "entropy"], ...data.measures.map(({ name, family }, k) => [name, family, csvValue(data.values[k])])],
  }));

  // ---- boxes ----
  figures.add("centered_boxes", (place, data, view) => ({
    draw: () => view.plots(place, data.panels.map(({ title }) => title)).forEach((draw, j) => charts.boxes(draw, view.items(data.measures).map((item) => ({
      ...item, boxes: [{ box: data.panels[j].boxes[item.k], outliers: data.panels[j].outliers[item.k], color: item.color }],
    })), { title: data.label })),
    rows: () => [["panel", "measure", ...FIVE], ...data.panels.flatMap(({ title, boxes }) => data.measures.map(({ name }, k) => [title, name, ...[...boxes[k]].map(rounded)]))],
  }));
  figures.add("separability_boxes", (place, data, view) => ({
    draw: () => view.plots(place, data.panels.map(({ title }) => title)).forEach((draw, j) => {
      const { detectors, z } = data.panels[j];
      charts.boxes(draw, view.items(data.measures).map((item) => ({
        ...item, title: z ? `${item.title}, z ${short(Number.isNaN(z[item.k]) ? null : z[item.k] === Infinity ? "inf" : z[item.k] === -Infinity ? "-inf" : z[item.k])}` : item.title,
        boxes: detectors.map(({ name, accurate, color, boxes, outliers }) => ({ box: boxes[item.k], outliers: outliers[item.k], color, text: `${name} (${accurate ? "accurate" : "inaccurate"})` })),
      })), { title: data.label, low: 0 });
    }),
    rows: () => [["accurate", "inaccurate", "measure", "z", "detector", ...FIVE], ...data.panels.flatMap(({ detectors, z }) => data.measures.flatMap(({ name }, k) =>
      detectors.map((detector) => [...detectors.map((one) => one.name), name, z ? rounded(z[k]) : "", detector.name, ...[...detector.boxes[k]].map(rounded)])))],
  }));

  // ---- mean ranks ----
  figures.add("critical_difference", (place, data, view) => {
    const holder = element("div");
    place.classList.add("wide-panels");
    place.replaceChildren(holder, element("ul", { class: "quiet" }, ...data.notes.filter((text) => !data.caption.includes(text)).map((text) => element("li", { text }))));
    const names = data.items.map(({ name }) => name);
    return {
      draw: () => charts.ranks(view.plots(holder, [data.title])[0], view.items(data.items).map((item) => ({ color: "var(--ink)", ...item })),
        data.groups.map((group) => group.map((place) => names[place]))),
      rows: () => [["name", "mean_rank", "lower", "upper"], ...data.items.map(({ name, rank, lower = null, upper = null }) => [name, rank, csvValue(lower), csvValue(upper)])],
    };
  });
  figures.add("comparison_matrix", (place, data) => {
    place.classList.add("wide-panels");
    return { draw: () => charts.matrix(place, data, data.title), rows: () => charts.matrixRows(data) };
  });
  figures.add("forest", (place, data, view) => ({
    draw: () => view.plots(place, data.panels.map(({ title }) => title)).forEach((draw, j) => charts.forest(draw,
      data.panels[j].items.map((item) => ({ color: "var(--ink)", ...item })), { chance: data.panels[j].chance, title: "mean, 95% interval" })),
    rows: () => [["measure", "detector", "mean", "lower", "upper", "chance"], ...data.panels.flatMap(({ title, items, chance }) =>
      items.map((item) => [title, item.title, csvValue(item.value), csvValue(item.lower), csvValue(item.upper), csvValue(chance)]))],
  }));
  figures.add("rank_lines", (place, data, view) => ({
    draw: () => {
      const all = numbers(data.values.flatMap((row) => [...row]));
      const [least, most] = [Math.min(...all), Math.max(...all)];
      const items = view.items(data.measures);
      fill(place, `${data.label}, ${data.dataset}; light is low`, [{ title: "detector" }, ...items],
        data.detectors.map((title, j) => ({ title, cells: items.map(({ k }) => {
          const value = data.values[j][k];
          return known(value) ? { value: rounded(value), text: value.toFixed(2), share: most > least ? 1 - (value - least) / (most - least) : 1 } : { value: null };
        }) })));
    },
    rows: () => [["detector", "measure", "value"], ...data.detectors.flatMap((detector, j) => data.measures.map(({ name }, k) => [detector, name, rounded(data.values[j][k])]))],
  }));

  // ---- scenarios ----
  const dashes = (measures) => {
    const turns = {};
    return measures.map(({ family }) => DASHES[(turns[family] = (turns[family] ?? -1) + 1) % DASHES.length]);
  };
  figures.add("scenarios", (place, data, view) => {
    const slider = element("input", { type: "range", id: `${place.id}-scenario`, min: 0, step: 1, max: data.scenarios.length - 1 });
    const name = element("output", { for: slider.id, class: "scenario-name" });
    const [walk, values, table] = ["walk", "walk-bars", "walk-table"].map((kind) => element("div", { class: `panels ${kind}` }));
    place.classList.add("wide-panels");
    place.replaceChildren(element("div", { class: "slider" }, element("label", { for: slider.id, text: "scenario" }), slider, name), walk, values, table);
    slider.value = String(Math.max(data.scenarios.findIndex((one) => one.name === data.touching) - 1, 0));
    const first = Math.min(...data.scenarios.map(({ start }) => start), -data.buffer / 2);
    const last = Math.max(...data.scenarios.map(({ stop }) => stop), data.length + data.buffer / 2);
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
    const choose = () => { view.state.end = data.scenarios[slider.value].stop; };
    choose();
    slider.addEventListener("input", () => { choose(); view.redraw(); });
    return {
      draw: () => {
        const k = Number(slider.value);
        const scenario = data.scenarios[k];
        const items = view.items(data.measures);
        name.textContent = `${scenario.name}: ${scenario.title}`;
        drawWalk(view.plots(walk, ["Anomaly and prediction"])[0], scenario);
        charts.bars(view.plots(values, ["Values in the scenario"])[0], items.map((item) => ({
          ...item, value: data.values[k][item.k], text: `${scenario.name}, ${scenario.title}: ${exact(data.values[k][item.k])}`,
        })), { high: 1 });
        fill(table, "Value of each measure in each scenario", [{ title: "scenario" }, ...items], data.scenarios.map((one, j) => ({ title: `${one.name} ${one.title}`, cells: items.map((item) => {
          const value = data.values[j][item.k];
          return known(value) ? { value, text: value.toFixed(2), share: value } : { value: null };
        }) })), { sort: false });
      },
      rows: () => [["scenario", "prediction", "start", "stop", ...data.measures.map((one) => one.name)],
        ...data.scenarios.map((one, j) => [one.name, one.title, one.start, one.stop, ...data.values[j].map(csvValue)])],
    };
  });
  // Values of all measures against positions; `state.end` is the scenario chosen above.
  const curves = (place, data, view, { positions, range, upright = () => [], at }) => ({
    draw: () => {
      const dash = dashes(data.measures);
      charts.lines(view.plots(place, [data.title])[0], view.items(data.measures).map((item) => ({
        ...item, dash: dash[item.k], points: positions.map((at, j) => [at, data.values[j][item.k]]),
      })), { height: 340, x: { title: data.label, at: at?.() }, y: { title: "value", range }, upright: upright(), marks: false });
    },
    rows: () => [["position", ...data.measures.map(({ name }) => name)], ...positions.map((at, j) => [at, ...data.values[j].map(csvValue)])],
  });
  figures.add("scenario_sweep", (place, data, view) => {
    const last = data.positions.at(-1);
    const upright = () => [{ at: 0, kind: "touchline" }, ...(view.state.end <= last ? [{ at: view.state.end, kind: "chosen" }] : [])];
    return curves(place, data, view, { positions: data.positions, range: [0, 1], upright, at: () => view.state.end });
  });
  figures.add("sensitivity", (place, data, view) => curves(place, data, view, { positions: data.at }));

  // ---- summary ----
  figures.add("summary", (place, data, view) => ({
    draw: () => fill(place, "Rank of each measure; light is good", [{ title: "measure" }, ...data.columns.map((title) => ({ title }))],
      view.items(data.measures).map((item) => ({ ...item, cells: data.columns.map((_, j) => {
        const value = data.values[item.k][j];
        return { value, share: known(value) ? 1 - (value - 1) / Math.max(data.values.length - 1, 1) : undefined };
      }) }))),
    rows: () => [["measure", ...data.columns], ...data.measures.map(({ name }, k) => [name, ...data.values[k].map(csvValue)])],
  }));
  figures.add("scatter", (place, data, view) => ({
    draw: () => charts.scatter(view.plots(place, [data.title])[0], view.items(data.measures).map((item) => {
      const [x, y, size] = [data.deviation[item.k], data.z[item.k], data.ratio[item.k]];
      return { ...item, x, y, size, text: `${item.title}\n${data.x_label} ${exact(x)}\n${data.y_label} ${exact(y)}\n${data.size_label} ${exact(size)}` };
    }), { xTitle: data.x_label, yTitle: data.y_label }),
    rows: () => [["measure", "deviation", "z", "ratio"], ...data.measures.map(({ name }, k) => [name, ...[data.deviation, data.z, data.ratio].map((values) => csvValue(values[k]))])],
  }));

  // ---- execution time ----
  const LINES = { "-": "", "--": "6 4", ":": "2 3", "-.": "6 3 2 3" };
  const timing = (place, data, view) => {
    const colorOf = ({ color }) => color === "#000000" ? "var(--ink)" : color;
    const named = new Map(data.contestants.map((one) => [one.name, { ...one, color: colorOf(one), dash: LINES[one.linestyle] }]));
    const chosenOnes = view.state.contestants ??= new Set();
    const choose = (name) => { if (!chosenOnes.delete(name)) chosenOnes.add(name); view.redraw(); };
    const legend = element("div", { class: "choices", role: "group", "aria-label": "Algorithms highlighted" });
    const inside = element("div", { class: "panels" });
    return {
      draw: () => {
        if (inside.parentElement !== place) {
          place.classList.add("wide-panels");
          place.replaceChildren(legend, inside);
        }
        view.refocused(legend, () => legend.replaceChildren(element("span", { class: "quiet", text: "highlight" }),
          ...[...named.values()].map((one) => view.choice(one.title, one.color, chosenOnes.has(one.name), () => choose(one.name), one.dash))));
        const { lit, faint } = charts;
        [charts.lit, charts.faint] = [(one) => chosenOnes.has(one), (one) => chosenOnes.size > 0 && !chosenOnes.has(one)];
        view.plots(inside, data.panels.map(({ title }) => title), choose).forEach((draw, j) => {
          const panel = data.panels[j];
          charts.lines(draw, panel.curves.map((curve) => ({
            ...named.get(curve.name),
            points: [...curve.x].map((at, k) => [at, curve.middle[k]]), shade: [...curve.x].map((at, k) => [at, curve.lower[k], curve.upper[k]]),
            dots: curve.dots && [...curve.dots.x].map((at, k) => [at, curve.dots.y[k]]),
          })), { height: 300, x: { kind: panel.scale, title: panel.title }, y: { kind: "log", title: data.label } });
        });
        [charts.lit, charts.faint] = [lit, faint];
      },
      rows: () => [["panel", "contestant", "at", "middle", "lower", "upper"], ...data.panels.flatMap(({ title, curves: all }) => all.flatMap((curve) =>
        [...curve.x].map((at, k) => [title, curve.name, at, csvValue(curve.middle[k]), csvValue(curve.lower[k]), csvValue(curve.upper[k])])))],
    };
  };
  figures.add("timing_sweeps", timing);
  figures.add("timing_series", timing);
})();
