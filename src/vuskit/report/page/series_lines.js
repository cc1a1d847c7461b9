"use strict";
/* Values, scores and soft label of a series, one track each over the same range of points.

     const lines = seriesLines(place, data)     data: drawing_data.py
     lines.draw(), lines.setBuffer(length), lines.showEvent(k), lines.zoom.in() ...                */
const seriesLines = (place, data) => {
  const { format, formatPair, colour, lineColour, prepare, shares } = vuskit;
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
    pen.fillStyle = colour(ink);
    for (const [start, stop] of data.events) {
      if (stop < range[0] || start > range[1]) continue;
      const from = Math.max(x(start, width), left);
      pen.fillRect(from, 0, Math.max(Math.min(x(stop, width), width) - from, 1.5), height);
    }
  };
  const labelled = (pen, [high, low], height) => {
    pen.fillStyle = colour("quiet");
    pen.textAlign = "right";
    if (high === low) { pen.fillText(high, left - 6, height / 2 + 4); return; }
    pen.fillText(high, left - 6, PAD + 8);
    pen.fillText(low, left - 6, height - PAD);
  };
  const upright = (height, flat) => (share) => flat ? height / 2 : height - PAD - share * (height - 2 * PAD);
  const drawLine = (line, threshold) => (pen, width, height, ink) => {
    const flat = line.low === line.high; // drawn in the middle
    const y = upright(height, flat);
    labelled(pen, formatPair(line.high, line.low), height);
    pen.save();
    pen.beginPath();
    pen.rect(left, 0, width - left, height);
    pen.clip();
    shade(pen, width, height);
    if (threshold !== undefined) {
      const level = flat ? 0 : (threshold - line.low) / (line.high - line.low);
      pen.strokeStyle = colour("quiet");
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
    const centre = (i) => x((i + 0.5) * per, width);
    if (perPixel <= 2) {
      let down = false;
      for (let i = first; i < last; i++) {
        const value = line.numbers[i];
        if (Number.isNaN(value)) { down = false; continue; }
        if (down) pen.lineTo(centre(i), y(value)); else pen.moveTo(centre(i), y(value));
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
    labelled(pen, ["1", "0"], height);
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
      pen.strokeStyle = colour("grid");
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
    const centres = data.events.map(([start, stop]) => (start + stop) / 2);
    if (!centres.length) return;
    const next = step > 0 ? centres.findIndex((c) => c > middle + 1) : centres.findLastIndex((c) => c < middle - 1);
    showEvent(next >= 0 ? next : step > 0 ? 0 : centres.length - 1);
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
        pen.fillStyle = colour("focus");
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
    addTrack("values", "values", drawLine(data.values), () => colour("ink"), data.values);
  }
  data.scores.forEach((score, k) => {
    score.line.numbers ??= shares(score.line.data);
    addTrack(score.name, "score", drawLine(score.line, score.threshold), () => lineColour(k), score.line);
  });
  addTrack("soft label", "soft", drawSoft, () => colour("soft"));
  byId("lines").append(vuskit.element("div", { id: "points", "aria-hidden": "true" }), cross);
  return { draw, zoom, showEvent, setBuffer: (length) => { buffer = length; draw(); } };
};
