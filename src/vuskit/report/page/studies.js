"use strict";
/* What the views of the studies share: chosen measures and hidden families, the same on the whole
   page; legends, tables and critical differences. Markup comes from study_sections.py, numbers from
   study_sections_data.py.                                                                       */
const studies = (() => {
  const { element } = vuskit;
  const charts = studyCharts;
  const { short } = charts;

  // ---- what is chosen, on the whole page ----
  const lit = new Set();
  const hidden = new Set();
  charts.lit = (name) => lit.has(name);
  charts.faint = (name) => lit.size > 0 && !lit.has(name);
  const toggle = (set, name) => { if (!set.delete(name)) set.add(name); };

  const swatch = (colour, dash) => charts.svg("svg", { width: 18, height: 12, "aria-hidden": "true" }, dash === undefined
    ? charts.svg("rect", { x: 1, y: 1, width: 16, height: 10, fill: colour, class: "bar" })
    : charts.svg("path", { d: "M0 6H18", stroke: colour, "stroke-width": 3, "stroke-dasharray": dash || null }));
  const choice = (title, colour, pressed, click, dash) => {
    const button = element("button", { type: "button", class: "choice", onclick: click }, swatch(colour, dash), element("span", { text: title }));
    button.setAttribute("aria-pressed", String(pressed));
    return button;
  };

  // What every view of measures starts with: their items in order, and the legend above the figures.
  const study = (place, data, render) => {
    const colour = (measure) => data.families[measure.family].colour;
    const items = data.measures.map((measure, k) => ({ ...measure, k, colour: colour(measure) }));
    const choose = (name) => { toggle(lit, name); redraw(); };
    const shown = () => items.filter(({ family }) => !hidden.has(family));
    const legend = place.querySelector(".legend");
    const drawLegend = () => {
      const families = Object.entries(data.families).map(([name, { title, colour: own }]) =>
        choice(title, own, !hidden.has(name), () => {
          toggle(hidden, name);
          if (!shown().length) toggle(hidden, name); // something stays to be seen
          redraw();
        }));
      const measures = shown().map((item) => choice(item.title, item.colour, lit.has(item.name), () => choose(item.name)));
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
