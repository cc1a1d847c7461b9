"use strict";
/* The page without data: reads csv and npy files dropped on it, asks for the roles of their columns, and starts the
   page of that series (series.js). Everything happens in the browser.                                                  */
(() => {
  const { element } = vuskit;

  // ---- files ----
  const EXACT = 2 ** 53, EXACT_RULE = "integers up to 2**53, because larger ones become equal scores; subtract a constant, or save ranks";
  const isNumber = (text) => text.trim() !== "" && Number.isFinite(Number(text));
  const splitLine = (line, delimiter) => {
    if (!line.includes('"')) return line.split(delimiter);
    const cells = [];
    let cell = "", quoted = false;
    for (let i = 0; i < line.length; i++) {
      const letter = line[i];
      if (quoted && letter === '"' && line[i + 1] === '"') { cell += '"'; i++; }
      else if (letter === '"') quoted = !quoted;
      else if (letter === delimiter && !quoted) { cells.push(cell); cell = ""; } else cell += letter;
    }
    return [...cells, cell];
  };
  // Columns {name, texts} of a text file; the first row is a header if it has a text that is no number.
  const readCsv = (name, text) => {
    const rows = text.replace(/^\uFEFF/, "").split(/\r?\n/).filter((line) => line.trim() !== "");
    const marked = rows.findIndex((line) => line.startsWith("#"));
    if (marked >= 0) throw new Error(`${name} must have no rows that begin with "#", got "${rows[marked].slice(0, 40)}" in row ${marked + 1}; remove comments, and empty cells such as #N/A`);
    if (rows.length < 2) throw new Error(`${name} must have one row per point, got ${rows.length} rows`);
    const delimiter = [",", ";", "\t", "|"].sort((a, b) => rows[0].split(b).length - rows[0].split(a).length)[0];
    const cells = rows.map((line) => splitLine(line, delimiter).map((cell) => cell.trim()));
    const hasHeader = cells[0].some((cell) => cell !== "" && !isNumber(cell) && cell.toLowerCase() !== "nan");
    const header = hasHeader ? cells.shift() : cells[0].map((_, k) => `column ${k + 1}`);
    const bad = cells.findIndex((row) => row.length !== header.length);
    if (bad >= 0) throw new Error(`${name} must have ${header.length} cells in each row, got ${cells[bad].length} in row ${bad + 1 + hasHeader}`);
    return header.map((title, k) => ({ name: title || (k ? `column ${k + 1}` : "index"), texts: cells.map((row) => row[k]) }));
  };
  const KINDS = { f8: "Float64", f4: "Float32", i8: "BigInt64", i4: "Int32", i2: "Int16", i1: "Int8", u8: "BigUint64", u4: "Uint32", u2: "Uint16", u1: "Uint8", b1: "Uint8" };
  const readNpy = (name, buffer) => {
    const view = new DataView(buffer);
    const magic = String.fromCharCode(...new Uint8Array(buffer, 0, Math.min(6, buffer.byteLength)));
    if (magic !== "\x93NUMPY") throw new Error(`${name} must be an npy file; save it with numpy.save`);
    const wide = view.getUint8(6) >= 2;
    const length = wide ? view.getUint32(8, true) : view.getUint16(8, true), begin = (wide ? 12 : 10) + length;
    const about = new TextDecoder("latin1").decode(new Uint8Array(buffer, wide ? 12 : 10, length));
    const [, order, kind] = /'descr':\s*'([<>|=])(\w+)'/.exec(about) ?? [];
    const shape = /'shape':\s*\(([^)]*)\)/.exec(about)?.[1].split(",").map((part) => part.trim()).filter(Boolean).map(Number) ?? [];
    if (!KINDS[kind] || shape.length < 1 || shape.length > 2) throw new Error(`${name} must hold numbers in one or two dimensions`);
    const size = Number(kind.slice(1)), [rows, columns = 1] = shape, byColumn = /'fortran_order':\s*True/.test(about);
    const read = (index) => Number(view[`get${KINDS[kind]}`](begin + index * size, order !== ">"));
    if (/8$/.test(kind) && kind !== "f8" && Array.from({ length: rows * columns }, (_, k) => read(k)).some((one) => Math.abs(one) >= EXACT)) throw new Error(`${name} must hold ${EXACT_RULE}`);
    const base = name.replace(/\.npy$/, "");
    return Array.from({ length: columns }, (_, c) => ({
      name: columns === 1 ? base : `${base} ${c + 1}`, numbers: Float64Array.from({ length: rows }, (__, r) => read(byColumn ? c * rows + r : r * columns + c)),
    }));
  };
  const read = async (file) => {
    let content = file;
    if (file.name.endsWith(".gz")) content = new Response(file.stream().pipeThrough(new DecompressionStream("gzip")));
    const name = file.name.replace(/\.gz$/, "");
    return name.endsWith(".npy") ? readNpy(name, await content.arrayBuffer()) : readCsv(name, await content.text());
  };

  // ---- columns ----
  const WORDS = { true: 1, false: 0, yes: 1, no: 0, anomaly: 1, normal: 0 };
  const numbersOf = (column) => column.numbers ??= Float64Array.from(column.texts, (text) => text === "" || text.toLowerCase() === "nan" ? NaN : Number(text));
  const isNumeric = (column) => column.isNumeric ??= column.texts === undefined || column.texts.every((text) => text === "" || text.toLowerCase() === "nan" || Number.isFinite(Number(text)));
  const labelsOf = (column) => {
    const found = isNumeric(column) ? [...numbersOf(column)] : column.texts.map((text) => WORDS[text.toLowerCase()]);
    const bad = found.findIndex((value) => value !== 0 && value !== 1);
    if (bad >= 0) throw new Error(`The labels "${column.name}" must be 0 or 1, got "${column.texts?.[bad] ?? found[bad]}" at point ${bad}; choose another column.`);
    return found;
  };
  const looksLabeled = (column) => { try { labelsOf(column); return true; } catch { return false; } };
  // Missing scores at the ends take the nearest score, as in Python.
  const scoresOf = (column) => {
    const numbers = Float64Array.from(numbersOf(column));
    const large = numbers.findIndex((value, k) => Math.abs(value) >= EXACT && /^[+-]?\d+$/.test(column.texts?.[k].trim() ?? ""));
    if (large >= 0) throw new Error(`The score "${column.name}" must hold ${EXACT_RULE}; got ${column.texts[large]} at point ${large}.`);
    const first = numbers.findIndex((value) => !Number.isNaN(value)), last = numbers.findLastIndex((value) => !Number.isNaN(value));
    if (first < 0) throw new Error(`The score "${column.name}" must hold numbers; choose another column.`);
    numbers.fill(numbers[first], 0, first);
    numbers.fill(numbers[last], last + 1);
    const bad = numbers.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0) throw new Error(`The score "${column.name}" must be finite, got ${numbers[bad]} at point ${bad}; fill or remove such points.`);
    return numbers;
  };
  // ISO times; those without a zone are shown as they are.
  const millisecondsOf = (column) => column.texts?.map((text) => /^\d{4}-\d\d-\d\d([ T]|$)/.test(text) ? Date.parse(text.replace(" ", "T") + (/T[\d:.]+$/.test(text.replace(" ", "T")) ? "Z" : "")) : NaN) ?? [];
  // Rows are not sorted here, so they must be in the order of their times, as `vuskit evaluate` takes them.
  const checkOrder = (column) => {
    const times = isNumeric(column) ? [...numbersOf(column)] : millisecondsOf(column);
    const bad = times.findIndex((one, i) => Number.isNaN(one) || (i && one <= times[i - 1]));
    if (bad < 0) return;
    const rule = Number.isNaN(times[bad]) ? "be numbers or ISO times such as 2026-03-21T11:08" : "increase from row to row";
    throw new Error(`The times "${column.name}" must ${rule}, got "${column.texts?.[bad] ?? times[bad]}" at point ${bad}; sort the rows, keep one per time, or rename the column if it holds no times.`);
  };
  const timesOf = (column) => {
    if (!column) return null;
    const ms = millisecondsOf(column);
    if (ms.length < 2 || ms.some((one, i) => Number.isNaN(one) || (i && one <= ms[i - 1]))) return null;
    const step = (ms.at(-1) - ms[0]) / (ms.length - 1);
    if (ms.every((one, i) => Math.abs(one - ms[0] - i * step) <= 1)) return { first: ms[0], step };
    const steps = Float64Array.from({ length: ms.length - 1 }, (_, i) => ms[i + 1] - ms[i]);
    const median = [...steps].sort((one, other) => one - other)[steps.length >> 1];
    const gaps = [...steps.keys()].filter((i) => steps[i] > 1.5 * median);
    const index = ms.map((_, i) => i).filter((i) => i === 0 || i === ms.length - 1 || steps[i] !== steps[i - 1]);
    return { index, ms: index.map((i) => ms[i]), gaps: gaps.length <= Math.min(ms.length / 20, 500) ? gaps : [] };
  };
  const boundsOf = (labels) => { const { starts, stops } = measures.events(labels); return [...starts].map((start, k) => [start, stops[k]]); };
  const deviation = (numbers, labels) => {
    let [sum, squares, count] = [0, 0, 0];
    numbers.forEach((value, i) => { if (!labels[i] && !Number.isNaN(value)) { sum += value; squares += value * value; count++; } });
    const mean = sum / count, spread = Math.sqrt(Math.max(squares / count - mean * mean, 0)) || 1;
    let [away, anomalous] = [0, 0];
    numbers.forEach((value, i) => { if (labels[i] && !Number.isNaN(value)) { away += Math.abs(value - mean) / spread; anomalous++; } });
    return anomalous ? away / anomalous : 0;
  };
  const lineOf = (numbers) => {
    const [low, high] = measures.extremes(numbers.filter((value) => !Number.isNaN(value)));
    return { numbers, bucket: 1, low: Number.isFinite(low) ? low : 0, high: Number.isFinite(high) ? high : 1 };
  };

  // ---- the form ----
  living.tryFile = (place, start) => {
    const { names, definitions, version, measures: listed } = vuskit.data(place.dataset.key);
    const byId = (id) => place.querySelector(`#${id}`);
    const markup = byId("page").content;
    let columns = [], fileName = "", running = null;
    const fail = (error) => { byId("drop-error").textContent = error.message; };
    const usual = (kinds, pool) => kinds.map((kind) => pool.find((column) => column.name.toLowerCase() === kind)).find(Boolean);
    const chosen = (kind) => [...place.querySelectorAll(`[name=${kind}]:checked`)].map((input) => columns[Number(input.value)]);
    // As `vuskit evaluate`: the period of the first chosen channel, or the median length of the anomalies.
    let automatic = null; // {length, reason}
    const suggestBuffer = () => {
      const before = automatic?.length;
      const [value] = chosen("value");
      try {
        const found = buffers.auto(value ? numbersOf(value) : null, boundsOf(labelsOf(columns[Number(byId("role-label").value)])));
        automatic = found && { length: found.length, reason: found.strategy === "period" ? `auto: period of ${value.name}` : "auto: median anomaly length" };
      } catch (error) { fail(error); return; }
      const input = byId("role-buffer");
      if (input.value === "" || Number(input.value) === before) input.value = String(automatic?.length ?? 0);
      explainBuffer();
    };
    const bufferReason = () => automatic && Number(byId("role-buffer").value) === automatic.length ? automatic.reason : "your choice";
    const explainBuffer = () => {
      const own = bufferReason() === "your choice" && automatic;
      byId("role-buffer-reason").textContent = own ? `your choice; ${automatic.reason.replace("auto:", `auto: ${automatic.length},`)}` : bufferReason();
    };
    const box = (kind, column, k, checked) => {
      const input = element("input", { type: "checkbox", name: kind, value: k });
      input.checked = checked;
      return element("label", {}, input, ` ${column.name}`);
    };
    const ask = () => {
      const label = usual(names.labels, columns.filter(looksLabeled)) ?? columns.find(looksLabeled);
      if (!label) throw new Error("There must be a column of labels, 0 or 1, got none; add one.");
      const isDated = (one) => one.texts && !isNumeric(one) && millisecondsOf(one).every((ms) => !Number.isNaN(ms));
      const time = usual(names.times, columns) ?? columns.find(isDated), value = usual(names.values, columns.filter((one) => one !== label && isNumeric(one)));
      const index = usual(["index", "id", "point", "unnamed: 0"], columns.filter((one) => one !== label));
      const isIndex = index?.texts && ["index", "unnamed: 0"].includes(index.name.toLowerCase()) && new Set(index.texts).size === index.texts.length;
      if (time ?? isIndex) checkOrder(time ?? index);
      const options = (list, chosen, none) => [...(none ? [new Option("none", "")] : []), ...list.map((column) => new Option(column.name, String(columns.indexOf(column)), false, column === chosen))];
      byId("role-label").replaceChildren(...options(columns.filter(looksLabeled), label));
      byId("role-time").replaceChildren(...options(columns.filter((one) => one.texts && !isNumeric(one)), time, true));
      const rest = columns.map((column, k) => ({ column, k })).filter(({ column }) => column !== label && isNumeric(column));
      byId("role-scores").replaceChildren(...rest.map(({ column, k }) => box("score", column, k, column !== value && column !== index && column !== time)));
      byId("role-values").replaceChildren(...rest.map(({ column, k }) => box("value", column, k, column === value)));
      byId("roles-title").textContent = `${fileName}: ${(columns[0].numbers?.length ?? columns[0].texts.length).toLocaleString("en")} points`;
      byId("roles").hidden = false;
      byId("role-buffer").value = "";
      suggestBuffer();
      byId("roles").querySelector("[type=submit]").focus();
    };
    const open = async (files) => {
      byId("drop-error").textContent = "";
      byId("roles").hidden = true;
      try {
        columns = (await Promise.all([...files].map(read))).flat();
        if (!columns.length) return;
        fileName = [...files].map((file) => file.name).join(", ");
        const lengths = new Set(columns.map((column) => column.numbers?.length ?? column.texts.length));
        if (lengths.size > 1) throw new Error(`Files must have equal lengths, got ${[...lengths].join(" and ")} points.`);
        ask();
      } catch (error) { fail(error); }
    };
    const evaluate = () => {
      const labels = labelsOf(columns[Number(byId("role-label").value)]);
      const scores = chosen("score");
      if (!scores.length) throw new Error("There must be a score, got none; tick one.");
      const events = boundsOf(labels), n = labels.length, buffer = Math.max(Math.round(Number(byId("role-buffer").value)), 0);
      const anomalous = labels.reduce((sum, one) => sum + one, 0);
      if (!anomalous || anomalous === n) throw new Error("The labels must hold both 0 and 1, got one of them; choose another column.");
      const settings = { definition: definitions[0], buffer, step: 1, side: "both", volume_factor: 1, thresholds: null, threshold: "sigma", k: null };
      const plan = measures.plan(measures.fromBounds(events, n), settings);
      const values = chosen("value").map((column) => ({ name: column.name, numbers: numbersOf(column) }));
      const deviations = values.map(({ numbers }) => deviation(numbers, labels));
      const time = byId("role-time").value;
      return {
        name: fileName, version, n, events, settings, definitions, measures: listed, chance: null,
        channels: values.map(({ name, numbers }) => ({ name, line: lineOf(numbers) })), channel: Math.max(deviations.indexOf(Math.max(...deviations)), 0),
        times: time === "" ? null : timesOf(columns[Number(time)]),
        scores: scores.map((column) => {
          const data = scoresOf(column), found = measures.evaluate(plan, data);
          return { name: column.name, data, threshold: found.threshold, values: found.values };
        }),
        summary: `${n.toLocaleString("en")} points, ${events.length.toLocaleString("en")} ${events.length === 1 ? "anomaly" : "anomalies"} (${anomalous.toLocaleString("en")} points, ${(100 * anomalous / n).toFixed(2)}%), ${scores.length} ${scores.length === 1 ? "detector" : "detectors"}`,
        about: `buffer=${buffer} (${bufferReason()}), thresholds=all, definition=${definitions[0].name}; evaluated in the browser`,
      };
    };
    byId("roles").addEventListener("submit", (event) => {
      event.preventDefault();
      byId("drop-error").textContent = "";
      try {
        const data = evaluate();
        place.querySelector(".living")?.remove();
        place.append(markup.cloneNode(true));
        byId("name").textContent = data.name;
        byId("summary").textContent = data.summary;
        byId("settings").textContent = data.about;
        byId("roles").hidden = true;
        place.classList.add("loaded");
        running = start(data);
        running.draw();
        byId("name").tabIndex = -1;
        byId("name").focus();
      } catch (error) { fail(error); }
    });
    for (const id of ["role-label", "role-values"]) byId(id).addEventListener("change", suggestBuffer);
    byId("role-buffer").addEventListener("input", explainBuffer);
    byId("files").addEventListener("change", (event) => open(event.target.files));
    for (const name of ["dragenter", "dragover"]) document.addEventListener(name, (event) => { event.preventDefault(); byId("drop").classList.add("over"); });
    for (const name of ["dragleave", "drop"]) document.addEventListener(name, () => byId("drop").classList.remove("over"));
    document.addEventListener("drop", (event) => { event.preventDefault(); open(event.dataTransfer.files); });
    return { draw: () => running?.draw() };
  };
})();
