"use strict";
/* Functions shared by all views of a page. One global, `vuskit`; a view is a file that registers itself:

     vuskit.view("name", (place, data, options) => ({ draw, show }))

   The page holds sections (Section in document.py). Opening one inserts its markup into the document,
   parses its data and calls the function of its view. `draw()` paints all canvases; it is called after
   the start, and again when the size or the theme changes. `show(options)`, if given, is called when
   the address changes within the section. `refresh()`, if given, is called by vuskit.refresh() when
   the data changed. Only the open section is in the document, so that ids are unique; find elements
   with place.querySelector("#id"). Sections with a parent (not in the navigation) restart each time;
   the others keep their state.

   Addresses:   vuskit.address(key, {a: 1}) -> "#key?a=1"; vuskit.go(key, options); vuskit.sections
   Data:        vuskit.data(key) (parsed once), vuskit.floats(base64), vuskit.doubles(base64), vuskit.codes(base64), vuskit.shares(base64), vuskit.numbers(packed), vuskit.unpacked(data)
   Elements:    vuskit.element(tag, {text, class, ...attributes}, ...children)
   Numbers:     vuskit.format(number, digits), vuskit.whole(number), vuskit.formatPair(one, other)
   Colors:     vuskit.color("ink"), vuskit.lineColor(i), vuskit.lineDash(i), vuskit.heat(share), vuskit.theme()
   Canvas:      vuskit.prepare(canvas) -> {pen, width, height}, vuskit.record(canvas, pen) lets another pen draw; vuskit.fitted(pen, text, room), fittedNames(pen, texts, room)
                vuskit.scale({low, high, from, to, log}) -> function with ticks(most)
                vuskit.axes(pen, box, {x, y, xTitle, yTitle, xTicks, yTicks})
                vuskit.tip(canvas, (x, y) => text or null)   a label that follows the pointer
   Tables:      vuskit.tableRows(table), vuskit.sortable(table)
   Copying:     vuskit.copies(place, {name: () => rows})   for <button data-copy="name">; data-form is csv, latex or markdown
                vuskit.copyText(text, told), vuskit.texts: {csv, latex, markdown}(rows)               */
