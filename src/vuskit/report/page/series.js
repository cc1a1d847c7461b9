"use strict";
/* The view of one series: its lines over time (series_lines.js), R-AUC against buffer, surfaces.
   Its markup is series.html, its data drawing_data.py.                                          */
vuskit.view("series", (place, data) => {
  const { shares, colour, lineColour, lineDash, heat, prepare } = vuskit;
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
    pen.strokeStyle = colour("quiet");
    pen.beginPath(); pen.moveTo(across(buffer), box.top); pen.lineTo(across(buffer), box.bottom); pen.stroke();
    data.scores.forEach((score, k) => {
      pen.strokeStyle = lineColour(k);
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
      swatch.style.borderColor = lineColour(k);
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
    pen.strokeStyle = colour("rule");
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
    pen.strokeStyle = colour("ink");
    pen.lineWidth = 2.5;
    path(Array.from({ length: columns }, (_, i) => corner(i, ridge))); pen.stroke();
    pen.fillStyle = colour("ink");
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
    // A row reaches half way to its neighbours: the last step may be shorter than the others.
    const edges = [box.bottom, ...data.widths.slice(1).map((wide, j) => up((wide + data.widths[j]) / 2)), box.top];
    for (let j = 0; j < rows; j++) for (let i = 0; i < columns; i++) {
      pen.fillStyle = heat(heights[j * columns + i]);
      pen.fillRect(box.left + i * w, edges[j + 1], w + 0.6, edges[j] - edges[j + 1] + 0.6);
    }
    const at = Math.min(Math.max(up(buffer), box.top + 1), box.bottom - 1);
    pen.strokeStyle = "#ffffff"; pen.lineWidth = 4;
    pen.beginPath(); pen.moveTo(box.left, at); pen.lineTo(box.right, at); pen.stroke();
    pen.strokeStyle = "#000000"; pen.lineWidth = 1.5; pen.stroke();
    pen.fillStyle = colour("quiet");
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
