"use strict";
/* The view of one series: its lines over time, R-AUC against buffer, surfaces. Markup: series.html;
   data: drawing_data() of series.py.

     const lines = seriesLines(place, data)     values, scores and soft label, one track each
     lines.draw(), lines.setBuffer(length), lines.showEvent(k), lines.zoom.in() ...                */
const seriesLines = (place, data) => {
  const { format, formatPair, color, lineColor, prepare, shares } = vuskit;
  const byId = (id) => place.querySelector(`#${id}`);
  const PAD = 6;
  const LEFT = 52; // of the drawing, where its labels need no more
  let range = [0, data.n];
  let buffer = data.buffer;
  let left = LEFT;
  const tracks = [];

  // ---- soft label ----
  const softAt = (point, width) => {
    const half = Math.floor(width / 2);
    let low = 0, high = data.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (data.events[middle][1] <= point) low = middle + 1; else high = middle;
    }
    if (low < data.events.length && data.events[low][0] <= point) return 1;
    const found = [];
    for (const k of [low - 2, low - 1, low, low + 1]) {
      if (k < 0 || k >= data.events.length) continue;
      const [start, stop] = data.events[k];
      const before = start > point;
      if (!(before ? data.ramp.before : data.ramp.after)) continue;
      const distance = before ? start - point : point - stop + 1;
      if (distance <= (before ? half : half - data.ramp.shorter)) found.push(distance);
    }
    if (!found.length) return 0;
    if (data.ramp.overlap === "one" && found.length > 1) return 1;
    const near = Math.min(...found);
    if (data.ramp.slope === "sqrt") return Math.sqrt(Math.max(1 - near / width, 0));
    return 1 - (1 - Math.SQRT1_2) * near / Math.max(half, 1);
  };
  const softBetween = (from, to) => {
    const last = Math.min(Math.max(Math.ceil(to) - 1, Math.floor(from)), data.n - 1);
    const first = Math.min(Math.floor(from), data.n - 1);
    if (last - first < 8) {
      let most = 0;
      for (let i = first; i <= last; i++) most = Math.max(most, softAt(i, buffer));
      return most;
    }
    if (data.events.some(([start, stop]) => start <= last && stop > first)) return 1;
    return Math.max(softAt(first, buffer), softAt((first + last) >> 1, buffer), softAt(last, buffer));
  };

  // ---- drawing ----
  const x = (point, width) => left + (point - range[0]) / (range[1] - range[0]) * (width - left);
  const shade = (pen, width, height, ink = "event") => {
    pen.fillStyle = color(ink);
    for (const [start, stop] of data.events) {
      if (stop < range[0] || start > range[1]) continue;
      const from = Math.max(x(start, width), left);
      pen.fillRect(from, 0, Math.max(Math.min(x(stop, width), width) - from, 1.5), height);
    }
  };
  const labeled = (pen, [high, low], height) => {
    pen.fillStyle = color("quiet");
    pen.textAlign = "right";
    if (high === low) { pen.fillText(high, left - 6, height / 2 + 4); return; }
    pen.fillText(high, left - 6, PAD + 8);
    pen.fillText(low, left - 6, height - PAD);
  };
  const upright = (height, flat) => (share) => flat ? height / 2 : height - PAD - share * (height - 2 * PAD);
  const drawLine = (line, threshold) => (pen, width, height, ink) => {
    const flat = line.low === line.high; // drawn in the middle
    const y = upright(height, flat);
    labeled(pen, formatPair(line.high, line.low), height);
    pen.save();
    pen.beginPath();
    pen.rect(left, 0, width - left, height);
    pen.clip();
    shade(pen, width, height);
    if (threshold !== undefined) {
      const level = flat ? 0 : (threshold - line.low) / (line.high - line.low);
      pen.strokeStyle = color("quiet");
      pen.setLineDash([5, 4]);
      pen.beginPath(); pen.moveTo(left, y(level)); pen.lineTo(width, y(level)); pen.stroke();
      pen.setLineDash([]);
    }
    pen.strokeStyle = ink;
    pen.lineWidth = 1.3;
    pen.beginPath();
    const per = line.bucket > 1 ? line.bucket / 2 : 1;
    const first = Math.max(Math.floor(range[0] / per) - 2, 0);
    const last = Math.min(Math.ceil(range[1] / per) + 2, line.numbers.length);
    const perPixel = (last - first) / (width - left);
    const center = (i) => x((i + 0.5) * per, width);
    if (perPixel <= 2) {
      let down = false;
      for (let i = first; i < last; i++) {
        const value = line.numbers[i];
        if (Number.isNaN(value)) { down = false; continue; }
        if (down) pen.lineTo(center(i), y(value)); else pen.moveTo(center(i), y(value));
        down = true;
      }
    } else {
      // One upright stroke per pixel, from the lowest to the highest value under it.
      for (let column = 0; column < width - left; column++) {
        let low = Infinity, high = -Infinity;
        const to = Math.min(Math.ceil(first + (column + 1) * perPixel) + 1, last);
        for (let i = Math.floor(first + column * perPixel); i < to; i++) {
          const value = line.numbers[i];
          if (value < low) low = value;
          if (value > high) high = value;
        }
        if (high < low) continue;
        const at = x((first + (column + 0.5) * perPixel) * per, width);
        pen.moveTo(at, y(low) + 0.5); pen.lineTo(at, y(high) - 0.5);
      }
    }
    pen.stroke();
    shade(pen, width, 4, "soft"); // where lines are dense they hide the shade behind them
    pen.restore();
  };
  const drawSoft = (pen, width, height, ink) => {
    const y = upright(height, false);
    labeled(pen, ["1", "0"], height);
    shade(pen, width, height);
    pen.strokeStyle = ink;
    pen.lineWidth = 1.5;
    pen.beginPath();
    const step = (range[1] - range[0]) / (width - left);
    for (let column = 0; column < width - left; column++) {
      const from = range[0] + column * step;
      const at = [left + column, y(softBetween(from, from + step))];
      if (column) pen.lineTo(...at); else pen.moveTo(...at);
    }
    pen.stroke();
  };
  // Points below the last track, the axis of all of them.
  const drawPoints = (width) => {
    const across = vuskit.scale({ low: range[0], high: range[1], from: left, to: width });
    const most = Math.max(Math.floor((width - left) / 110), 2);
    byId("points").replaceChildren(...across.ticks(most).filter(Number.isInteger).map((tick) => {
      const label = vuskit.element("span", { text: tick.toLocaleString("en") });
      const at = across(tick);
      label.style.left = `${at}px`;
      label.style.translate = at < left + 20 ? "0" : at > width - 30 ? "-100%" : "-50%";
      return label;
    }));
  };
  const widest = (pen) => Math.max(...tracks.flatMap(({ line }) => line ? formatPair(line.low, line.high) : ["0"])
    .map((text) => pen.measureText(text).width));
  const draw = () => {
    tracks.forEach(({ canvas, paint, ink }, k) => {
      const { pen, width, height } = prepare(canvas);
      if (k === 0) { left = Math.max(widest(pen) + 8, LEFT); drawPoints(width); }
      pen.strokeStyle = color("grid");
      pen.strokeRect(left, 0.5, width - left - 0.5, height - 1);
      paint(pen, width, height, ink());
    });
    byId("range").textContent = `points ${Math.round(range[0]).toLocaleString("en")} to ${Math.round(range[1]).toLocaleString("en")} of ${data.n.toLocaleString("en")}`;
  };

  // ---- range ----
  const setRange = (from, to) => {
    const size = Math.min(Math.max(to - from, Math.min(10, data.n)), data.n);
    const start = Math.min(Math.max(from, 0), data.n - size);
    range = [start, start + size];
    draw();
  };
  const showEvent = (k) => {
    const [start, stop] = data.events[k];
    const room = Math.max(3 * (stop - start), 2 * buffer, 50);
    setRange(start - room, stop + room);
  };
  const nearestEvent = (step) => {
    const middle = (range[0] + range[1]) / 2;
    const centers = data.events.map(([start, stop]) => (start + stop) / 2);
    if (!centers.length) return;
    const next = step > 0 ? centers.findIndex((c) => c > middle + 1) : centers.findLastIndex((c) => c < middle - 1);
    showEvent(next >= 0 ? next : step > 0 ? 0 : centers.length - 1);
  };
  const zoom = {
    in: () => { const [a, b] = range; setRange(a + (b - a) / 4, b - (b - a) / 4); },
    out: () => { const [a, b] = range; setRange(a - (b - a) / 2, b + (b - a) / 2); },
    left: () => { const [a, b] = range; setRange(a - (b - a) / 4, b - (b - a) / 4); },
    right: () => { const [a, b] = range; setRange(a + (b - a) / 4, b + (b - a) / 4); },
    all: () => setRange(0, data.n),
    next: () => nearestEvent(1),
    previous: () => nearestEvent(-1),
  };

  // ---- pointer and keys ----
  const KEYS = { ArrowLeft: "left", ArrowRight: "right", "+": "in", "=": "in", "-": "out", 0: "all" };
  const cross = vuskit.element("div", { class: "cross", hidden: true });
  const pointAt = (canvas, px) => {
    const share = (px - left) / (canvas.getBoundingClientRect().width - left);
    return range[0] + Math.min(Math.max(share, 0), 1) * (range[1] - range[0]);
  };
  const valueAt = ({ line }, point) => {
    if (!line) return format(softAt(point, buffer));
    const real = (share) => line.low + share * (line.high - line.low);
    if (line.bucket === 1) return Number.isNaN(line.numbers[point]) ? "no value" : format(real(line.numbers[point]));
    const k = 2 * Math.floor(point / line.bucket);
    return `${format(real(line.numbers[k]))} to ${format(real(line.numbers[k + 1]))} around it`;
  };
  const listen = (track) => {
    const { canvas, title } = track;
    let from = null;
    vuskit.tip(canvas, (px) => {
      if (from !== null || px < left) { cross.hidden = true; return null; }
      cross.hidden = false;
      cross.style.left = `${px}px`;
      const point = Math.min(Math.floor(pointAt(canvas, px)), data.n - 1);
      return `point ${point.toLocaleString("en")}\n${title}: ${valueAt(track, point)}`;
    });
    canvas.addEventListener("pointerleave", () => { cross.hidden = true; });
    const point = (event) => pointAt(canvas, event.clientX - canvas.getBoundingClientRect().left);
    canvas.addEventListener("pointerdown", (event) => { from = point(event); canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointercancel", () => { from = null; });
    canvas.addEventListener("pointermove", (event) => {
      if (from === null) return;
      draw();
      for (const other of tracks) {
        const box = other.canvas.getBoundingClientRect();
        const pen = other.canvas.getContext("2d");
        pen.fillStyle = color("focus");
        pen.globalAlpha = 0.25;
        const [a, b] = [x(from, box.width), x(point(event), box.width)];
        pen.fillRect(Math.min(a, b), 0, Math.abs(b - a), box.height);
        pen.globalAlpha = 1;
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const to = point(event);
      const [a, b] = [Math.min(from, to), Math.max(from, to)];
      from = null;
      if ((b - a) / (range[1] - range[0]) > 0.01) setRange(a, b); else draw();
    });
    canvas.addEventListener("dblclick", zoom.all);
    canvas.addEventListener("keydown", (event) => {
      if (!(event.key in KEYS)) return;
      event.preventDefault();
      zoom[KEYS[event.key]]();
    });
  };
  const addTrack = (title, kind, paint, ink, line = null) => {
    const canvas = vuskit.element("canvas", {
      tabindex: 0, role: "img", "aria-label": `${title}, drawn over time; arrows and plus, minus, 0 move the range`,
    });
    byId("lines").append(vuskit.element("div", { class: `track ${kind}` }, vuskit.element("p", { text: title }), canvas));
    const track = { title, canvas, paint, ink, line };
    tracks.push(track);
    listen(track);
  };

  byId("lines").classList.toggle("dense", data.scores.length > 8);
  if (data.values) {
    data.values.numbers ??= shares(data.values.data);
    addTrack("values", "values", drawLine(data.values), () => color("ink"), data.values);
  }
  data.scores.forEach((score, k) => {
    score.line.numbers ??= shares(score.line.data);
    addTrack(score.name, "score", drawLine(score.line, score.threshold), () => lineColor(k), score.line);
  });
  addTrack("soft label", "soft", drawSoft, () => color("soft"));
  byId("lines").append(vuskit.element("div", { id: "points", "aria-hidden": "true" }), cross);
  return { draw, zoom, showEvent, setBuffer: (length) => { buffer = length; draw(); } };
};

vuskit.view("series", (place, data) => {
  const { shares, color, lineColor, lineDash, heat, prepare } = vuskit;
  const byId = (id) => place.querySelector(`#${id}`);

  const lines = seriesLines(place, data);
  let buffer = data.buffer;

  // ---- R-AUC against buffer ----
  const drawAreas = (id, field) => {
    const { pen, width, height } = prepare(byId(id));
    const box = { left: 36, right: width - 8, top: 8, bottom: height - 34 };
    const across = vuskit.scale({ low: 0, high: Math.max(data.buffer, 1), from: box.left, to: box.right });
    const up = vuskit.scale({ low: 0, high: 1, from: box.bottom, to: box.top });
    vuskit.axes(pen, box, { x: across, y: up, xTitle: "buffer", xTicks: [...new Set([0, data.buffer])], yTicks: [0, 0.25, 0.5, 0.75, 1] });
    pen.strokeStyle = color("quiet");
    pen.beginPath(); pen.moveTo(across(buffer), box.top); pen.lineTo(across(buffer), box.bottom); pen.stroke();
    data.scores.forEach((score, k) => {
      pen.strokeStyle = lineColor(k);
      pen.setLineDash(lineDash(k));
      pen.lineWidth = 2;
      pen.beginPath();
      score[field].forEach((value, i) => {
        const at = [across(data.area_widths[i]), up(value)];
        if (i) pen.lineTo(...at); else pen.moveTo(...at);
      });
      if (score[field].length === 1) pen.arc(across(0), up(score[field][0]), 2, 0, 7);
      pen.stroke();
    });
  };
  const nearestIndex = (widths) => widths.reduce((best, w, i) => Math.abs(w - buffer) < Math.abs(widths[best] - buffer) ? i : best, 0);
  const drawLegend = () => {
    const i = nearestIndex(data.area_widths);
    byId("legend").replaceChildren(...data.scores.map((score, k) => {
      const swatch = vuskit.element("span", { class: "swatch" });
      swatch.style.borderColor = lineColor(k);
      swatch.style.borderTopStyle = ["solid", "dashed", "dotted", "double"][Math.floor(k / 8) % 4];
      const said = `${score.name}: R-AUC-ROC ${score.area_roc[i].toFixed(3)}, R-AUC-PR ${score.area_pr[i].toFixed(3)} at ${data.area_widths[i]}`;
      return vuskit.element("span", {}, swatch, vuskit.element("span", { text: said }));
    }));
  };

  // ---- surfaces ----
  let chosen = 0;
  const view = { turn: -0.85, tilt: 0.42 };
  const drawSurface = (id, field, bottom, upward) => {
    const { pen, width, height } = prepare(byId(id));
    const heights = data.scores[chosen][field];
    const rows = data.widths.length, columns = data.grid;
    const size = Math.min(width, height * 1.25) * 0.5;
    const [sinTurn, cosTurn, sinTilt, cosTilt] = [Math.sin(view.turn), Math.cos(view.turn), Math.sin(view.tilt), Math.cos(view.tilt)];
    const project = (a, b, c) => {
      const [u, v, w] = [a - 0.5, b - 0.5, (c - 0.5) * 0.8];
      const right = u * cosTurn - v * sinTurn;
      const away = u * sinTurn + v * cosTurn;
      return [width / 2 + right * size, height * 0.54 - (w * cosTilt + away * sinTilt) * size, away * cosTilt - w * sinTilt];
    };
    const path = (points) => {
      pen.beginPath();
      points.forEach(([px, py], i) => { if (i) pen.lineTo(px, py); else pen.moveTo(px, py); });
    };
    pen.strokeStyle = color("rule");
    path([project(0, 0, 0), project(1, 0, 0), project(1, 1, 0), project(0, 1, 0), project(0, 0, 0)]); pen.stroke();
    for (const [a, b] of [[0, 0], [1, 0], [0, 1], [1, 1]]) { path([project(a, b, 0), project(a, b, 1)]); pen.stroke(); }
    const along = (j) => data.widths[j] / Math.max(data.buffer, 1);
    const corner = (i, j) => project(i / (columns - 1), along(j), heights[j * columns + i]);
    const quads = [];
    for (let j = 0; j + 1 < rows; j++) for (let i = 0; i + 1 < columns; i++) {
      const corners = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
      const mean = (heights[j * columns + i] + heights[(j + 1) * columns + i + 1]) / 2;
      quads.push({ corners, mean, depth: corners[0][2] + corners[2][2], i, j });
    }
    quads.sort((one, other) => other.depth - one.depth);
    const mesh = { i: Math.round((columns - 1) / 6), j: Math.max(Math.round((rows - 1) / 5), 1) };
    for (const { corners, mean, i, j } of quads) {
      pen.fillStyle = heat(mean);
      pen.strokeStyle = pen.fillStyle;
      pen.lineWidth = 0.6;
      path(corners); pen.closePath(); pen.fill(); pen.stroke();
      pen.strokeStyle = "rgba(0, 0, 0, 0.4)";
      if (i % mesh.i === 0) { path([corners[0], corners[3]]); pen.stroke(); }
      if (j % mesh.j === 0) { path([corners[0], corners[1]]); pen.stroke(); }
    }
    const ridge = nearestIndex(data.widths);
    pen.strokeStyle = color("ink");
    pen.lineWidth = 2.5;
    path(Array.from({ length: columns }, (_, i) => corner(i, ridge))); pen.stroke();
    pen.fillStyle = color("ink");
    pen.textAlign = "center";
    const write = (text, a, b, c) => { const [px, py] = project(a, b, c); pen.fillText(text, px, py); };
    write(bottom, 0.5, -0.17, 0); write("0", 0, -0.08, 0); write("1", 1, -0.08, 0);
    write("buffer", 1.2, 0.5, 0); write(data.buffer.toLocaleString("en"), 1.09, 1, 0);
    write(upward, 0, 1, 1.12); write("1", -0.05, -0.05, 1);
  };
  const gutter = (pen) => Math.max(36, pen.measureText(data.buffer.toLocaleString("en")).width + 8);
  const drawMap = (id, field, bottom) => {
    const { pen, width, height } = prepare(byId(id));
    const heights = data.scores[chosen][field];
    const rows = data.widths.length, columns = data.grid;
    const box = { left: gutter(pen), right: width - 8, top: 8, bottom: height - 32 };
    const up = vuskit.scale({ low: 0, high: Math.max(data.buffer, 1), from: box.bottom, to: box.top });
    const w = (box.right - box.left) / columns;
    // A row reaches half way to its neighbors: the last step may be shorter than the others.
    const edges = [box.bottom, ...data.widths.slice(1).map((wide, j) => up((wide + data.widths[j]) / 2)), box.top];
    for (let j = 0; j < rows; j++) for (let i = 0; i < columns; i++) {
      pen.fillStyle = heat(heights[j * columns + i]);
      pen.fillRect(box.left + i * w, edges[j + 1], w + 0.6, edges[j] - edges[j + 1] + 0.6);
    }
    const at = Math.min(Math.max(up(buffer), box.top + 1), box.bottom - 1);
    pen.strokeStyle = "#ffffff"; pen.lineWidth = 4;
    pen.beginPath(); pen.moveTo(box.left, at); pen.lineTo(box.right, at); pen.stroke();
    pen.strokeStyle = "#000000"; pen.lineWidth = 1.5; pen.stroke();
    pen.fillStyle = color("quiet");
    pen.textAlign = "right";
    pen.fillText(data.buffer.toLocaleString("en"), box.left - 4, box.top + 10);
    pen.fillText("0", box.left - 4, box.bottom);
    pen.textAlign = "left"; pen.fillText("0", box.left, box.bottom + 14);
    pen.textAlign = "right"; pen.fillText("1", box.right, box.bottom + 14);
    pen.textAlign = "center"; pen.fillText(bottom, (box.left + box.right) / 2, box.bottom + 26);
    pen.save(); pen.translate(12, (box.top + box.bottom) / 2); pen.rotate(-Math.PI / 2); pen.fillText("buffer", 0, 0); pen.restore();
  };
  const drawScale = () => {
    const { pen, width, height } = prepare(byId("scale"));
    for (let i = 0; i < width; i++) { pen.fillStyle = heat(i / width); pen.fillRect(i, 0, 1.5, height); }
  };
  const drawSurfaces = () => {
    drawSurface("roc-3d", "roc", "false-positive rate", "true-positive rate");
    drawSurface("pr-3d", "pr", "recall", "precision");
    drawMap("roc-map", "roc", "false-positive rate");
    drawMap("pr-map", "pr", "recall");
  };
  const drawBuffer = () => { drawAreas("area-roc", "area_roc"); drawAreas("area-pr", "area_pr"); drawLegend(); drawSurfaces(); };
  const drawAll = () => { lines.draw(); drawBuffer(); drawScale(); };

  // ---- copying ----
  vuskit.copies(place, {
    measures: () => vuskit.tableRows(byId("measures")),
    events: () => vuskit.tableRows(byId("events")),
    areas: () => [["score", "buffer", "range_auc_roc", "range_auc_pr"], ...data.scores.flatMap((s) => data.area_widths.map((w, i) => [s.name, w, s.area_roc[i], s.area_pr[i]]))],
    surface: () => [["score", "buffer", "place", "tpr_at_fpr", "precision_at_recall"], ...data.widths.flatMap((w, j) => Array.from({ length: data.grid }, (_, i) => [
      data.scores[chosen].name, w, (i / (data.grid - 1)).toFixed(4), data.scores[chosen].roc[j * data.grid + i].toFixed(6), data.scores[chosen].pr[j * data.grid + i].toFixed(6)]))],
  });

  // ---- put together ----
  data.scores.forEach((score, k) => {
    for (const field of ["roc", "pr"]) if (typeof score[field] === "string") score[field] = shares(score[field]);
    byId("surface-score").append(new Option(score.name, String(k)));
  });
  const slider = byId("buffer");
  slider.max = String(data.buffer);
  slider.value = String(data.buffer);
  byId("buffer-value").textContent = String(data.buffer);
  slider.addEventListener("input", () => {
    buffer = Number(slider.value);
    byId("buffer-value").textContent = slider.value;
    lines.setBuffer(buffer);
    drawBuffer();
  });
  byId("surface-score").addEventListener("change", (event) => { chosen = Number(event.target.value); drawSurfaces(); });
  for (const button of place.querySelectorAll("[data-zoom]")) button.addEventListener("click", lines.zoom[button.dataset.zoom]);
  for (const button of place.querySelectorAll("[data-event]")) button.addEventListener("click", () => {
    lines.showEvent(Number(button.dataset.event));
    byId("lines").scrollIntoView({ block: "center" });
  });
  for (const id of ["roc-3d", "pr-3d"]) {
    const canvas = byId(id);
    let last = null;
    canvas.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { last = null; });
    const turn = (right, up) => {
      view.turn += right;
      view.tilt = Math.min(Math.max(view.tilt + up, 0.05), 1.5);
      drawSurfaces();
    };
    canvas.addEventListener("pointermove", (event) => {
      if (last === null) return;
      turn((event.clientX - last[0]) / 150, (event.clientY - last[1]) / 150);
      last = [event.clientX, event.clientY];
    });
    const steps = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
    canvas.addEventListener("keydown", (event) => {
      if (!(event.key in steps)) return;
      event.preventDefault();
      turn(...steps[event.key]);
    });
  }
  return { draw: drawAll };
});
