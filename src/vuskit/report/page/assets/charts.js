"use strict";
/* The chart layer of all pages: drawings with hover values, keyboard access, legends, linked zoom and export.
   Colors follow the theme; the page repaints when the size, the theme or the medium (print) changes.

   SVG drawings. Each is one Tab stop; arrow keys step through the marks and announce their values, as hovering
   does; Enter and clicks choose the name of a mark.

     const draw = charts.plot(holder, label, choose)
     draw(height, (canvas) => ...)              canvas: {root, width, height, mark, text, shape}
     charts.matrix(holder, data, label)         a table of all pairs; matrixRows(data)
     charts.bars | boxes | ranks | forest | lines | scatter | versus(draw, items, options)     forms that draw on a plot
       items are {name, title, color, ...}; see each form for the rest. charts.lit(name) and
       charts.faint(name) tell which names are emphasized or dimmed; replace these two functions to choose.

   Canvas drawings, where there are many points. A paint function takes a pen (CanvasRenderingContext2D, or a
   pen that writes SVG) and draws the whole picture; vuskit.prepare(canvas) gives {pen, width, height}.

     charts.savable(canvas, draw, name, head)   adds buttons that save it, to `head` if given; draw() must call
                                                vuskit.prepare(canvas)
     charts.tracks(holder, options)             lines over time, one below the other, zoomed together; see there
     charts.surface(pen, size, options)         surface in three dimensions
     charts.map(pen, size, options)             the same from above

   For both:
     charts.zoom(low, high, least)              a range that several drawings share: {range, set, in, out, left,
                                                right, all, follow(listener)}
     charts.legend(holder, items, toggle)       buttons {name, title, color, dash, shown}; toggle(name)
     charts.svgText(node), charts.save(name, svgText, "svg" | "png")                                    */
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
  // Six digits, without rounding noise; infinite numbers arrive as text.
  const exact = (value) => value === null || value === undefined || Number.isNaN(value) ? "undefined"
    : typeof value === "number" ? String(Number(value.toPrecision(6))) : value.replace("inf", "infinite");
  const known = (value) => typeof value === "number" && Number.isFinite(value);
  const short = (value) => !known(value) ? exact(value) : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en")
    : String(Number(value.toPrecision(3)));

  // ---- files ----
  const escaped = (text) => String(text).replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter]);
  const document_ = (width, height, inside) => `<svg xmlns="${NS}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">`
    + `<rect width="${width}" height="${height}" fill="${vuskit.color("paper")}"/>${inside}</svg>`;
  // A pen with the canvas methods that the drawings use; its output is SVG.
  const STYLE = { fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, globalAlpha: 1, font: FONT, textAlign: "left", dash: [], moved: "", clipped: "" };
  class SvgPen {
    constructor(width, height) {
      Object.assign(this, STYLE, { width, height, parts: [], path: "", kept: [], clips: 0 });
    }
    place(x, y) { return `${Number(x.toFixed(2))} ${Number(y.toFixed(2))}`; }
    add(tag, about, text) {
      const all = { ...about, transform: this.moved.trim() || null, "clip-path": this.clipped ? `url(#${this.clipped})` : null, opacity: this.globalAlpha < 1 ? this.globalAlpha : null };
      const listed = Object.entries(all).filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
      this.parts.push(text === undefined ? `<${tag}${listed}/>` : `<${tag}${listed}>${escaped(text)}</${tag}>`);
    }
    save() { this.kept.push(Object.fromEntries(Object.keys(STYLE).map((name) => [name, this[name]]))); }
    restore() { Object.assign(this, this.kept.pop()); }
    translate(x, y) { this.moved += ` translate(${this.place(x, y)})`; }
    rotate(angle) { this.moved += ` rotate(${(angle * 180 / Math.PI).toFixed(2)})`; }
    beginPath() { this.path = ""; }
    moveTo(x, y) { this.path += `M${this.place(x, y)}`; }
    lineTo(x, y) { this.path += `${this.path ? "L" : "M"}${this.place(x, y)}`; }
    closePath() { this.path += "Z"; }
    rect(x, y, w, h) { this.path += `M${this.place(x, y)}H${(x + w).toFixed(2)}V${(y + h).toFixed(2)}H${x.toFixed(2)}Z`; }
    arc(x, y, r, from, to) {
      if (to - from >= 2 * Math.PI) { this.path += `M${this.place(x - r, y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`; return; }
      const at = (angle) => this.place(x + r * Math.cos(angle), y + r * Math.sin(angle));
      this.path += `M${at(from)}A${r} ${r} 0 ${to - from > Math.PI ? 1 : 0} 1 ${at(to)}`;
    }
    clip() {
      this.clipped = `c${++this.clips}`;
      this.parts.push(`<clipPath id="${this.clipped}"><path d="${this.path}"/></clipPath>`);
    }
    setLineDash(dash) { this.dash = dash; }
    stroke() { if (this.path) this.add("path", { d: this.path, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-dasharray": this.dash.join(" ") || null, "stroke-linejoin": "round" }); }
    fill() { if (this.path) this.add("path", { d: this.path, fill: this.fillStyle }); }
    fillRect(x, y, width, height) { this.add("rect", { x: x.toFixed(2), y: y.toFixed(2), width: Math.max(width, 0).toFixed(2), height: Math.max(height, 0).toFixed(2), fill: this.fillStyle }); }
    strokeRect(x, y, width, height) { this.add("rect", { x, y, width: Math.max(width, 0), height: Math.max(height, 0), fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth }); }
    fillText(text, x, y) {
      const anchor = { center: "middle", right: "end" }[this.textAlign];
      this.add("text", { x: x.toFixed(2), y: y.toFixed(2), fill: this.fillStyle, "text-anchor": anchor, "font-size": /([\d.]+)px/.exec(this.font)[1], "font-weight": /bold|[67]00/.test(this.font) ? 700 : null }, text);
    }
    measureText(text) { ruler.font = this.font; const found = ruler.measureText(text); ruler.font = FONT; return found; }
    toString() { return document_(this.width, this.height, this.parts.join("\n")); }
  }
  // SVG of a drawing in the page, with its styles included.
  const INHERITED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "paint-order", "stroke-linejoin", "stroke-linecap"];
  charts.svgText = (node) => {
    const copy = node.cloneNode(true);
    const originals = [node, ...node.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((one, i) => {
      const style = getComputedStyle(originals[i]);
      for (const name of INHERITED) one.setAttribute(name, style.getPropertyValue(name));
      one.removeAttribute("class");
      one.removeAttribute("style");
      for (const name of Object.keys(one.dataset)) delete one.dataset[name];
    });
    return document_(node.getAttribute("width"), node.getAttribute("height"), new XMLSerializer().serializeToString(copy));
  };
  // Draws a canvas again, with a pen that writes SVG.
  charts.recorded = (canvas, draw) => {
    const { width, height } = canvas.getBoundingClientRect();
    const pen = new SvgPen(Math.round(width), Math.round(height));
    vuskit.record(canvas, pen);
    draw();
    vuskit.record(null);
    draw();
    return String(pen);
  };
  charts.download = (name, blob) => {
    const link = element("a", { href: URL.createObjectURL(blob), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };
  charts.save = async (name, text, form) => {
    const file = `${name.replace(/[^\w.-]+/g, "_").replace(/^_+|_+$/g, "").slice(0, 80) || "chart"}.${form}`;
    if (form === "svg") { charts.download(file, new Blob([text], { type: "image/svg+xml" })); vuskit.tell(`${file} saved`); return; }
    const picture = new Image();
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await picture.decode();
    const canvas = element("canvas", { width: 2 * picture.width, height: 2 * picture.height });
    const pen = canvas.getContext("2d");
    pen.scale(2, 2);
    pen.drawImage(picture, 0, 0);
    const blob = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
    charts.download(file, blob);
    vuskit.tell(`${file} saved`);
  };
  // Buttons above the corner of a drawing, visible on hover and focus; or in `head`.
  const saver = (holder, name, text, head = null) => {
    const button = (form) => element("button", { type: "button", text: form.toUpperCase(), "data-save": form, "aria-label": `Save ${name} as ${form.toUpperCase()}`, onclick: () => charts.save(name, text(), form) });
    if (head) { head.append(button("svg"), button("png")); return; }
    holder.classList.add("saved");
    holder.append(element("div", { class: "save", role: "group", "aria-label": `Save ${name}` }, button("svg"), button("png")));
  };
  charts.savable = (canvas, draw, name, head = null) => {
    if (head) { saver(canvas, name, () => charts.recorded(canvas, draw), head); return; }
    const holder = element("div");
    canvas.replaceWith(holder);
    holder.append(canvas);
    saver(holder, name, () => charts.recorded(canvas, draw));
  };

  // ---- a drawing: pointer, keys, tooltip ----
  const { showTip, hideTip } = vuskit;
  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  charts.plot = (holder, label, choose = () => {}) => {
    let marks = [];
    let current = -1;
    const hide = () => { hideTip(); for (const { node } of marks) node.classList.remove("current"); };
    const under = (event) => {
      const node = event.target.closest?.("[data-mark]");
      return node ? marks[Number(node.dataset.mark)] : undefined;
    };
    const inner = element("div", { class: "plot", tabindex: 0, role: "group", "aria-label": `${label}; arrow keys read its values` });
    holder.replaceChildren(inner);
    saver(holder, label, () => charts.svgText(inner.querySelector("svg")));
    inner.addEventListener("pointerleave", hide);
    inner.addEventListener("blur", hide);
    // The text of a mark may depend on the position of the pointer, as along a curve.
    const textOf = (mark, event) => typeof mark.text === "string" ? mark.text
      : mark.text(event ? event.clientX - inner.getBoundingClientRect().left : undefined);
    inner.addEventListener("pointermove", (event) => {
      const mark = under(event);
      if (mark) showTip(textOf(mark, event), event.clientX, event.clientY); else hide();
    });
    inner.addEventListener("click", (event) => {
      const mark = under(event);
      const name = mark?.name ?? event.target.closest?.("[data-name]")?.dataset.name;
      if (name) choose(name);
      if (mark) showTip(textOf(mark, event), event.clientX, event.clientY);
    });
    inner.addEventListener("keydown", (event) => {
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
      const width = Math.max(inner.clientWidth, 200);
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
      inner.replaceChildren(root);
    };
  };

  // ---- legends and shared ranges ----
  charts.swatch = (color, dash) => svg("svg", { width: 18, height: 12, "aria-hidden": "true" }, dash === undefined
    ? svg("rect", { x: 1, y: 1, width: 16, height: 10, fill: color, class: "bar" })
    : svg("path", { d: "M0 6H18", stroke: color, "stroke-width": 3, "stroke-dasharray": dash || null }));
  charts.choice = (title, color, pressed, click, dash) => {
    const button = element("button", { type: "button", class: "choice", onclick: click }, charts.swatch(color, dash), element("span", { text: title }));
    button.setAttribute("aria-pressed", String(pressed));
    return button;
  };
  // Replace buttons without losing the focus.
  charts.refocused = (holder, fill) => {
    const buttons = () => [...holder.querySelectorAll("button")];
    const focused = buttons().indexOf(document.activeElement);
    fill();
    if (focused >= 0) buttons()[Math.min(focused, buttons().length - 1)]?.focus();
  };
  charts.legend = (holder, items, toggle) => charts.refocused(holder, () => holder.replaceChildren(
    ...items.map(({ name, title, color, dash, shown }) => charts.choice(title, color, shown, () => toggle(name), dash))));
  charts.zoom = (low, high, least = 1) => {
    const listeners = [];
    const zoom = {
      range: [low, high],
      follow: (listener) => { listeners.push(listener); },
      set: (from, to) => {
        const size = Math.min(Math.max(to - from, least), high - low);
        const begin = Math.min(Math.max((from + to - size) / 2, low), high - size);
        zoom.range = [begin, begin + size];
        for (const listener of listeners) listener();
      },
      in: () => { const [a, b] = zoom.range; zoom.set(a + (b - a) / 4, b - (b - a) / 4); },
      out: () => { const [a, b] = zoom.range; zoom.set(a - (b - a) / 2, b + (b - a) / 2); },
      left: () => { const [a, b] = zoom.range; zoom.set(a - (b - a) / 4, b - (b - a) / 4); },
      right: () => { const [a, b] = zoom.range; zoom.set(a + (b - a) / 4, b + (b - a) / 4); },
      all: () => zoom.set(low, high),
    };
    return zoom;
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
  const fittedTitles = (items, room) => vuskit.fittedNames(ruler, items.map(({ title }) => title), room);
  const names = (canvas, items, left, center) => fittedTitles(items, left - 10).forEach((title, k) => {
    const item = items[k];
    const label = canvas.text(left - 8, center(k) + 4, title, {
      "text-anchor": "end", class: charts.lit(item.name) ? "lit name" : "name",
    });
    if (item.name) label.dataset.name = item.name;
  });
  const tone = (item, more = "") => `${charts.faint(item.name) ? "faint " : ""}${more}`.trim() || null;

  // Items hold `value`, and `shown` if its text should not be the rounded value.
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
        canvas.text(left + length + 5, y + row / 2 + 3, item.shown ?? short(item.value), { class: "value" });
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
            // The axis ends at the whiskers, so that boxes stay large; the label counts values beyond.
            ...outliers.filter((value) => x(value) >= left && x(value) <= right).map((value) => svg("circle", { cx: x(value), cy: middle, r: 1.5, class: "outlier" })),
          );
        }
        canvas.mark(group, `${item.title}${text ? `, ${text}` : ""}\n${known(box[2])
          ? `median ${exact(box[2])}\nquartiles ${exact(box[1])} to ${exact(box[3])}\nwhiskers ${exact(box[0])} to ${exact(box[4])}${outliers.length ? `\n${outliers.length} beyond the whiskers` : ""}` : "undefined"}`, item.name);
      }));
      names(canvas, items, left, (k) => 4 + k * row + row / 2 - 1);
    });
  };

  // ---- mean ranks, with bars that join those that do not differ ----
  /* Bars of a diagram of mean ranks: groups are lists of places in `ranks`. Ends are on the scale, a
     little beyond what a bar joins but never as far as the next rank; bars that would touch
     get separate lines. */
  charts.rankBars = (groups, ranks) => {
    const span = Math.max(...ranks) - Math.min(...ranks) || 1;
    const near = (gaps) => Math.min(0.01 * span, ...gaps.filter((gap) => gap > 0).map((gap) => 0.4 * gap));
    const ends = [];
    return groups.filter((group) => group.length > 1).map((group) => {
      const own = group.map((place) => ranks[place]);
      return { group, first: Math.min(...own), last: Math.max(...own) };
    }).sort((one, other) => one.first - other.first).map(({ group, first, last }) => {
      let line = ends.findIndex((end) => first - end > 0.04 * span);
      if (line < 0) line = ends.length;
      ends[line] = last;
      return { group, line, from: first - near(ranks.map((rank) => first - rank)), to: last + near(ranks.map((rank) => rank - last)) };
    });
  };
  charts.ranks = (draw, items, groups) => {
    const sorted = items.map((item) => ({ ...item, lower: item.lower ?? item.rank, upper: item.upper ?? item.rank })).sort((one, other) => one.rank - other.rank);
    // Groups of the shown items; a reduced group may be part of another.
    const shown = groups.map((group) => sorted.flatMap(({ name }, k) => group.includes(name) ? [k] : []));
    const apart = shown.filter((group, k) => !shown.some((other, j) => j !== k && (other.length > group.length || j < k) && group.every((place) => other.includes(place))));
    const linesOf = (bars) => Math.max(0, ...bars.map(({ line }) => line + 1));
    const across = charts.rankBars(apart, sorted.map(({ rank }) => rank));
    const down = charts.rankBars(apart, sorted.map((_, k) => k));
    const join = (canvas, d, group) => canvas.mark(canvas.shape("path", { d, class: "joined" }), `no two differ significantly:\n${group.map((place) => sorted[place].title).join(", ")}`);
    const told = (item) => `${item.title}\nmean rank ${exact(item.rank)}${item.lower < item.upper ? `\n95% interval ${exact(item.lower)} to ${exact(item.upper)}` : ""}`;
    const wide = (canvas) => {
      const last = Math.ceil(Math.max(...sorted.map(({ upper }) => upper), 2));
      const half = Math.ceil(sorted.length / 2);
      // Long names may take a third of the width.
      const titles = fittedTitles(sorted, canvas.width / 3 - widthOf(" (00.00)") - 28);
      const sides = [titles.slice(0, half), titles.slice(half)].map((side) => Math.max(...side.map((title) => widthOf(`${title} (00.00)`) * 1.1), 0) + 28);
      const x = vuskit.scale({ low: 1, high: last, from: sides[0], to: canvas.width - sides[1] });
      const axis = 24;
      canvas.shape("path", { d: `M${x(1)} ${axis}H${x(last)}`, class: "axis" });
      const every = Math.ceil((last - 1) / ((x(last) - x(1)) / 22));
      for (let rank = 1; rank <= last; rank++) {
        canvas.shape("path", { d: `M${x(rank)} ${axis}v-6`, class: "axis" });
        if ((rank - 1) % every === 0) canvas.text(x(rank), axis - 10, String(rank), { "text-anchor": "middle" });
      }
      canvas.text(x(1) - 10, axis + 4, "mean rank", { "text-anchor": "end" });
      const start = axis + 14 + linesOf(across) * 7;
      for (const { group, line, from, to } of across) join(canvas, `M${x(from)} ${axis + 9 + line * 7}H${x(to)}`, group);
      sorted.forEach((item, k) => {
        const onLeft = k < half;
        const y = start + (onLeft ? k : sorted.length - 1 - k) * 20 + 10;
        const end = onLeft ? 0 : canvas.width;
        const group = canvas.shape("g", { class: "elbow" });
        const words = onLeft ? `${titles[k]} (${item.rank.toFixed(2)})` : `(${item.rank.toFixed(2)}) ${titles[k]}`;
        const room = widthOf(words) * 1.1 + 12; // bold if chosen
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
    // Narrow screens have no space for names on both sides: one row for each measure.
    const narrow = (canvas) => {
      const left = labelRoom(sorted, canvas.width);
      const right = canvas.width - 46 - linesOf(down) * 9;
      const high = Math.max(...sorted.map(({ upper }) => upper), 2);
      const x = vuskit.scale({ low: 1, high, from: left + 6, to: right - 8 });
      const bottom = sorted.length * ROW + 6;
      const center = (k) => 4 + k * ROW + ROW / 2;
      rule(canvas, x, 2, bottom, sorted.some(({ lower, upper }) => lower < upper) ? "mean rank, 95% interval" : "mean rank", right);
      sorted.forEach((item, k) => {
        const group = canvas.shape("g", { class: tone(item) });
        group.append(
          svg("path", { d: `M${x(item.lower)} ${center(k)}H${x(item.upper)}`, class: "whisker" }),
          svg("circle", { cx: x(item.rank), cy: center(k), r: 5, fill: item.color, class: "bar" }),
        );
        canvas.mark(group, told(item), item.name);
        canvas.text(right + 30, center(k) + 4, item.rank.toFixed(2), { "text-anchor": "end", class: "value" });
      });
      names(canvas, sorted, left, center);
      for (const { group, line } of down) join(canvas, `M${right + 40 + line * 9} ${center(group[0]) - 6}V${center(group.at(-1)) + 6}`, group);
    };
    const half = Math.ceil(sorted.length / 2);
    const tall = sorted.length * ROW + 42;
    draw((width) => width < 560 ? tall : 24 + 14 + linesOf(across) * 7 + half * 20 + 16, (canvas) => (canvas.width < 560 ? narrow : wide)(canvas));
  };

  // ---- means with intervals; items hold value, lower, upper ----
  charts.forest = (draw, items, { chance = null, title = "" } = {}) => {
    const bottom = items.length * ROW + 6;
    draw(bottom + 36, (canvas) => {
      const left = labelRoom(items, canvas.width);
      const right = canvas.width - 52;
      const all = [...items.flatMap(({ value, lower, upper }) => [value, lower, upper]), chance].filter(known);
      const [low, high] = [Math.min(...all), Math.max(...all)];
      const pad = 0.04 * (high - low) || 0.05;
      const x = vuskit.scale({ low: low - pad, high: high + pad, from: left + 4, to: right - 4 });
      rule(canvas, x, 2, bottom, title, right);
      if (known(chance)) canvas.mark(canvas.shape("path", { d: `M${x(chance)} 2V${bottom}`, class: "touchline" }), `random scores: ${exact(chance)}`);
      items.forEach((item, k) => {
        if (!known(item.value)) return;
        const y = 4 + k * ROW + ROW / 2 - 1;
        const group = canvas.shape("g", { class: tone(item) });
        group.append(
          svg("rect", { x: x(item.lower), y: y - 8, width: Math.max(x(item.upper) - x(item.lower), 4), height: 16, class: "touch" }),
          svg("path", { d: `M${x(item.lower)} ${y}H${x(item.upper)}`, class: "whisker" }),
          svg("circle", { cx: x(item.value), cy: y, r: 4.5, fill: item.color, class: "bar" }),
        );
        canvas.mark(group, `${item.title}\n${exact(item.value)}\n95% interval ${exact(item.lower)} to ${exact(item.upper)}`, item.name);
        canvas.text(canvas.width - 4, y + 4, item.value.toFixed(3), { "text-anchor": "end", class: "value" });
      });
      names(canvas, items, left, (k) => 4 + k * ROW + ROW / 2 - 1);
    });
  };

  // ---- all pairs: a table with the dictionary of MultiComparisonMatrixDisplay ----
  const MOST_WORDS = 14;
  charts.matrix = (holder, { items, cells, higher_is_better: higher }, label) => {
    const favors = cells.flat().filter(Boolean).map(({ difference }) => Math.abs(difference));
    const most = Math.max(...favors, 0) || 1;
    const words = items.length <= MOST_WORDS;
    const sign = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
    const probability = (p) => p < 0.001 ? "p<.001" : `p=${p.toFixed(3).replace(/^0/, "")}`;
    const cellOf = (cell, row, column) => {
      if (!cell) return element("td", { class: "own" });
      const favor = (higher ? 1 : -1) * cell.difference / most;
      const lines = [sign(cell.difference), `${cell.wins}/${cell.ties}/${cell.losses}`, probability(cell.p)];
      const said = `${items[row].title} against ${items[column].title}: ${lines.join(", ")}${cell.significant ? ", significant" : ""}`;
      return element("td", {
        class: cell.significant ? "significant" : null, title: said,
        style: `background: rgba(${favor > 0 ? "46,116,181" : "196,58,49"},${(0.55 * Math.abs(favor)).toFixed(3)})`,
      }, ...(words ? lines.map((text) => element("span", { text })) : [element("span", { text: cell.significant ? "●" : "" })]));
    };
    holder.replaceChildren(element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": label }, element("table", { class: "pairs" },
      element("thead", {}, element("tr", {}, element("td"), ...items.map(({ title }) => element("th", { scope: "col", text: title })))),
      element("tbody", {}, ...cells.map((line, row) => element("tr", {},
        element("th", { scope: "row" }, element("span", { text: items[row].title }), element("small", { text: items[row].mean.toFixed(3) })),
        ...line.map((cell, column) => cellOf(cell, row, column))))))));
  };
  charts.matrixRows = ({ items, cells }) => [["first", "second", "difference", "wins", "ties", "losses", "p", "significant"],
    ...cells.flatMap((line, row) => line.flatMap((cell, column) => cell && row < column
      ? [[items[row].title, items[column].title, cell.difference, cell.wins, cell.ties, cell.losses, cell.p, cell.significant]] : []))];

  // ---- curves ----
  const bent = ({ kind, low, high, from, to }) => {
    if (kind === "log") return vuskit.scale({ low, high, from, to, log: true });
    if (kind !== "symlog") return vuskit.scale({ low, high, from, to });
    // Logarithmic far from 0, linear near it.
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
        const at = Math.min(x(tick), canvas.width - half - 1); // keep the last label inside
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
          // A wide invisible stroke is easier to hit; the label shows the nearest point.
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
        // The first free place around the circle, from near to far.
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

  // ---- one number against another: a point per item, and the diagonal of equal numbers ----
  charts.versus = (draw, items, { xTitle, yTitle, low, high, height }) => {
    const all = items.flatMap((item) => [item.x, item.y]).filter(known);
    const [least, most] = spread(all);
    const pad = (most - least) * 0.05;
    draw(height ?? ((width) => Math.min(width, 520)), (canvas) => {
      const size = Math.min(canvas.width - 68, canvas.height - 58);
      const box = { left: 54, right: 54 + size, top: 10, bottom: 10 + size };
      const ends = { low: low ?? least - pad, high: high ?? most + pad };
      const x = vuskit.scale({ ...ends, from: box.left, to: box.right });
      const y = vuskit.scale({ ...ends, from: box.bottom, to: box.top });
      for (const tick of x.ticks(5)) {
        canvas.shape("path", { d: `M${x(tick)} ${box.top}V${box.bottom}M${box.left} ${y(tick)}H${box.right}`, class: "grid" });
        canvas.text(x(tick), box.bottom + 15, short(tick), { "text-anchor": "middle" });
        canvas.text(box.left - 6, y(tick) + 4, short(tick), { "text-anchor": "end" });
      }
      canvas.shape("path", { d: `M${box.left} ${box.bottom}L${box.right} ${box.top}`, class: "axis" });
      canvas.text((box.left + box.right) / 2, box.bottom + 34, shortened(xTitle, size), { "text-anchor": "middle" });
      canvas.text(-(box.top + box.bottom) / 2, 12, shortened(yTitle, size), { "text-anchor": "middle", transform: "rotate(-90)" });
      for (const item of items.filter((one) => known(one.x) && known(one.y))) {
        const dot = canvas.shape("circle", { cx: x(item.x), cy: y(item.y), r: items.length > 300 ? 3.5 : 5, fill: item.color, class: tone(item, "circle pick") });
        canvas.mark(dot, item.text, item.name);
      }
    });
  };

  // ---- lines over time, zoomed together ----
  /* options: {size, zoom, ticks(range, most) -> [{at, text}], name(point) -> text, spans() -> [{from, to}],
     cropped() -> [from, to], label}. Spans are shaded, and so is what lies outside the cropped part.
     add({title, color(), dash, line() -> {numbers, bucket, low, high}, height, marks() -> [{at, kind}], threshold() -> number,
     drag(number), step(sign), steps, text(point)}) adds a track. A line with a bucket above 1 holds pairs of the lowest and
     highest number of so many points. A line with a `start` begins at that point. `drag` is called while the threshold is dragged, `step` for the arrow keys up and down. */
  const PAD = 7;
  const KEYS = { ArrowLeft: "left", ArrowRight: "right", "+": "in", "=": "in", "-": "out", 0: "all" };
  charts.tracks = (holder, { size, zoom, ticks, name, spans, cropped, label, gaps = [] }) => {
    const tracks = [];
    const cross = element("div", { class: "cross", hidden: true });
    const axis = element("canvas", { class: "axis", "aria-hidden": "true" });
    const stack = element("div", { class: "stack" }, axis);
    holder.replaceChildren(stack, cross);
    let left = 52;
    let drawn = null; // current selection
    const x = (point, width) => left + (point - zoom.range[0]) / (zoom.range[1] - zoom.range[0]) * (width - left);
    const pointAt = (px, width) => zoom.range[0] + Math.min(Math.max((px - left) / (width - left), 0), 1) * (zoom.range[1] - zoom.range[0]);
    // Gaps in time, between two points; those that would overlap are drawn once.
    const gapsAt = (width) => {
      const found = [];
      for (const point of gaps) {
        const px = x(point + 1, width);
        if (px >= left && px <= width && px - (found.at(-1) ?? -Infinity) >= 4) found.push(px);
      }
      return found;
    };
    const shade = (pen, width, height) => {
      for (const { from, to } of spans()) {
        if (to < zoom.range[0] || from > zoom.range[1]) continue;
        const a = Math.max(x(from, width), left), b = Math.max(Math.min(x(to, width), width), a + 1.5);
        pen.fillStyle = vuskit.color("event");
        pen.fillRect(a, 0, b - a, height);
      }
      pen.strokeStyle = vuskit.color("quiet");
      pen.lineWidth = 1;
      pen.setLineDash([1, 3]);
      for (const px of gapsAt(width)) { pen.beginPath(); pen.moveTo(px, 0); pen.lineTo(px, height); pen.stroke(); }
      pen.setLineDash([]);
      const [first, last] = cropped();
      pen.fillStyle = vuskit.color("cropped");
      if (first > zoom.range[0]) pen.fillRect(left, 0, Math.max(Math.min(x(first, width), width) - left, 0), height);
      if (last < zoom.range[1]) pen.fillRect(Math.max(x(last, width), left), 0, width - Math.max(x(last, width), left), height);
    };
    // From low to high, with space for a threshold above or below.
    const spanOf = (track) => {
      const { low, high } = track.line();
      const limit = track.threshold?.();
      if (!known(limit) || low === high) return [low, high];
      const room = high - low;
      return [Math.min(low, Math.max(limit, low - 0.25 * room)), Math.max(high, Math.min(limit, high + 0.25 * room))];
    };
    // Labels of both ends; an end that is almost zero compared to the other is shown as zero.
    const ends = (track) => {
      const [low, high] = spanOf(track), least = (high - low) / 2000;
      const [top, bottom] = [high, low].map((value) => Math.abs(value) < least ? 0 : value);
      return track.labels ?? vuskit.formatPair(top, bottom);
    };
    const upright = (track, height) => {
      const [low, high] = spanOf(track);
      return low === high ? () => height / 2 : (value) => height - PAD - (value - low) / (high - low) * (height - 2 * PAD);
    };
    const paintLine = (pen, { numbers, bucket, steps, start = 0 }, y, width) => {
      const per = bucket > 1 ? bucket / 2 : 1;
      const first = Math.max(Math.floor((zoom.range[0] - start) / per) - 2, 0), last = Math.min(Math.ceil((zoom.range[1] - start) / per) + 2, numbers.length);
      const perPixel = (last - first) / (width - left);
      pen.beginPath();
      if (perPixel <= 2) {
        let down = false;
        for (let i = first; i < last; i++) {
          if (Number.isNaN(numbers[i])) { down = false; continue; }
          const at = x(start + (i + 0.5) * per, width);
          if (down && steps) pen.lineTo(at, y(numbers[i - 1]));
          if (down) pen.lineTo(at, y(numbers[i])); else pen.moveTo(at, y(numbers[i]));
          down = true;
        }
      } else {
        // One vertical stroke per pixel, from the lowest to the highest number under it.
        for (let column = 0; column < width - left; column++) {
          let low = Infinity, high = -Infinity;
          const to = Math.min(Math.ceil(first + (column + 1) * perPixel) + 1, last);
          for (let i = Math.floor(first + column * perPixel); i < to; i++) {
            if (numbers[i] < low) low = numbers[i];
            if (numbers[i] > high) high = numbers[i];
          }
          if (high < low) continue;
          const at = x(start + (first + (column + 0.5) * perPixel) * per, width);
          pen.moveTo(at, y(low) + 0.5); pen.lineTo(at, y(high) - 0.5);
        }
      }
      pen.stroke();
    };
    const MARKS = {
      alarm: (pen, at, height) => { pen.moveTo(at - 4, height - 1); pen.lineTo(at + 4, height - 1); pen.lineTo(at, height - 8); pen.closePath(); },
      missed: (pen, at) => { pen.moveTo(at - 4, 2); pen.lineTo(at + 4, 10); pen.moveTo(at + 4, 2); pen.lineTo(at - 4, 10); },
      found: (pen, at) => { pen.moveTo(at - 4, 6); pen.lineTo(at - 1, 10); pen.lineTo(at + 5, 2); },
    };
    const paint = (track) => {
      const { pen, width, height } = vuskit.prepare(track.canvas);
      const [low, high] = spanOf(track), y = upright(track, height);
      pen.fillStyle = vuskit.color("quiet");
      pen.textAlign = "right";
      const [top, bottom] = ends(track);
      if (low === high) pen.fillText(top, left - 6, height / 2 + 4);
      else { pen.fillText(top, left - 6, PAD + 6); pen.fillText(bottom, left - 6, height - PAD + 1); }
      pen.save();
      pen.beginPath();
      pen.rect(left, 0, width - left, height);
      pen.clip();
      shade(pen, width, height);
      pen.strokeStyle = track.color();
      pen.lineWidth = 1.4;
      paintLine(pen, track.line(), y, width);
      const limit = track.threshold?.();
      if (known(limit)) {
        const at = Math.min(Math.max(y(limit), 1), height - 1);
        pen.strokeStyle = vuskit.color("ink");
        pen.lineWidth = 1.5;
        pen.setLineDash([5, 4]);
        pen.beginPath(); pen.moveTo(left, at); pen.lineTo(width, at); pen.stroke();
        pen.setLineDash([]);
        pen.fillStyle = vuskit.color("ink");
        if (track.drag) { pen.beginPath(); pen.rect(width - 22, at - 3, 18, 6); pen.fill(); }
      }
      // Marks that would overlap are drawn once.
      const shown = { alarm: -Infinity, missed: -Infinity, found: -Infinity };
      for (const { at, kind } of track.marks?.() ?? []) {
        const px = x(at, width);
        if (px < left || px > width || px - shown[kind] < 7) continue;
        shown[kind] = px;
        pen.strokeStyle = pen.fillStyle = vuskit.color(kind === "found" ? "found" : "missed");
        pen.lineWidth = 2;
        pen.beginPath();
        MARKS[kind](pen, px, height);
        if (kind === "alarm") pen.fill(); else pen.stroke();
      }
      pen.restore();
      pen.strokeStyle = vuskit.color("grid");
      pen.lineWidth = 1;
      pen.strokeRect(left, 0.5, width - left - 0.5, height - 1);
      if (drawn) {
        pen.fillStyle = vuskit.color("focus");
        pen.globalAlpha = 0.2;
        const [a, b] = drawn.map((point) => x(point, width));
        pen.fillRect(Math.min(a, b), 0, Math.abs(b - a), height);
        pen.globalAlpha = 1;
      }
    };
    const paintAxis = () => {
      const { pen, width } = vuskit.prepare(axis);
      pen.fillStyle = vuskit.color("quiet");
      pen.strokeStyle = vuskit.color("ink");
      for (const px of gapsAt(width)) for (const side of [-2, 2]) {
        pen.beginPath(); pen.moveTo(px + side - 2, 5); pen.lineTo(px + side + 2, 0); pen.stroke();
      }
      let after = -Infinity;
      for (const { at, text } of ticks(zoom.range, Math.max(Math.floor((width - left) / 120), 2))) {
        const half = pen.measureText(text).width / 2;
        const px = Math.min(Math.max(x(at, width), left + half), width - half);
        if (px - half < after) continue;
        after = px + half + 10;
        pen.textAlign = "center";
        pen.fillText(text, px, 13);
      }
    };
    let order = null; // tracks shown, in order
    const visible = () => order ?? tracks;
    const draw = () => {
      left = Math.max(...visible().flatMap(ends).map(widthOf), 36) + 12;
      for (const track of visible()) paint(track);
      paintAxis();
    };
    zoom.follow(draw);
    const said = (point) => [name(point), ...visible().map((track) => `${track.title()}: ${track.text(point)}`)].join("\n");
    const listen = (track) => {
      const { canvas } = track;
      let from = null, dragging = false, cursor = null;
      const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top, box]; };
      const nearThreshold = (py, box) => track.drag && known(track.threshold()) && Math.abs(Math.min(Math.max(upright(track, box.height)(track.threshold()), 1), box.height - 1) - py) < 7;
      const dragTo = (py, box) => {
        const [low, high] = spanOf(track);
        track.drag(low + (box.height - PAD - Math.min(Math.max(py, 0), box.height)) / (box.height - 2 * PAD) * (high - low));
      };
      const hover = (point, px, clientX, clientY) => {
        cross.hidden = false;
        cross.style.left = `${px + canvas.offsetLeft}px`;
        showTip(said(point), clientX, clientY);
      };
      const leave = () => { cross.hidden = true; hideTip(); };
      canvas.addEventListener("pointerleave", leave);
      canvas.addEventListener("blur", leave);
      canvas.addEventListener("pointermove", (event) => {
        const [px, py, box] = place(event);
        canvas.style.cursor = dragging || nearThreshold(py, box) ? "ns-resize" : "";
        if (dragging) { dragTo(py, box); return; }
        if (from !== null) { drawn = [from, pointAt(px, box.width)]; leave(); draw(); return; }
        if (px < left) { leave(); return; }
        hover(Math.min(Math.floor(pointAt(px, box.width)), size - 1), px, event.clientX, event.clientY);
      });
      canvas.addEventListener("pointerdown", (event) => {
        const [px, py, box] = place(event);
        canvas.setPointerCapture(event.pointerId);
        if (nearThreshold(py, box)) { dragging = true; leave(); } else from = pointAt(px, box.width);
      });
      const end = (event) => {
        const to = event && from !== null ? pointAt(place(event)[0], place(event)[2].width) : null;
        const begin = from;
        [from, dragging, drawn] = [null, false, null];
        if (to !== null && Math.abs(to - begin) / (zoom.range[1] - zoom.range[0]) > 0.01) zoom.set(Math.min(begin, to), Math.max(begin, to));
        else if (to !== null) draw();
      };
      canvas.addEventListener("pointerup", end);
      canvas.addEventListener("pointercancel", () => end(null));
      canvas.addEventListener("dblclick", zoom.all);
      canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.shiftKey) return; // plain scrolling moves the page
        event.preventDefault();
        const [px, , box] = place(event);
        const at = pointAt(px, box.width), factor = (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8;
        zoom.set(at - (at - zoom.range[0]) * factor, at + (zoom.range[1] - at) * factor);
      }, { passive: false });
      // Shift and the arrow keys move a cursor and announce the values at it.
      canvas.addEventListener("keydown", (event) => {
        if (event.shiftKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
          const step = Math.max((zoom.range[1] - zoom.range[0]) / 200, 1) * (event.key === "ArrowLeft" ? -1 : 1);
          event.preventDefault();
          const middle = (zoom.range[0] + zoom.range[1]) / 2;
          const inside = cursor !== null && cursor >= zoom.range[0] && cursor <= zoom.range[1];
          cursor = Math.min(Math.max(inside ? cursor + step : middle, Math.max(zoom.range[0], 0)), Math.min(zoom.range[1], size) - 1);
          const box = canvas.getBoundingClientRect();
          const px = x(Math.floor(cursor) + 0.5, box.width);
          hover(Math.floor(cursor), px, box.left + px, box.bottom - 20);
          vuskit.tell(said(Math.floor(cursor)));
          return;
        }
        if (track.step && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
          event.preventDefault();
          track.step(event.key === "ArrowUp" ? 1 : -1);
          return;
        }
        if (event.key === "Escape") leave();
        if (!(event.key in KEYS) || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        zoom[KEYS[event.key]]();
      });
    };
    const add = (track) => {
      const keys = `arrow keys and plus, minus, 0 move the range${track.step ? "; up and down move the threshold" : ""}; Shift and arrows read values`;
      const canvas = element("canvas", { tabindex: 0, role: "img", "aria-label": `${track.title()}, drawn over time; ${keys}` });
      canvas.style.height = `${track.height}px`;
      const heading = element("p");
      const box = element("div", { class: "track" }, heading, canvas);
      stack.insertBefore(box, axis);
      Object.assign(track, { canvas, box, heading });
      tracks.push(track);
      listen(track);
      charts.savable(canvas, () => paint(track), `${label}_${track.title()}`);
      return track;
    };
    // Shows the tracks of a list in its order and hides the others.
    const show = (list) => {
      order = list;
      for (const track of tracks) track.box.hidden = !list.includes(track);
      const wanted = list.map(({ box }) => box);
      if (wanted.some((box, k) => stack.children[k] !== box)) stack.prepend(...wanted);
    };
    return { add, show, draw, get left() { return left; } };
  };

  // ---- surfaces ----
  // Differences: one color per sign, the background in between.
  charts.diverging = (share) => {
    const [negative, middle, positive] = vuskit.theme() === "dark" ? [[120, 170, 255], [38, 42, 50], [255, 170, 90]] : [[33, 84, 176], [246, 246, 246], [190, 84, 0]];
    const at = Math.min(Math.max(share, -1), 1), end = at < 0 ? negative : positive;
    return `rgb(${middle.map((c, j) => Math.round(c + Math.abs(at) * (end[j] - c))).join(",")})`;
  };
  /* A surface over (place from 0 to 1, buffer): {heights, widths, columns, longest, paint(height), bottom, upward, turn, tilt,
     low, high}. Heights go from `low` to `high`, 0 to 1 unless given. Returns {at(x, y) -> [column, row]}. */
  charts.surface = (pen, { width, height }, { heights, widths, columns, longest, paint, bottom, upward, turn, tilt, low = 0, high = 1 }) => {
    const rows = widths.length, size = Math.min(width, height * 1.25) * 0.54;
    const [sinTurn, cosTurn, sinTilt, cosTilt] = [Math.sin(turn), Math.cos(turn), Math.sin(tilt), Math.cos(tilt)];
    const lifted = (value) => (value - low) / (high - low);
    const project = (a, b, c) => {
      const [u, v, w] = [a - 0.5, b - 0.5, (c - 0.5) * 0.8];
      const right = u * cosTurn - v * sinTurn, away = u * sinTurn + v * cosTurn;
      return [width / 2 + right * size, height * 0.54 - (w * cosTilt + away * sinTilt) * size, away * cosTilt - w * sinTilt];
    };
    const path = (points) => {
      pen.beginPath();
      points.forEach(([px, py], i) => { if (i) pen.lineTo(px, py); else pen.moveTo(px, py); });
    };
    pen.strokeStyle = vuskit.color("rule");
    pen.lineWidth = 1;
    path([project(0, 0, 0), project(1, 0, 0), project(1, 1, 0), project(0, 1, 0), project(0, 0, 0)]); pen.stroke();
    for (const [a, b] of [[0, 0], [1, 0], [0, 1], [1, 1]]) { path([project(a, b, 0), project(a, b, 1)]); pen.stroke(); }
    const along = (j) => widths[j] / Math.max(longest, 1);
    const corner = (i, j) => project(i / (columns - 1), along(j), lifted(heights[j * columns + i]));
    const quads = [];
    for (let j = 0; j + 1 < rows; j++) for (let i = 0; i + 1 < columns; i++) {
      const corners = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
      quads.push({ corners, mean: (heights[j * columns + i] + heights[(j + 1) * columns + i + 1]) / 2, depth: corners[0][2] + corners[2][2], i, j });
    }
    quads.sort((one, other) => other.depth - one.depth);
    const mesh = { i: Math.round((columns - 1) / 6), j: Math.max(Math.round((rows - 1) / 5), 1) };
    for (const { corners, mean, i, j } of quads) {
      pen.fillStyle = pen.strokeStyle = paint(mean);
      pen.lineWidth = 0.6;
      path(corners); pen.closePath(); pen.fill(); pen.stroke();
      pen.strokeStyle = "rgba(0, 0, 0, 0.35)";
      if (i % mesh.i === 0) { path([corners[0], corners[3]]); pen.stroke(); }
      if (j % mesh.j === 0) { path([corners[0], corners[1]]); pen.stroke(); }
    }
    pen.fillStyle = vuskit.color("quiet");
    pen.textAlign = "center";
    const write = (text, a, b, c) => { const [px, py] = project(a, b, c); pen.fillText(text, px, py); };
    write(bottom, 0.5, -0.17, 0); write("0", 0, -0.08, 0); write("1", 1, -0.08, 0);
    write("buffer", 1.2, 0.5, 0); write(longest.toLocaleString("en"), 1.09, 1, 0);
    write(upward, 0, 1, 1.12); write(short(high), -0.05, -0.05, 1);
    if (low) write(short(low).replace("-", "−"), -0.1, 0.02, 0.06);
    // The front point among those near the pointer.
    const at = (px, py) => {
      let found = null, nearest = Infinity;
      for (let j = 0; j < rows; j++) for (let i = 0; i < columns; i++) {
        const [cx, cy, depth] = corner(i, j);
        const away = Math.hypot(cx - px, cy - py);
        if (away < 9 && depth + away / 50 < nearest) [found, nearest] = [[i, j], depth + away / 50];
      }
      return found;
    };
    return { at };
  };
  // The same from above; returns the bounds of the picture: {left, right, top, bottom, at(x, y) -> [column, row]}.
  charts.map = (pen, { width, height }, { heights, widths, columns, longest, paint, bottom }) => {
    const box = { left: Math.max(36, widthOf(longest.toLocaleString("en")) + 8), right: width - 8, top: 8, bottom: height - 32 };
    const up = vuskit.scale({ low: 0, high: Math.max(longest, 1), from: box.bottom, to: box.top });
    const w = (box.right - box.left) / columns;
    // A row extends halfway to its neighbors: the last step may be shorter than the others.
    const edges = [box.bottom, ...widths.slice(1).map((wide, j) => up((wide + widths[j]) / 2)), box.top];
    widths.forEach((_, j) => {
      for (let i = 0; i < columns; i++) {
        pen.fillStyle = paint(heights[j * columns + i]);
        pen.fillRect(box.left + i * w, edges[j + 1], w + 0.6, edges[j] - edges[j + 1] + 0.6);
      }
    });
    pen.fillStyle = vuskit.color("quiet");
    pen.textAlign = "right";
    pen.fillText(longest.toLocaleString("en"), box.left - 4, box.top + 10);
    pen.fillText("0", box.left - 4, box.bottom);
    pen.textAlign = "left"; pen.fillText("0", box.left, box.bottom + 14);
    pen.textAlign = "right"; pen.fillText("1", box.right, box.bottom + 14);
    pen.textAlign = "center"; pen.fillText(bottom, (box.left + box.right) / 2, box.bottom + 26);
    pen.save(); pen.translate(12, (box.top + box.bottom) / 2); pen.rotate(-Math.PI / 2); pen.fillText("buffer", 0, 0); pen.restore();
    const at = (px, py) => {
      if (px < box.left || px >= box.right || py < box.top || py > box.bottom) return null;
      const row = edges.findIndex((edge, j) => j > 0 && py >= edge) - 1;
      return [Math.min(Math.floor((px - box.left) / w), columns - 1), Math.min(Math.max(row, 0), widths.length - 1)];
    };
    return { ...box, at };
  };

  return Object.assign(charts, { svg, exact, short, known, widthOf, ROW });
})();
