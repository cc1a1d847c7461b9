"use strict";
/* Figures of a run: critical differences, heat map of ranks, time against accuracy. */
benchmark.figures = (place, run, state) => {
  const { colour, lineColour, heat, prepare, format, fitted, fittedNames } = vuskit;
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
  const compared = () => {
    const { settings, measure, dataset } = state();
    if (!run.M) return { error: "There are no values yet." };
    const place = run.datasets.indexOf(dataset);
    return run.comparisons[`${settings},${measure}${place < 0 ? "" : `,${place}`}`]
      ?? { error: "the file has room for the comparisons of the largest data sets only." };
  };
  const drawRanks = () => {
    const found = compared();
    const now = state();
    const measure = run.measures[now.measure];
    const canvas = byId("ranks");
    canvas.hidden = Boolean(found.error);
    if (found.error) {
      byId("ranks-note").textContent = `No diagram: ${found.error}${found.error.endsWith(".") ? "" : "."}`;
      return;
    }
    const count = found.detectors.length;
    // Where there is no room for names on both sides, every detector has a row, and bars stand beside.
    const rows = canvas.parentElement.clientWidth < 560 && count > 8;
    const groups = found.groups.map((group) => group.map((detector) => found.detectors.indexOf(detector)));
    const bars = vuskit.rankBars(groups, rows ? found.ranks.map((_, k) => k) : found.ranks);
    const thick = 9 * Math.max(0, ...bars.map((bar) => bar.line + 1));
    const first = 44 + (rows ? 0 : thick);
    const { pen, width } = sized(canvas, first + 19 * (rows ? count : Math.ceil(count / 2)) + 10);
    const left = rows ? Math.min(150, width * 0.42) : Math.min(200, width * 0.34);
    const right = rows ? width - 44 - thick : width - left;
    const [low, high] = [Math.floor(Math.min(...found.ranks)), Math.ceil(Math.max(...found.ranks))];
    const across = vuskit.scale({ low: Math.min(low, count - 1), high: Math.max(high, low + 1), from: left, to: right });
    pen.strokeStyle = pen.fillStyle = colour("ink");
    pen.textAlign = "center";
    stroke(pen, [left, 24], [right, 24]);
    const every = Math.max(1, Math.ceil((across.high - across.low) / ((right - left) / 22)));
    for (let rank = across.low; rank <= across.high; rank++) {
      const labelled = (rank - across.low) % every === 0;
      stroke(pen, [across(rank), labelled ? 17 : 20], [across(rank), 24]);
      if (labelled) pen.fillText(String(rank), across(rank), 13);
    }
    pen.textAlign = "right";
    pen.fillText("mean rank", left - 10, 28);
    pen.lineWidth = 5;
    pen.strokeStyle = colour("soft");
    for (const { group, from, to, line } of bars) {
      if (rows) stroke(pen, ...[group[0], group.at(-1)].map((k, end) => [right + 50 + 9 * line, first + 19 * k + (end ? 14 : 2)]));
      else stroke(pen, [across(from), 34 + 9 * line], [across(to), 34 + 9 * line]);
    }
    pen.lineWidth = 1;
    (rows ? nameRows : nameSides)(pen, found, across, { first, left, right });
    canvas.setAttribute("aria-label", `Mean ranks by ${measure.title}: ${found.detectors.map((d, k) => `${run.detectors[d]} ${found.ranks[k].toFixed(2)}`).join(", ")}`);
    byId("ranks-note").textContent = ranksNote(found, now, measure);
  };
  const named = (pen, found, room) => fittedNames(pen, found.detectors.map((d) => run.detectors[d]), room);
  const nameSides = (pen, found, across, { first, left, right }) => named(pen, found, left - 14 - pen.measureText(" 00.00").width).forEach((name, k) => {
    const count = found.detectors.length;
    const early = k < Math.ceil(count / 2);
    const at = first + 19 * (early ? k : count - 1 - k) + 8;
    const end = early ? left - 6 : right + 6;
    pen.strokeStyle = colour("quiet");
    stroke(pen, [across(found.ranks[k]), 24], [across(found.ranks[k]), at], [end, at]);
    pen.fillStyle = colour("ink");
    pen.textAlign = early ? "right" : "left";
    const rank = found.ranks[k].toFixed(2);
    pen.fillText(early ? `${name} ${rank}` : `${rank} ${name}`, early ? end - 4 : end + 4, at + 4);
  });
  const nameRows = (pen, found, across, { first, left, right }) => named(pen, found, left - 8).forEach((name, k) => {
    const at = first + 19 * k + 8;
    const place = across(found.ranks[k]);
    pen.strokeStyle = colour("grid");
    stroke(pen, [left, at], [right, at]);
    pen.fillStyle = colour("ink");
    pen.beginPath(); pen.arc(place, at, 4, 0, 7); pen.fill();
    pen.textAlign = "right";
    pen.fillText(name, left - 6, at + 4);
    pen.fillText(found.ranks[k].toFixed(2), right + 42, at + 4);
  });
  const where = (now) => now.dataset || (run.datasets.length > 1 ? "all data sets" : run.datasets[0]);
  const listed = (names) => names.length > 12 ? `${names.slice(0, 12).join(", ")} and ${names.length - 12} more` : names.join(", ");
  const ranksNote = (found, now, measure) => {
    const missing = run.detectors.filter((_, d) => !found.detectors.includes(d));
    const used = found.n === now.series.length ? "" : `, the ${found.n} of ${now.series.length} that every detector has a value for`;
    return [`Mean ranks by ${measure.title}${measure.higher ? "" : " (lower is better)"} over ${found.n} series of ${where(now)}${used}; 1 is best. No two detectors that share a bar differ significantly; two that share none do, or something between them does.`,
      found.tests, missing.length ? `Left out, without any value here: ${listed(missing)}.` : ""].filter(Boolean).join(" ");
  };

  // ---- heat map ----
  let grid = null;
  let cursor = null;
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
        const own = bySeries.filter((one) => run.series.dataset[one.series] === k);
        const collect = (field) => run.detectors.map((_, d) => benchmark.mean(own.map((one) => one[field][d]).filter((value) => !Number.isNaN(value))));
        return { name, dataset: name, n: own.length, values: collect("values"), ranks: collect("ranks") };
      }).filter((one) => one.n);
    }
    const overall = run.detectors.map((_, d) => benchmark.mean(bySeries.map((one) => one.ranks[d]).filter((rank) => !Number.isNaN(rank))));
    const rows = run.detectors.map((_, d) => d).sort((a, b) => vuskit.comparing(Number.isNaN(overall[a]) ? "" : overall[a], Number.isNaN(overall[b]) ? "" : overall[b]));
    return { now, columns, rows, worst: Math.max(run.D, 2) };
  };
  const inkOn = (paint) => {
    const linear = paint.match(/\d+/g).map((part) => { const c = part / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
    const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? "#000000" : "#ffffff";
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
    const level = longest <= cell - 8; // names lie flat where they can
    const foot = Math.min(longest, room < 600 ? 110 : 190);
    const bottom = named ? (level ? 20 : foot + 12) : 8;
    canvas.style.width = `${left + cell * columns.length}px`;
    const height = 24;
    const { pen } = sized(canvas, rows.length * height + bottom);
    Object.assign(grid, { left, cell, height });
    const names = fittedNames(pen, run.detectors, left - 8);
    rows.forEach((d, r) => {
      pen.fillStyle = colour("ink");
      pen.textAlign = "right";
      pen.fillText(names[d], left - 6, r * height + 16);
      columns.forEach((column, c) => {
        const rank = column.ranks[d];
        const at = left + c * cell;
        if (Number.isNaN(rank)) {
          pen.strokeStyle = colour("rule");
          stroke(pen, [at + 1, (r + 1) * height - 2], [at + Math.min(cell, 24) - 1, r * height + 2]);
          return;
        }
        const paint = heat((worst - rank) / (worst - 1));
        pen.fillStyle = paint;
        pen.fillRect(at, r * height, cell > 6 ? cell - 1 : cell + 0.3, height - 1);
        if (cell < 30) return;
        pen.fillStyle = inkOn(paint);
        pen.textAlign = "center";
        pen.fillText(format(Number(rank.toFixed(1))), at + cell / 2, r * height + 16);
      });
    });
    if (level && named) columns.forEach((column, c) => {
      pen.fillStyle = colour("quiet");
      pen.textAlign = "center";
      pen.fillText(short(column), left + (c + 0.5) * cell, rows.length * height + 15);
    });
    if (named && !level) columns.forEach((column, c) => {
      pen.save();
      pen.translate(left + (c + 0.5) * cell + 4, rows.length * height + 6);
      pen.rotate(-Math.PI / 2);
      pen.fillStyle = colour("quiet");
      pen.textAlign = "right";
      pen.fillText(fitted(pen, short(column), foot), 0, 0);
      pen.restore();
    });
    if (cursor) {
      pen.strokeStyle = colour("focus");
      pen.lineWidth = 3;
      pen.strokeRect(left + cursor[0] * cell, cursor[1] * height, Math.max(cell, 4), height);
    }
    drawScale();
    byId("heat-note").textContent = cursor ? cellText(...cursor).replaceAll("\n", "; ") : heatNote(grid.now, columns.length);
  };
  const heatNote = (now, count) => {
    const by = run.measures[now.measure]?.title ?? "no measure";
    const on = now.columns === "dataset" ? `mean ranks on ${count === 1 ? "1 data set" : `${count} data sets`}, ${now.series.length} series` : `ranks on ${now.series.length} series`;
    return `Detectors by ${by}: ${on}, among those with a value. A stroke: no value. A cell leads to its series.`;
  };
  const drawScale = () => {
    const { pen, width, height } = prepare(byId("heat-scale"));
    for (let i = 0; i < width; i++) { pen.fillStyle = heat(i / width); pen.fillRect(i, 0, 1.5, height); }
  };
  const cellText = (c, r) => {
    const [column, d] = [grid.columns[c], grid.rows[r]];
    const said = `${run.detectors[d]} on ${column.name}`;
    if (Number.isNaN(column.ranks[d])) return `${said}\nno value: ${column.series === undefined ? "none of its series" : run.outcome(d, column.series) || "not run yet"}`;
    const title = run.measures[grid.now.measure].title;
    return column.series === undefined
      ? `${said} (${column.n} series)\nmean rank ${column.ranks[d].toFixed(2)}, mean ${title} ${shown(column.values[d])}`
      : `${said}\nrank ${format(column.ranks[d])}, ${title} ${shown(column.values[d])}`;
  };
  const cellAt = (px, py) => {
    const [c, r] = [Math.floor((px - grid.left) / grid.cell), Math.floor(py / grid.height)];
    return c >= 0 && c < grid.columns.length && r >= 0 && r < grid.rows.length ? [c, r] : null;
  };
  const openCell = ([c]) => {
    const column = grid.columns[c];
    if (column.series !== undefined) { window.location.hash = run.link(column.series); return; }
    vuskit.go("table", { dataset: column.dataset, measure: run.measures[grid.now.measure].name, settings: grid.now.settings || undefined });
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
    const values = benchmark.summarise(run, now);
    return run.detectors.map((name, d) => {
      const seconds = now.series.map((i) => run.second(d, i)).filter((value) => value > 0);
      return { name, d, seconds: benchmark.median(seconds), n: seconds.length, value: values[d].value };
    });
  };
  let dots = [];
  const drawTime = () => {
    const now = state();
    const points = timed().filter((one) => one.seconds > 0 && !Number.isNaN(one.value));
    const canvas = byId("time");
    canvas.hidden = points.length === 0;
    dots = [];
    const rank = now.summary === "rank";
    const up = !rank && run.measures[now.measure]?.higher !== false; // the best are always above
    const title = `${rank ? "mean rank by" : now.summary} ${run.measures[now.measure]?.title ?? ""}`;
    byId("time-note").textContent = points.length
      ? `Median seconds of fitting and scoring a series against ${title}${up ? "" : " (lower is better)"}, over ${now.series.length} series of ${where(now)}; fast and good is at the top left. Runs that held imports or compilation count only where there is no other.`
      : "No diagram: no seconds were measured; scores that were computed elsewhere bring none.";
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
      pen.fillStyle = lineColour(dot.d);
      pen.beginPath(); pen.arc(dot.px, dot.py, 5, 0, 7); pen.fill();
    }
    pen.fillStyle = colour("ink");
    pen.textAlign = "left";
    const names = fittedNames(pen, run.detectors, 150);
    for (const dot of dots) {
      const text = names[dot.d];
      const wide = pen.measureText(text).width;
      const places = [[9, 4], [-9 - wide, 4], [-wide / 2, -10], [-wide / 2, 18], [9, -8], [9, 16], [-9 - wide, -8], [-9 - wide, 16]];
      const boxes = places.map(([dx, dy]) => [dot.px + dx, dot.py + dy - 11, dot.px + dx + wide, dot.py + dy + 2]);
      const free = boxes.findIndex((one) => one[0] >= box.left && one[2] <= width && one[1] >= 0 && one[3] <= box.bottom
        && !taken.some((other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]));
      if (free < 0) continue; // its label follows the pointer
      taken.push(boxes[free]);
      pen.fillText(text, boxes[free][0], boxes[free][3] - 2);
    }
    canvas.setAttribute("aria-label", `Time against accuracy: ${dots.map((one) => `${one.name} ${format(one.seconds)} s, ${shown(one.value)}`).join("; ")}`);
  };
  vuskit.tip(byId("time"), (px, py) => {
    const near = dots.find((one) => Math.hypot(one.px - px, one.py - py) < 12);
    return near && `${near.name}\n${format(near.seconds)} s, ${shown(near.value)}`;
  });

  return {
    draw: () => { drawRanks(); drawHeat(); drawTime(); },
    copies: {
      ranks: () => {
        const found = compared();
        const now = state();
        return [["measure", "dataset", "detector", "mean_rank", "series"], ...(found.detectors ?? []).map((d, k) => [
          run.measures[now.measure].name, now.dataset, run.detectors[d], found.ranks[k], found.n])];
      },
      heat: () => {
        const { now, columns, rows } = makeGrid();
        return [[now.columns, "detector", "measure", "rank", "value"], ...columns.flatMap((column) => rows.map((d) => [
          column.name, run.detectors[d], run.measures[now.measure]?.name ?? "", exact(column.ranks[d]), exact(column.values[d])]))];
      },
      time: () => [["detector", "median_seconds", "series_timed", "measure", "value"], ...timed().map((one) => [
        one.name, exact(one.seconds), one.n, run.measures[state().measure].name, exact(one.value)])],
    },
  };
};
