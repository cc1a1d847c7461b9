"use strict";
/* Charts as SVG. A drawing is one stop of the Tab key; the arrow keys walk over its
   marks and read out their values, as the pointer does; Enter and clicks choose a mark's measure.

     const draw = charts.plot(holder, label, choose)
     draw(height, (canvas) => ...)      canvas: {root, width, height, mark, text, shape}

   Everything else here draws on such a plot, or makes a table. Items are {name, title, color, ...};
   `charts.faint(name)` tells which ones stand back while others are chosen.                  */
const charts = (() => {
  const { element } = vuskit;
  const NS = "http://www.w3.org/2000/svg";
  const ROW = 22;
  const FONT = "12px system-ui, sans-serif";
  const charts = { faint: () => false, lit: () => false };

  const svg = (tag, about = {}, ...children) => {
    const made = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(about)) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "text") made.textContent = value; else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  };
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = FONT;
  const widthOf = (text) => ruler.measureText(text).width;
  const shortened = (text, room) => vuskit.fitted(ruler, text, room);
  // Six digits, without the noise of binary fractions; infinite numbers come as text.
  const exact = (value) => value === null || value === undefined || Number.isNaN(value) ? "undefined"
    : typeof value === "number" ? String(Number(value.toPrecision(6))) : value.replace("inf", "infinite");
  const known = (value) => typeof value === "number" && Number.isFinite(value);
  const short = (value) => !known(value) ? exact(value) : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en")
    : String(Number(value.toPrecision(3)));

  // ---- a drawing: pointer, keys, tooltip ----
  const tip = document.getElementById("tip");
  const showTip = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const most = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(Math.min(x + 12, most), 8) + window.scrollX}px`;
    tip.style.top = `${y + 14 + window.scrollY}px`;
  };
  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  charts.plot = (holder, label, choose = () => {}) => {
    let marks = [];
    let current = -1;
    const hide = () => { tip.hidden = true; for (const { node } of marks) node.classList.remove("current"); };
    const under = (event) => {
      const node = event.target.closest?.("[data-mark]");
      return node ? marks[Number(node.dataset.mark)] : undefined;
    };
    holder.classList.add("plot");
    holder.tabIndex = 0;
    holder.setAttribute("role", "group");
    holder.setAttribute("aria-label", `${label}; arrow keys read its values`);
    holder.addEventListener("pointerleave", hide);
    holder.addEventListener("blur", hide);
    // The text of a mark may depend on the place under the pointer, as along a curve.
    const textOf = (mark, event) => typeof mark.text === "string" ? mark.text
      : mark.text(event ? event.clientX - holder.getBoundingClientRect().left : undefined);
    holder.addEventListener("pointermove", (event) => {
      const mark = under(event);
      if (mark) showTip(textOf(mark, event), event.clientX, event.clientY); else hide();
    });
    holder.addEventListener("click", (event) => {
      const mark = under(event);
      const name = mark?.name ?? event.target.closest?.("[data-name]")?.dataset.name;
      if (name) choose(name);
      if (mark) showTip(textOf(mark, event), event.clientX, event.clientY);
    });
    holder.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { hide(); return; }
      if (!marks.length) return;
      if ((event.key === "Enter" || event.key === " ") && marks[current]?.name) {
        event.preventDefault();
        choose(marks[current].name);
        return;
      }
      if (!(event.key in STEPS) && event.key !== "Home" && event.key !== "End") return;
      event.preventDefault();
      hide();
      current = event.key === "Home" ? 0 : event.key === "End" ? marks.length - 1
        : Math.min(Math.max(current + STEPS[event.key], 0), marks.length - 1);
      const { node } = marks[current];
      const text = textOf(marks[current]);
      node.classList.add("current");
      const box = node.getBoundingClientRect();
      showTip(text, box.right, box.bottom);
      vuskit.tell(text);
    });
    return (wanted, build) => {
      const width = Math.max(holder.clientWidth, 200);
      const height = typeof wanted === "function" ? wanted(width) : wanted;
      const root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
      marks = [];
      current = Math.min(current, 0);
      const mark = (node, text, name) => {
        node.dataset.mark = String(marks.length);
        marks.push({ node, text, name });
        return node;
      };
      const shape = (tag, about, parent = root) => parent.appendChild(svg(tag, about));
      const text = (x, y, words, about = {}) => shape("text", { x, y, text: words, ...about });
      build({ root, width, height, mark, shape, text });
      holder.replaceChildren(root);
    };
  };

  // ---- rows: one line for each measure, its name on the left ----
  const labelRoom = (items, width) => Math.min(Math.max(...items.map(({ title }) => widthOf(title)), 20) + 10, width * 0.42);
  const rule = ({ shape, text }, x, top, bottom, title, right) => {
    for (const tick of x.ticks(right - x(x.low) < 260 ? 3 : 5)) {
      shape("line", { x1: x(tick), x2: x(tick), y1: top, y2: bottom, class: "grid" });
      text(Math.min(x(tick), right - 6), bottom + 14, short(tick), { "text-anchor": "middle" });
    }
    if (title) text((x(x.low) + right) / 2, bottom + 30, title, { "text-anchor": "middle" });
  };
  const names = (canvas, items, left, center) => items.forEach((item, k) => {
    const label = canvas.text(left - 8, center(k) + 4, shortened(item.title, left - 10), {
      "text-anchor": "end", class: charts.lit(item.name) ? "lit name" : "name",
    });
    if (item.name) label.dataset.name = item.name;
  });
  const tone = (item, more = "") => `${charts.faint(item.name) ? "faint " : ""}${more}`.trim() || null;

  charts.bars = (draw, items, { low = 0, high, title = "", row = ROW } = {}) => {
    const bottom = items.length * row + 6;
    draw(bottom + (title ? 36 : 20), (canvas) => {
      const left = labelRoom(items, canvas.width);
      const right = canvas.width - 58;
      const top = Math.max(high ?? 0, ...items.map(({ value }) => known(value) ? value : 0)) || 1;
      const x = vuskit.scale({ low, high: top, from: left, to: right });
      rule(canvas, x, 2, bottom, title, canvas.width);
      items.forEach((item, k) => {
        const y = 4 + k * row;
        const length = known(item.value) ? Math.max(x(Math.max(item.value, low)) - left, 0.5) : 0;
        const bar = canvas.shape("rect", { x: left, y: y + 2, width: length, height: row - 5, fill: item.color, class: tone(item, "bar") });
        canvas.mark(bar, `${item.title}\n${item.text ?? exact(item.value)}`, item.name);
        canvas.text(left + length + 5, y + row / 2 + 3, short(item.value), { class: "value" });
      });
      names(canvas, items, left, (k) => 4 + k * row + row / 2 - 1);
    });
  };

  // Items hold `boxes`: [{box: [five numbers], outliers, color, text}], drawn below each other.
  charts.boxes = (draw, items, { title = "", low, high } = {}) => {
    const most = Math.max(...items.map(({ boxes }) => boxes.length), 1);
    const row = most > 1 ? 16 * most + 4 : ROW;
    const bottom = items.length * row + 6;
    draw(bottom + 36, (canvas) => {
      const left = labelRoom(items, canvas.width);
      const right = canvas.width - 12;
      const all = items.flatMap(({ boxes }) => boxes.flatMap(({ box }) => box.filter(known)));
      const x = vuskit.scale({ low: low ?? Math.min(...all, 0), high: high ?? Math.max(...all, low === undefined ? 1e-9 : 1), from: left + 4, to: right });
      rule(canvas, x, 2, bottom, title, right);
      if (most > 1) items.slice(1).forEach((_, k) => canvas.shape("path", { d: `M0 ${3 + (k + 1) * row}H${right}`, class: "grid" }));
      items.forEach((item, k) => item.boxes.forEach(({ box, outliers = [], color, text }, j) => {
        const thick = row / item.boxes.length;
        const middle = 4 + k * row + thick * (j + 0.5) - 1;
        const group = canvas.shape("g", { class: tone(item) });
        if (!known(box[2])) {
          group.append(svg("text", { x: left + 8, y: middle + 4, text: "undefined" }));
        } else {
          const [a, b, c, d, e] = box.map(x);
          const half = Math.min(thick, ROW) / 2 - 3;
          group.append(
            svg("rect", { x: left, y: middle - half - 2, width: right - left, height: 2 * half + 4, class: "touch" }),
            svg("path", { d: `M${a} ${middle}H${b}M${d} ${middle}H${e}M${a} ${middle - 4}V${middle + 4}M${e} ${middle - 4}V${middle + 4}`, class: "whisker" }),
            svg("rect", { x: b, y: middle - half, width: Math.max(d - b, 1), height: 2 * half, fill: color, class: "bar" }),
            svg("path", { d: `M${c} ${middle - half}V${middle + half}`, class: "median" }),
            // Axes end at the whiskers, so that boxes can be seen; the label counts what is outside.
            ...outliers.filter((value) => x(value) >= left && x(value) <= right).map((value) => svg("circle", { cx: x(value), cy: middle, r: 1.5, class: "outlier" })),
          );
        }
        canvas.mark(group, `${item.title}${text ? `, ${text}` : ""}\n${known(box[2])
          ? `median ${exact(box[2])}\nquartiles ${exact(box[1])} to ${exact(box[3])}\nwhiskers ${exact(box[0])} to ${exact(box[4])}${outliers.length ? `\n${outliers.length} beyond the whiskers` : ""}` : "undefined"}`, item.name);
      }));
      names(canvas, items, left, (k) => 4 + k * row + row / 2 - 1);
    });
  };

  // ---- mean ranks, and bars over those that do not differ ----
  charts.ranks = (draw, items, groups) => {
    const sorted = items.map((item) => ({ ...item, lower: item.lower ?? item.rank, upper: item.upper ?? item.rank })).sort((one, other) => one.rank - other.rank);
    // Of those that are shown; what is left of one group may be part of another.
    const shown = groups.map((group) => sorted.flatMap(({ name }, k) => group.includes(name) ? [k] : []));
    const apart = shown.filter((group, k) => !shown.some((other, j) => j !== k && (other.length > group.length || j < k) && group.every((place) => other.includes(place))));
    const linesOf = (bars) => Math.max(0, ...bars.map(({ line }) => line + 1));
    const across = vuskit.rankBars(apart, sorted.map(({ rank }) => rank));
    const down = vuskit.rankBars(apart, sorted.map((_, k) => k));
    const join = (canvas, d, group) => canvas.mark(canvas.shape("path", { d, class: "joined" }), `no two differ significantly:\n${group.map((place) => sorted[place].title).join(", ")}`);
    const told = (item) => `${item.title}\nmean rank ${exact(item.rank)}${item.lower < item.upper ? `\n95 % interval ${exact(item.lower)} to ${exact(item.upper)}` : ""}`;
    const wide = (canvas) => {
      const last = Math.ceil(Math.max(...sorted.map(({ upper }) => upper), 2));
      const half = Math.ceil(sorted.length / 2);
      const sides = [sorted.slice(0, half), sorted.slice(half)].map((side) => Math.max(...side.map(({ title }) => widthOf(`${title} (00.00)`) * 1.1), 0) + 28);
      const x = vuskit.scale({ low: 1, high: last, from: sides[0], to: canvas.width - sides[1] });
      const axis = 24;
      canvas.shape("path", { d: `M${x(1)} ${axis}H${x(last)}`, class: "axis" });
      for (let rank = 1; rank <= last; rank++) {
        canvas.shape("path", { d: `M${x(rank)} ${axis}v-6`, class: "axis" });
        canvas.text(x(rank), axis - 10, String(rank), { "text-anchor": "middle" });
      }
      canvas.text(x(1) - 10, axis + 4, "mean rank", { "text-anchor": "end" });
      const start = axis + 14 + linesOf(across) * 7;
      for (const { group, line, from, to } of across) join(canvas, `M${x(from)} ${axis + 9 + line * 7}H${x(to)}`, group);
      sorted.forEach((item, k) => {
        const onLeft = k < half;
        const y = start + (onLeft ? k : sorted.length - 1 - k) * 20 + 10;
        const end = onLeft ? 0 : canvas.width;
        const group = canvas.shape("g", { class: "elbow" });
        const words = onLeft ? `${item.title} (${item.rank.toFixed(2)})` : `(${item.rank.toFixed(2)}) ${item.title}`;
        const room = widthOf(words) * 1.1 + 12; // bold when chosen
        const edge = onLeft ? room : canvas.width - room;
        group.append(
          svg("path", { d: `M${x(item.rank)} ${axis}V${y}H${edge}`, class: tone(item, "whisker") }),
          svg("circle", { cx: x(item.rank), cy: axis, r: 4, fill: item.color, class: tone(item, "bar") }),
          svg("circle", { cx: edge, cy: y, r: 4, fill: item.color, class: tone(item, "bar") }),
          svg("text", { x: end, y: y + 4, text: words, "text-anchor": onLeft ? "start" : "end", class: charts.lit(item.name) ? "lit" : null }),
        );
        canvas.mark(group, told(item), item.name);
      });
    };
    // Turned on its side where there is no room for names on both sides: one row for each measure.
    const narrow = (canvas) => {
      const left = labelRoom(sorted, canvas.width);
      const right = canvas.width - 14 - linesOf(down) * 9;
      const high = Math.max(...sorted.map(({ upper }) => upper), 2);
      const x = vuskit.scale({ low: 1, high, from: left + 6, to: right - 8 });
      const bottom = sorted.length * ROW + 6;
      const center = (k) => 4 + k * ROW + ROW / 2;
      rule(canvas, x, 2, bottom, "mean rank, 95 % interval", right);
      sorted.forEach((item, k) => {
        const group = canvas.shape("g", { class: tone(item) });
        group.append(
          svg("path", { d: `M${x(item.lower)} ${center(k)}H${x(item.upper)}`, class: "whisker" }),
          svg("circle", { cx: x(item.rank), cy: center(k), r: 5, fill: item.color, class: "bar" }),
        );
        canvas.mark(group, told(item), item.name);
      });
      names(canvas, sorted, left, center);
      for (const { group, line } of down) join(canvas, `M${right + 8 + line * 9} ${center(group[0]) - 6}V${center(group.at(-1)) + 6}`, group);
    };
    const half = Math.ceil(sorted.length / 2);
    const tall = sorted.length * ROW + 42;
    draw((width) => width < 560 ? tall : 24 + 14 + linesOf(across) * 7 + half * 20 + 16, (canvas) => (canvas.width < 560 ? narrow : wide)(canvas));
  };

  // ---- curves ----
  const bent = ({ kind, low, high, from, to }) => {
    if (kind === "log") return vuskit.scale({ low, high, from, to, log: true });
    if (kind !== "symlog") return vuskit.scale({ low, high, from, to });
    // Logarithmic far from 0, straight near it.
    const bend = (value) => Math.asinh(value / 5);
    const at = (value) => from + (bend(value) - bend(low)) / (bend(high) - bend(low) || 1) * (to - from);
    at.low = low;
    at.high = high;
    at.ticks = () => [0, 10, 100, 1000, 10000].filter((value) => value >= low && value <= high);
    return at;
  };
  const spread = (numbers, kind) => {
    const found = numbers.filter((value) => known(value) && (kind !== "log" || value > 0));
    const [low, high] = [Math.min(...found), Math.max(...found)];
    if (!found.length) return [kind === "log" ? 0.1 : 0, 1];
    if (low < high) return [low, high];
    return kind === "log" ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  };
  const power = (value) => value >= 1e6 || (value > 0 && value < 1e-3) ? value.toExponential(0).replace("e+", "e") : short(value);

  // Curves: {name, title, color, dash, points: [[x, y]], shade: [[x, low, high]], dots: [[x, y]], text}.
  charts.lines = (draw, curves, { height = 300, x: across, y: upward, upright = [], marks = true }) => {
    draw(height, (canvas) => {
      const box = { left: 54, right: canvas.width - 14, top: 10, bottom: height - 44 };
      const all = curves.flatMap(({ points, dots = [] }) => [...points, ...dots]);
      const [xLow, xHigh] = across.range ?? spread(all.map(([a]) => a), across.kind);
      const [yLow, yHigh] = upward.range ?? spread(all.map(([, b]) => b), upward.kind);
      const x = bent({ ...across, low: xLow, high: xHigh, from: box.left + 6, to: box.right - 6 });
      const y = bent({ ...upward, low: yLow, high: yHigh, from: box.bottom - 4, to: box.top + 4 });
      for (const tick of y.ticks(5)) {
        canvas.shape("line", { x1: box.left, x2: box.right, y1: y(tick), y2: y(tick), class: "grid" });
        canvas.text(box.left - 6, y(tick) + 4, power(tick), { "text-anchor": "end" });
      }
      let after = -Infinity;
      for (const tick of x.ticks(box.right - box.left < 300 ? 4 : 6)) {
        canvas.shape("line", { x1: x(tick), x2: x(tick), y1: box.top, y2: box.bottom, class: "grid" });
        const words = power(tick);
        const half = widthOf(words) / 2;
        const at = Math.min(x(tick), canvas.width - half - 1); // the last one stays inside
        if (at - half < after) continue;
        after = at + half + 6;
        canvas.text(at, box.bottom + 15, words, { "text-anchor": "middle" });
      }
      canvas.text((box.left + box.right) / 2, box.bottom + 34, across.title, { "text-anchor": "middle" });
      if (upward.title) canvas.text(-(box.top + box.bottom) / 2, 12, upward.title, { "text-anchor": "middle", transform: "rotate(-90)" });
      for (const { at, kind } of upright) canvas.shape("line", { x1: x(at), x2: x(at), y1: box.top, y2: box.bottom, class: kind });
      for (const curve of curves) {
        const fits = curve.points.filter(([a, b]) => known(a) && known(b) && (upward.kind !== "log" || b > 0) && (across.kind !== "log" || a > 0));
        const path = (points) => points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
        const shade = (curve.shade ?? []).filter((parts) => parts.every(known) && (upward.kind !== "log" || parts[1] > 0));
        if (shade.length > 1) {
          const outline = `${path(shade.map(([a, , c]) => [a, c]))}${path(shade.map(([a, b]) => [a, b]).reverse()).replace("M", "L")}Z`;
          canvas.shape("path", { d: outline, fill: curve.color, class: tone(curve, "shade") });
        }
        const dots = (curve.dots ?? []).filter(([a, b]) => b > 0 && (across.kind !== "log" || a > 0));
        if (dots.length) canvas.shape("path", { d: dots.map(([a, b]) => `M${x(a).toFixed(1)} ${y(b).toFixed(1)}h0`).join(""), stroke: curve.color, class: tone(curve, "dots") });
        canvas.shape("path", { d: path(fits), stroke: curve.color, "stroke-dasharray": curve.dash || null, class: tone(curve, charts.lit(curve.name) ? "line lit" : "line") });
        if (!marks) {
          // A wide unseen stroke is easier to meet; the nearest point tells its value.
          const nearest = (px) => fits.reduce((best, point) => Math.abs(x(point[0]) - px) < Math.abs(x(best[0]) - px) ? point : best);
          const reach = canvas.shape("path", { d: path(fits), class: "reach" });
          const told = (px) => {
            const [a, b] = nearest(px ?? x(across.at ?? xHigh));
            return `${curve.title}\n${across.title} ${exact(a)}\n${upward.title} ${exact(b)}`;
          };
          if (fits.length) canvas.mark(reach, told, curve.name);
          continue;
        }
        for (const [a, b] of fits) {
          const dot = canvas.shape("circle", { cx: x(a), cy: y(b), r: 3.5, fill: curve.color, class: tone(curve, "dot") });
          canvas.mark(dot, `${curve.title}\n${across.title} ${exact(a)}\n${upward.title ? `${upward.title} ` : ""}${exact(b)}${curve.text ? `\n${curve.text(a)}` : ""}`, curve.name);
        }
      }
    });
  };

  // ---- circles with names ----
  charts.scatter = (draw, items, { height = 420, xTitle, yTitle }) => {
    draw(height, (canvas) => {
      const box = { left: 54, right: canvas.width - 10, top: 10, bottom: height - 44 };
      const largest = Math.max(...items.map(({ size }) => known(size) ? size : 0)) || 1;
      const radius = ({ size }) => 4 + 18 * Math.sqrt((known(size) ? size : 0) / largest);
      const shown = items.filter((item) => known(item.x) && known(item.y));
      const [xHigh, yHigh] = [Math.max(...shown.map((item) => item.x)), Math.max(...shown.map((item) => item.y))];
      const [xLow, yLow] = [Math.min(...shown.map((item) => item.x)), Math.min(...shown.map((item) => item.y))];
      const [xPad, yPad] = [(xHigh - xLow || 1) * 0.14, (yHigh - yLow || 1) * 0.12];
      const x = vuskit.scale({ low: xLow - xPad, high: xHigh + xPad, from: box.left, to: box.right });
      const y = vuskit.scale({ low: yLow - yPad, high: yHigh + yPad, from: box.bottom, to: box.top });
      for (const tick of y.ticks(5)) {
        canvas.shape("line", { x1: box.left, x2: box.right, y1: y(tick), y2: y(tick), class: "grid" });
        canvas.text(box.left - 6, y(tick) + 4, short(tick), { "text-anchor": "end" });
      }
      for (const tick of x.ticks(canvas.width < 500 ? 3 : 6)) {
        canvas.shape("line", { x1: x(tick), x2: x(tick), y1: box.top, y2: box.bottom, class: "grid" });
        canvas.text(x(tick), box.bottom + 15, short(tick), { "text-anchor": "middle" });
      }
      canvas.text((box.left + box.right) / 2, box.bottom + 34, shortened(xTitle, box.right - box.left), { "text-anchor": "middle" });
      canvas.text(-(box.top + box.bottom) / 2, 12, yTitle, { "text-anchor": "middle", transform: "rotate(-90)" });
      const taken = [];
      for (const item of [...shown].sort((one, other) => radius(other) - radius(one))) {
        const dot = canvas.shape("circle", { cx: x(item.x), cy: y(item.y), r: radius(item), fill: item.color, class: tone(item, "circle") });
        canvas.mark(dot, item.text, item.name);
      }
      for (const item of shown) {
        const wide = widthOf(item.title);
        const [cx, cy, r] = [x(item.x), y(item.y), radius(item)];
        // The first free place around the circle, ever farther out.
        const places = [0, 14, 28, 42, 56].flatMap((away) => [[cx + r + 3, cy + 4 - away], [cx - r - 3 - wide, cy + 4 - away],
          [cx + r + 3, cy + 4 + away], [cx - r - 3 - wide, cy + 4 + away], [cx - wide / 2, cy - r - 4 - away], [cx - wide / 2, cy + r + 13 + away]]);
        const free = ([px, py]) => px > box.left && px + wide < box.right && py - 11 > box.top && py < box.bottom
          && !taken.some(([a, b, w]) => px < a + w + 3 && a < px + wide + 3 && Math.abs(py - b) < 14);
        const [px, py] = places.find(free) ?? places[0];
        taken.push([px, py, wide]);
        if (Math.abs(py - 4 - cy) > r + 16) canvas.shape("path", { d: `M${cx} ${cy}L${px + (px > cx ? 0 : wide)} ${py - 4}`, class: "whisker" });
        canvas.text(px, py, item.title, { class: charts.lit(item.name) ? "lit name halo" : "name halo" }).dataset.name = item.name;
      }
    });
  };

  return Object.assign(charts, { svg, exact, short, known, widthOf, ROW });
})();