const vuskit = (() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);

  // ---- elements, numbers, data ----
  const element = (tag, about = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(about)) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "text") made.textContent = value;
      else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children);
    return made;
  };
  // Four digits; very small and very large numbers with a power of ten.
  const formats = new Map(); // creating one is slow
  const formatter = (digits) => {
    if (!formats.has(digits)) formats.set(digits, new Intl.NumberFormat("en", digits ? { maximumSignificantDigits: digits } : {}));
    return formats.get(digits);
  };
  const whole = (number) => formatter(0).format(Math.round(number));
  const format = (number, digits = 4) => {
    const size = Math.abs(number);
    const plain = size === 0 || !Number.isFinite(size) || (size >= 1e-3 && size < 1e7);
    const text = plain ? formatter(digits).format(number)
      : Number(number.toPrecision(digits)).toExponential().replace("e+", "e");
    return text.replaceAll("-", "−");
  };
  // Class of a header: long names wrap, because truncated names may look the same.
  const wrapping = (name) => name.length > 24 ? "wrap" : null;
  // Two numbers with enough digits to see that they differ.
  const formatPair = (one, other) => {
    let digits = Math.min(Math.abs(one), Math.abs(other)) < Math.max(Math.abs(one), Math.abs(other)) / 1000 ? 2 : 3;
    while (one !== other && digits < 15 && format(one, digits) === format(other, digits)) digits++;
    return [format(one, digits), format(other, digits)];
  };
  // Text shortened to fit; the middle is cut, because names often differ at their ends.
  const fitted = (pen, text, room) => {
    if (pen.measureText(text).width <= room) return text;
    let kept = text.length - 1;
    const shortened = () => `${text.slice(0, Math.ceil(kept * 0.6))}…${kept > 1 ? text.slice(-Math.floor(kept * 0.4)) : ""}`;
    while (kept > 1 && pen.measureText(shortened()).width > room) kept--;
    return shortened();
  };
  // Names shortened to fit; names that would look the same keep the part in which they differ.
  const fittedNames = (pen, names, room) => {
    const texts = names.map((name) => fitted(pen, name, room));
    const alike = (text) => names.filter((_, i) => texts[i] === text);
    const shared = (all, turn) => {
      let length = 0;
      while (all.every((name) => length < name.length && turn(name, length) === turn(all[0], length))) length++;
      return length;
    };
    return texts.map((text, i) => {
      const same = [...new Set(alike(text))];
      if (same.length < 2) return text;
      const start = shared(same, (name, k) => name[k]);
      const end = Math.min(shared(same, (name, k) => name[name.length - 1 - k]), Math.min(...same.map((name) => name.length)) - start);
      const own = `${names[i].slice(start, names[i].length - end)}${end ? "…" : ""}`;
      for (let kept = start; kept >= 0; kept--) {
        const tried = `${names[i].slice(0, kept)}${kept < start ? "…" : ""}${own}`;
        if (pen.measureText(tried).width <= room) return tried;
      }
      return fitted(pen, own, room);
    });
  };
  const bytes = (text) => {
    const letters = atob(text);
    const found = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) found[i] = letters.charCodeAt(i);
    return found.buffer;
  };
  // Little-endian, as every machine with a browser.
  const [floats, doubles, codes] = [Float32Array, Float64Array, Uint16Array].map((Type) => (text) => new Type(bytes(text)));
  // Numbers from 0 to 1 in two bytes; the largest code is a gap.
  const shares = (text) => Float32Array.from(codes(text), (number) => number === 65535 ? NaN : number / 65534);
  // Floats, or rows of shares between the minimum and maximum of each row.
  const numbers = (packed) => {
    if (typeof packed === "string") return floats(packed);
    const found = shares(packed.data);
    const size = found.length / packed.low.length;
    packed.low.forEach((low, row) => {
      const span = packed.high[row] - low;
      for (let i = row * size; i < (row + 1) * size; i++) {
        const value = low + found[i] * span;
        found[i] = packed.log ? 10 ** value : value;
      }
    });
    return found;
  };
  // Replaces packed lists of numbers in any data: {f4: base64, columns}; see compact() in document.py.
  const unpacked = (value) => {
    if (Array.isArray(value)) return value.map(unpacked);
    if (value === null || typeof value !== "object") return value;
    if (!("f4" in value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unpacked(one)]));
    const all = floats(value.f4);
    if (!value.columns) return [...all];
    return Array.from({ length: all.length / value.columns }, (_, row) => [...all.subarray(row * value.columns, (row + 1) * value.columns)]);
  };
  const parsed = new Map();
  const data = (key) => {
    if (!parsed.has(key)) parsed.set(key, JSON.parse(byId(`data-${key}`).textContent));
    return parsed.get(key);
  };

  // ---- colors ----
  // Colors of detectors, by their order in the run or file; every page uses them. Twelve that differ clearly in hue or
  // lightness, at least 3:1 against the background. Orange comes last: it also marks anomalies.
  const PALETTES = {
    light: ["#0068a8", "#a01a6c", "#008a63", "#8a6d00", "#6a4fd0", "#7b2d12", "#2b96c6", "#759a0a", "#0b3350", "#e0609e", "#6b6f76", "#c9480a"],
    dark: ["#3f9fe0", "#f0509c", "#2fc69a", "#e8cc3c", "#9a7bff", "#c46a4a", "#a8e6ff", "#b4f05a", "#4a74c9", "#ffb0da", "#b0b5bd", "#f5803a"],
  };
  // Lightness rises evenly, so that the scale is readable without color.
  const STOPS = [[53, 42, 101], [46, 94, 140], [33, 145, 140], [94, 201, 98], [240, 229, 60]];
  const darkWanted = window.matchMedia("(prefers-color-scheme: dark)");
  const theme = () => root.dataset.theme;
  const colors = new Map(); // of the current theme; reading computed styles is slow
  const setTheme = (name) => { root.dataset.theme = name; colors.clear(); };
  setTheme(darkWanted.matches ? "dark" : "light");
  const color = (name) => {
    if (!colors.has(name)) colors.set(name, getComputedStyle(root).getPropertyValue(`--${name}`).trim());
    return colors.get(name);
  };
  const lineColor = (i) => PALETTES[theme()][i % PALETTES.light.length];
  // From the thirteenth detector on, colors repeat with another dash pattern.
  const lineDash = (i) => [[], [7, 3], [2, 3], [9, 3, 2, 3]][Math.floor(i / PALETTES.light.length) % 4];
  const heat = (share) => {
    const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
    const k = Math.min(Math.floor(at), STOPS.length - 2);
    const mixed = STOPS[k].map((c, j) => Math.round(c + (at - k) * (STOPS[k + 1][j] - c)));
    return `rgb(${mixed.join(",")})`;
  };
  // Black or white, whichever has more contrast on a color.
  const inkOn = (background) => {
    const [r, g, b] = background.match(/\d+/g).map((part) => part / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
  };

  // ---- canvas ----
  // While a canvas is recorded, another pen replaces its own: the one in charts.js writes SVG.
  let recorded = null;
  const record = (canvas, pen) => { recorded = canvas && { canvas, pen }; };
  const prepare = (canvas) => {
    if (recorded?.canvas === canvas) return { pen: recorded.pen, width: recorded.pen.width, height: recorded.pen.height };
    const ratio = window.devicePixelRatio || 1;
    const { width, height } = canvas.getBoundingClientRect();
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = "12px system-ui, sans-serif";
    return { pen, width, height };
  };
  // Maps numbers low..high to places from..to; ticks are round numbers between them.
  const scale = ({ low, high, from, to, log = false }) => {
    const bend = log ? Math.log10 : (value) => value;
    const [a, b] = [bend(low), bend(high)];
    const at = (value) => from + (bend(value) - a) / (b - a || 1) * (to - from);
    at.low = low;
    at.high = high;
    at.ticks = (most = 5) => {
      if (log) {
        const decades = [];
        const step = Math.max(Math.ceil((b - a) / most), 1);
        for (let k = Math.ceil(a - 1e-9); k <= b + 1e-9; k += step) decades.push(10 ** k);
        if (decades.length > 1) return decades;
        return [1, 1.5, 2, 3, 5, 7].flatMap((m) => [10 ** Math.floor(a), 10 ** Math.ceil(a)].map((d) => m * d))
          .filter((value) => value >= low && value <= high).sort((one, other) => one - other);
      }
      const rough = (high - low) / most || 1;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = power * [1, 2, 2.5, 5, 10].find((m) => m * power >= rough * (1 - 1e-9));
      const found = [];
      for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step || 0); // not -0
      return found;
    };
    return at;
  };
  const axes = (pen, box, { x, y, xTitle = "", yTitle = "", xTicks, yTicks, name = format }) => {
    pen.strokeStyle = color("grid");
    pen.fillStyle = color("quiet");
    pen.lineWidth = 1;
    pen.textAlign = "right";
    for (const tick of yTicks ?? y.ticks()) {
      const at = y(tick);
      pen.beginPath(); pen.moveTo(box.left, at); pen.lineTo(box.right, at); pen.stroke();
      pen.fillText(name(tick), box.left - 4, at + 4);
    }
    for (const tick of xTicks ?? x.ticks()) {
      const at = x(tick);
      pen.beginPath(); pen.moveTo(at, box.top); pen.lineTo(at, box.bottom); pen.stroke();
      pen.textAlign = at < box.left + 12 ? "left" : at > box.right - 12 ? "right" : "center";
      pen.fillText(name(tick), at, box.bottom + 14);
    }
    pen.textAlign = "center";
    pen.fillText(xTitle, (box.left + box.right) / 2, box.bottom + 30);
    if (!yTitle) return;
    pen.save();
    pen.translate(12, (box.top + box.bottom) / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillText(yTitle, 0, 0);
    pen.restore();
  };
  const hideTip = () => { byId("tip").hidden = true; };
  const showTip = (text, x, y) => {
    const label = byId("tip");
    label.textContent = text;
    label.hidden = false;
    const most = root.clientWidth - label.offsetWidth - 8;
    label.style.left = `${Math.max(Math.min(x + 12, most), 8) + window.scrollX}px`;
    label.style.top = `${y + 14 + window.scrollY}px`;
  };
  const tip = (canvas, textAt) => {
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect();
      const text = textAt(event.clientX - box.left, event.clientY - box.top);
      if (text) showTip(text, event.clientX, event.clientY); else hideTip();
    });
  };

  // ---- scroll hints ----
  // Content wider than its box fades at the side where it continues: [data-more] in page.css.
  const hint = (box) => {
    const rest = box.scrollWidth - box.clientWidth - box.scrollLeft;
    const more = [box.scrollLeft > 1 ? "start" : "", rest > 1 ? "end" : ""].filter(Boolean).join(" ");
    if (box.dataset.more !== more) box.dataset.more = more;
  };
  const resized = new ResizeObserver((entries) => {
    for (const box of new Set(entries.map(({ target }) => target.closest(".wide")))) if (box) hint(box);
  });
  const hinted = new WeakSet();
  const watchWide = () => {
    for (const box of byId("views").querySelectorAll(".wide")) {
      for (const one of [box, ...box.children]) if (!hinted.has(one)) { hinted.add(one); resized.observe(one); }
    }
  };
  const beginHints = () => {
    new MutationObserver(watchWide).observe(byId("views"), { childList: true, subtree: true });
    document.addEventListener("scroll", ({ target }) => { if (target.classList?.contains("wide")) hint(target); }, { capture: true, passive: true });
    watchWide();
  };

  // ---- tables and copying ----
  const valueOf = (cell) => cell.dataset.value ?? cell.textContent;
  const tableRows = (table) => [...table.rows].map((row) => [...row.cells].map(valueOf));
  // Numbers first, then texts, then empty cells.
  const comparing = (one, other) => {
    const [a, b] = [Number(one), Number(other)];
    if (one === "" || other === "") return (one === "") - (other === "");
    if (Number.isNaN(a) || Number.isNaN(b)) return String(one).localeCompare(String(other), "en", { numeric: true });
    return a - b;
  };
  const sortable = (table) => {
    const headers = [...table.tHead.rows[0].cells];
    headers.forEach((header, column) => {
      const button = element("button", { type: "button", class: "sort", text: header.textContent });
      button.addEventListener("click", () => {
        const falling = header.getAttribute("aria-sort") !== "descending";
        for (const other of headers) other.removeAttribute("aria-sort");
        header.setAttribute("aria-sort", falling ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows];
        rows.sort((one, other) => {
          const [a, b] = [valueOf(one.cells[column]), valueOf(other.cells[column])];
          return a === "" || b === "" ? comparing(a, b) : (falling ? -1 : 1) * comparing(a, b);
        });
        table.tBodies[0].append(...rows);
      });
      header.dataset.value = header.textContent;
      header.replaceChildren(button);
    });
  };
  const cell = (text) => /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const csv = (rows) => rows.map((row) => row.map((value) => cell(String(value))).join(",")).join("\n") + "\n";
  const copyText = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = element("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };
  const tell = (text) => { byId("told").textContent = text; };
  // Numbers rounded for readers; csv keeps all digits.
  const rounded = (value) => typeof value === "number" ? (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)))) : /^-?\d+\.\d{5,}$/.test(value) ? Number(value).toFixed(4) : String(value);
  const LATEX = { "\\": "\\textbackslash{}", "&": "\\&", "%": "\\%", $: "\\$", "#": "\\#", _: "\\_", "{": "\\{", "}": "\\}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "−": "$-$", "–": "--" };
  const texts = {
    csv,
    latex: (rows) => {
      const line = (row) => `${row.map((value) => rounded(value).replace(/[\\&%$#_{}~^−–]/g, (letter) => LATEX[letter])).join(" & ")} \\\\`;
      const [header, ...body] = rows;
      return `\\begin{tabular}{l${"r".repeat(header.length - 1)}}\n\\toprule\n${line(header)}\n\\midrule\n${body.map(line).join("\n")}\n\\bottomrule\n\\end{tabular}\n`;
    },
    markdown: (rows) => {
      const line = (row) => `| ${row.map((value) => rounded(value).replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
      const [header, ...body] = rows;
      return [line(header), `| --- |${" ---: |".repeat(header.length - 1)}`, ...body.map(line)].join("\n") + "\n";
    },
  };
  // The button shows for a moment that the text was copied.
  const confirm = (button, text) => {
    tell(text);
    if (button.dataset.before) return;
    button.dataset.before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = button.dataset.before; delete button.dataset.before; }, 1500);
  };
  const copies = (place, tables) => {
    for (const button of place.querySelectorAll("[data-copy]")) {
      if (!(button.dataset.copy in tables)) continue;
      button.addEventListener("click", async () => {
        const rows = tables[button.dataset.copy]();
        await copyText(texts[button.dataset.form ?? "csv"](rows));
        confirm(button, `${rows.length - 1} rows copied`);
      });
    }
  };

  // ---- sections and addresses ----
  const views = new Map();
  const kept = new Map();
  const pageTitle = document.title;
  let sections = [];
  let open = null;
  const view = (name, start) => { views.set(name, start); };
  const address = (key, options = {}) => {
    const listed = Object.entries(options).filter(([, value]) => value !== undefined && value !== null && value !== "");
    const query = new URLSearchParams(listed).toString();
    return `#${key}${query && "?"}${query}`;
  };
  const go = (key, options) => { window.location.hash = address(key, options); };
  const wanted = () => {
    const [key, query = ""] = window.location.hash.slice(1).split(/\?(.*)/s);
    const section = sections.find((one) => one.key === key) ?? sections[0];
    return { section, options: Object.fromEntries(new URLSearchParams(query)) };
  };
  const made = (section) => {
    const place = element("div", { class: "view", "data-key": section.key });
    place.append(...siblings(section), byId(`html-${section.key}`).content.cloneNode(true));
    return place;
  };
  // Links to the previous and next section of the same parent.
  const siblings = (section) => {
    if (!section.parent) return [];
    const all = sections.filter((one) => one.parent === section.parent && one.view === section.view);
    const at = all.indexOf(section);
    const link = (one, text) => one ? [element("a", { href: address(one.key), title: one.title, text })] : [];
    const links = [...link(all[at - 1], "← previous"), ...link(all[at + 1], "next →")];
    return links.length ? [element("nav", { class: "siblings", "aria-label": "Neighbors" }, ...links)] : [];
  };
  const start = (section, options) => {
    const place = section.place ?? made(section);
    byId("views").replaceChildren(place);
    const running = views.get(section.view)(place, data(section.key), options) ?? {};
    return { section, place, running };
  };
  const drawOpen = () => {
    const active = document.activeElement;
    open?.running.draw?.();
    if (!active || active.isConnected) return;
    // The focused element was redrawn.
    const [name, value] = [["data-column", active.dataset.column], ["href", active.getAttribute("href")]].find(([, one]) => one) ?? [];
    if (name) open.place.querySelector(`[${name}="${CSS.escape(value)}"]`)?.focus({ preventScroll: true });
  };
  // The data changed: all views update their state, and the open one is redrawn.
  const refresh = () => {
    for (const { running } of new Set([...kept.values(), ...(open ? [open] : [])])) running.refresh?.();
    drawOpen();
  };
  const route = () => {
    const { section, options } = wanted();
    byId("tip").hidden = true;
    if (open?.section === section) {
      open.running.show?.(options);
      return;
    }
    const moved = open !== null;
    const again = kept.get(section.key);
    if (again) {
      byId("views").replaceChildren(again.place);
      open = again;
      again.running.show?.(options);
    } else {
      open = start(section, options);
      if (!section.parent) kept.set(section.key, open);
    }
    document.title = section === sections[0] ? pageTitle : `${section.title} - ${pageTitle}`;
    for (const link of document.querySelectorAll("#sections a")) {
      const current = [section.key, section.parent].includes(link.dataset.key);
      if (current) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
    }
    drawOpen();
    if (!moved) return;
    window.scrollTo(0, open.scroll ?? 0);
    const heading = open.place.querySelector("h1");
    if (heading) { heading.tabIndex = -1; heading.focus({ preventScroll: true }); }
  };
  const begin = () => {
    sections = data("sections");
    sections[0].place = document.querySelector("#views > .view");
    byId("theme").addEventListener("click", () => { setTheme(theme() === "dark" ? "light" : "dark"); drawOpen(); });
    darkWanted.addEventListener("change", () => { setTheme(darkWanted.matches ? "dark" : "light"); drawOpen(); });
    let before = null;
    window.addEventListener("beforeprint", () => { before = theme(); setTheme("light"); root.dataset.printing = "yes"; drawOpen(); });
    window.addEventListener("afterprint", () => { setTheme(before); delete root.dataset.printing; drawOpen(); });
    let waiting = 0;
    window.addEventListener("resize", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(drawOpen); });
    window.addEventListener("scroll", () => { if (open) open.scroll = window.scrollY; }, { passive: true });
    window.addEventListener("hashchange", route);
    beginHints();
    route();
    root.dataset.ready = "yes";
  };

  return {
    view, begin, data, floats, doubles, codes, shares, numbers, unpacked, element, format, whole, formatPair, fitted, fittedNames, wrapping, theme, color, lineColor, lineDash, heat, inkOn, prepare, record, scale, axes, tip, showTip, hideTip,
    tableRows, sortable, comparing, copies, copyText, confirm, texts, tell, address, go, drawOpen, refresh, get sections() { return sections; },
  };
})();
