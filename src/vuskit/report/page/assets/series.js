"use strict";
/* The page of one series: controls, and everything that depends on them. Markup: series.html; data: drawing_data() of
   series.py, or a file dropped on the empty page (try.js).

   A model computes, the view draws. Moving a control changes the model's state; the next frame evaluates and repaints
   the detectors shown. Slower parts (other detectors, chance, surfaces) follow when the controls rest.                    */
const living = {};

// ---- data: scores in full, or thinned ----
/* A score is {f8}, {f4}, {codes, levels} (all points; `tied`: rounding made some equal) or {bucket, pairs, regions, near}: the lowest and highest number of
   each bucket, and all points around anomalies. Thinned parts are filled from the highest to the lowest number.           */
living.unpack = (packed, n) => {
  if (packed.f8) return vuskit.doubles(packed.f8);
  if (packed.f4) return Float64Array.from(vuskit.floats(packed.f4));
  if (packed.codes) {
    const levels = vuskit.doubles(packed.levels);
    return Float64Array.from(vuskit.codes(packed.codes), (code) => levels[code]);
  }
  if (packed instanceof Float64Array) return packed;
  const pairs = vuskit.floats(packed.pairs), { bucket } = packed;
  const found = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const b = Math.floor(i / bucket), size = Math.min(bucket, n - b * bucket);
    const share = size > 1 ? (i - b * bucket) / (size - 1) : 0;
    found[i] = pairs[2 * b + 1] + share * (pairs[2 * b] - pairs[2 * b + 1]);
  }
  const near = vuskit.floats(packed.near);
  let at = 0;
  for (const [from, to] of packed.regions) for (let i = from; i < to; i++) found[i] = near[at++];
  return found;
};
living.isWhole = (packed) => !packed.bucket && !packed.tied;

// ---- model ----
living.model = (data) => {
  const { n } = data;
  const detectors = data.scores.map((score, k) => ({ place: k, ...score, k, raw: living.unpack(score.data, n), whole: living.isWhole(score.data), kept: new Map() }));
  const original = Object.freeze({
    rule: ["sigma", "quantile", "best"].includes(data.settings.threshold) ? data.settings.threshold : "given",
    count: null, buffer: data.settings.buffer, lag: 0, noise: 0, from: 0, to: n, definition: data.settings.definition.name, side: data.settings.side,
  });
  const model = { data, n, detectors, original, state: { ...original }, own: new Map() };
  model.isOriginal = () => model.own.size === 0 && Object.keys(original).every((key) => model.state[key] === original[key]);
  // Whether the scores, or the points used, differ from those that Python evaluated.
  const changed = () => model.state.lag !== 0 || model.state.noise !== 0 || model.state.from !== 0 || model.state.to !== n;
  model.isExact = (detector) => detector.whole || model.isOriginal();

  // Cache by key; only the last value, because a moving control invalidates it soon.
  const remembered = (detector, name, key, make) => {
    const before = detector.kept.get(name);
    if (before?.key === key) return before.value;
    const value = make();
    detector.kept.set(name, { key, value });
    return value;
  };
  const scoreKey = () => [model.state.lag, model.state.noise, model.state.from, model.state.to].join();
  // Score with lag and noise, on all points.
  model.moved = (detector) => {
    const { lag, noise } = model.state;
    if (!lag && !noise) return detector.raw;
    return remembered(detector, "moved", `${lag},${noise}`, () => {
      const found = new Float64Array(n);
      if (lag >= 0) { found.set(detector.raw.subarray(0, n - lag), lag); found.fill(detector.raw[0], 0, lag); }
      else { found.set(detector.raw.subarray(-lag)); found.fill(detector.raw[n - 1], n + lag); }
      if (!noise) return found;
      const [low, high] = measures.extremes(found);
      const limit = noise / 100 * (high - low);
      if (!detector.noise) {
        const next = measures.random(1000 + detector.k);
        detector.noise = Float64Array.from({ length: n }, () => 2 * next() - 1);
      }
      for (let i = 0; i < n; i++) found[i] += limit * detector.noise[i];
      return found;
    });
  };
  const cut = (detector) => {
    const { from, to } = model.state;
    return from === 0 && to === n ? model.moved(detector) : remembered(detector, "cut", scoreKey(), () => model.moved(detector).slice(from, to));
  };
  const ordered = (detector) => remembered(detector, "ordered", scoreKey(), () => measures.sorted(cut(detector)));
  let planned = null;
  const settingsOf = () => {
    const { buffer, definition, side } = model.state;
    return { ...data.settings, buffer, side, definition: data.definitions.find(({ name }) => name === definition) };
  };
  const planKey = () => [model.state.from, model.state.to, model.state.buffer, model.state.definition, model.state.side].join();
  model.plan = () => {
    if (planned?.key === planKey()) return planned.plan;
    const { from, to } = model.state;
    const bounds = data.events.map(([a, b]) => [Math.max(a, from) - from, Math.min(b, to) - from]).filter(([a, b]) => a < b);
    planned = { key: planKey(), plan: measures.plan(measures.fromBounds(bounds, to - from), settingsOf()) };
    return planned.plan;
  };
  // Soft labels extend beyond a crop.
  let whole = null;
  model.wholePlan = () => {
    const key = [model.state.buffer, model.state.definition, model.state.side].join();
    if (whole?.key !== key) whole = { key, plan: measures.plan(measures.fromBounds(data.events, n), settingsOf()) };
    return whole.plan;
  };

  // ---- thresholds ----
  const byRule = {
    sigma: (detector) => measures.sigma(cut(detector)),
    quantile: (detector) => measures.quantile(cut(detector)),
    best: (detector) => measures.bestThreshold(model.plan().events, cut(detector)),
    given: (detector) => detector.threshold,
  };
  const hasBoth = () => { const { inside, n: size } = model.plan().events; return inside.length > 0 && inside.length < size; };
  model.ruleThreshold = (detector, rule) => {
    if (rule === original.rule && !changed()) return detector.threshold;
    if (rule === "best" && !hasBoth()) return Infinity;
    // Thinned scores differ in spread from all scores; a lag hardly changes it.
    const { noise, from, to } = model.state;
    if (!detector.whole && !noise && from === 0 && to === n && Number.isFinite(detector.rules?.[rule])) return detector.rules[rule];
    return remembered(detector, `rule ${rule}`, `${scoreKey()},${rule === "best" ? planKey() : ""}`, () => byRule[rule](detector));
  };
  // The threshold that `count` points reach.
  const atCount = (detector, count) => remembered(detector, "at count", `${scoreKey()},${count}`, () => {
    const scores = cut(detector);
    return measures.atRanks(scores, [Math.max(scores.length - Math.max(count, 1), 0)])[0];
  });
  model.threshold = (detector) => model.own.get(detector.k) ?? (model.state.count === null ? model.ruleThreshold(detector, model.state.rule) : atCount(detector, model.state.count));
  model.predictedAt = (detector, threshold) => {
    const scores = cut(detector);
    let count = 0;
    for (let i = 0; i < scores.length; i++) if (scores[i] >= threshold) count++;
    return count;
  };
  // Moves the threshold of one detector by one step, at least to the next score.
  model.stepThreshold = (detector, sign) => {
    const rising = ordered(detector), size = Math.max(Math.round(rising.length / 500), 1);
    const at = measures.countBelow(rising, model.threshold(detector)) + sign * size;
    model.own.set(detector.k, rising[Math.min(Math.max(at, 0), rising.length - 1)]);
  };

  // ---- values ----
  const ruleOf = (detector) => model.state.rule === "best" && model.state.count === null && !model.own.has(detector.k) ? "best" : model.threshold(detector);
  model.areas = (detector) => remembered(detector, "areas", `${scoreKey()},${planKey()}`, () => measures.evaluate(model.plan(), cut(detector), { only: "areas" }));
  model.values = (detector) => {
    const threshold = ruleOf(detector);
    const cutAt = remembered(detector, "cut values", `${scoreKey()},${planKey()},${threshold}`, () => measures.evaluate(model.plan(), cut(detector), { only: "threshold", threshold }));
    const found = { ...model.areas(detector).values, ...cutAt.values };
    return model.isOriginal() ? { ...found, ...Object.fromEntries(data.measures.map(({ name }) => [name, detector.values[name] ?? NaN])) } : found;
  };
  model.isFresh = (detector) => detector.kept.get("areas")?.key === `${scoreKey()},${planKey()}`;
  model.events = (detector) => {
    const threshold = model.threshold(detector), { from } = model.state;
    return remembered(detector, "events", `${scoreKey()},${planKey()},${threshold}`, () => {
      const ranks = remembered(detector, "peaks", `${scoreKey()},${planKey()}`, () => measures.peakRanks(model.plan(), cut(detector)));
      const found = measures.eventTable(model.plan(), cut(detector), threshold, ranks);
      for (const row of found.rows) { row.start += from; row.stop += from; }
      return { ...found, alarms: found.alarms.map(([a, b]) => [a + from, b + from]) };
    });
  };
  // Numbers of found anomalies, false alarms (runs of points) and separate ones (at most a buffer apart). Those of
  // thinned scores are exact at the rules that Python counted, otherwise `mark` says that they are approximate.
  model.counts = (detector) => {
    const { buffer, side, rule, count } = model.state;
    const { rows, found, alarms } = model.events(detector);
    const still = !changed() && buffer === original.buffer && side === original.side && count === null && !model.own.has(detector.k);
    const counted = still && !detector.whole ? detector.counts?.[rule] : null;
    if (counted) return { total: rows.length, found: counted[0], alarms: counted[1], separate: counted[2], mark: "" };
    const separate = alarms.filter(([start], k) => k === 0 || start - alarms[k - 1][1] > buffer).length;
    return { total: rows.length, found, alarms: alarms.length, separate, mark: detector.whole ? "" : "≈" };
  };
  model.heights = (detector, widths, places) => {
    if (!hasBoth()) return null;
    return remembered(detector, "heights", `${scoreKey()},${planKey()}`, () => measures.heights(model.plan(), cut(detector), widths, places));
  };
  model.hasBoth = hasBoth;
  model.chance = (detector) => {
    const rule = ruleOf(detector);
    const named = model.own.size === 0 && model.state.count === null && rule !== detector.threshold && typeof rule === "string" ? rule : model.state.rule;
    const fixed = model.own.size > 0 || model.state.count !== null || named === "given";
    const plan = { ...model.plan(), settings: { ...model.plan().settings, threshold: fixed ? 0 : named } };
    return measures.chance(plan, { draws: Math.max(Math.min(20, Math.floor(2e6 / n)), 3), predicted: model.predictedAt(detector, model.threshold(detector)) });
  };
  return model;
};

// ---- time ----
living.clock = (times) => {
  if (!times) return null;
  let { index, ms: known } = times;
  if (times.steps) {
    const steps = new Uint32Array(Uint8Array.from(atob(times.steps), (letter) => letter.charCodeAt(0)).buffer);
    known = new Float64Array(steps.length + 1);
    known[0] = times.first;
    steps.forEach((step, k) => { known[k + 1] = known[k] + step; });
  }
  const at = (point) => {
    if ("step" in times) return times.first + point * times.step;
    let [k, end] = [0, known.length - 1];
    if (!index) k = Math.min(Math.max(Math.floor(point), 0), end - 1);
    else while (end - k > 1) { const middle = (k + end) >> 1; if (index[middle] <= point) k = middle; else end = middle; }
    const [a, b] = index ? [index[k], index[k + 1]] : [k, k + 1];
    return known[k] + (known[k + 1] - known[k]) * (point - a) / (b - a);
  };
  const gaps = times.gaps ?? [];
  const before = new Set(gaps);
  const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
  const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE,
    HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY, 182 * DAY, 365 * DAY, 730 * DAY, 3650 * DAY];
  const text = (ms, step = 0) => {
    const iso = new Date(ms).toISOString();
    if (step >= DAY) return iso.slice(0, 10);
    if (step >= MINUTE) return `${iso.slice(0, 10)} ${iso.slice(11, 16)}`;
    return `${iso.slice(0, 10)} ${iso.slice(11, step >= SECOND || (step === 0 && ms % SECOND === 0) ? 19 : 23)}`;
  };
  const ticks = ([from, to], most) => {
    const [low, high] = [at(from), at(to)];
    const step = STEPS.find((one) => (high - low) / one <= most) ?? STEPS.at(-1);
    const found = [];
    for (let ms = Math.ceil(low / step) * step; ms <= high && found.length < 50; ms += step) {
      // Find the point with that time by bisection.
      let [a, b] = [from, to];
      for (let i = 0; i < 40; i++) { const middle = (a + b) / 2; if (at(middle) < ms) a = middle; else b = middle; }
      if (before.has(Math.floor(b)) && b % 1 > 1e-6) continue; // no point has this time
      found.push({ at: b, text: text(ms, step) });
    }
    return found;
  };
  const duration = (ms) => {
    const units = [[DAY, "d"], [HOUR, "h"], [MINUTE, "min"], [SECOND, "s"]];
    const first = units.findIndex(([size]) => ms >= size);
    if (first < 0) return `${ms} ms`;
    const rest = units.slice(first, first + 2).map(([size, unit], k) => [Math.floor((k ? ms % units[first][0] : ms) / size), unit]);
    return rest.filter(([count]) => count).map(([count, unit]) => `${count} ${unit}`).join(" ");
  };
  const length = (point) => at(point + 1) - at(point);
  const gapText = gaps.length ? `${gaps.length === 1 ? "1 gap" : `${gaps.length.toLocaleString("en")} gaps`} in time, the longest of ${duration(Math.max(...gaps.map(length)))}` : "";
  return {
    at, ticks, gaps, gapText,
    text: (point) => `${times.approximate ? "≈" : ""}${text(at(point))}${before.has(point) ? `, then a gap of ${duration(length(point))}` : ""}`,
  };
};

// ---- the view ----
vuskit.view("series", (place, data) => {
  if (data.empty) return living.tryFile(place, (given) => living.start(place, given));
  return living.start(place, data);
});

living.start = (place, data) => {
  const { element, color, heat, prepare, format } = vuskit;
  const byId = (id) => place.querySelector(`#${id}`);
  const model = living.model(data);
  const { detectors, n, state, original } = model;
  const clock = living.clock(data.times);
  const zoom = charts.zoom(0, n, Math.min(10, n));
  const { whole } = vuskit;
  const named = (k) => detectors[k].name;
  const MINUS = "−";
  const signed = (number) => `${number > 0 ? "+" : number < 0 ? MINUS : ""}${Math.abs(number).toLocaleString("en")}`;
  const shownValue = (value) => value === undefined || value === null || Number.isNaN(value) ? "–" : Math.abs(value) < 1000 ? value.toFixed(3).replace("-", MINUS) : format(value);
  const titles = Object.fromEntries(data.measures.map(({ name, title }) => [name, title]));
  const isLive = (name) => data.measures.find((one) => one.name === name)?.live ?? true;

  // A and B are the best by VUS-PR, or the first measure.
  const ranked = detectors.map(({ k }) => k).sort((a, b) => (detectors[b].values[data.measures[0]?.name] ?? -1) - (detectors[a].values[data.measures[0]?.name] ?? -1));
  const pair = [ranked[0], ranked[1] ?? null];
  const shown = new Set(pair.filter((k) => k !== null));
  // A, B, then the others.
  const placeOfPair = (k) => pair.includes(k) ? pair.indexOf(k) : 2;
  const byPair = (list) => [...list].sort((a, b) => placeOfPair(a.k) - placeOfPair(b.k) || a.k - b.k);
  const visible = () => byPair(detectors.filter(({ k }) => shown.has(k)));
  // Colors follow the order of the detectors in the run, as on all pages.
  const lineColor = (k) => vuskit.lineColor(detectors[k].place);
  const lineDash = (k) => vuskit.lineDash(detectors[k].place);

  // ---- headline: A versus B ----
  const HEADLINE = ["vus_pr", "vus_roc", "f_score"].filter((name) => data.measures.some((one) => one.name === name));
  const headline = HEADLINE.length ? HEADLINE : data.measures.slice(0, 2).map(({ name }) => name);
  const selects = pair.map((chosen, side) => {
    const select = element("select", { id: `pick-${"ab"[side]}`, "aria-label": `Detector ${"AB"[side]}` }, ...detectors.map(({ name, k }) => new Option(name, String(k))));
    if (chosen !== null) select.value = String(chosen);
    select.addEventListener("change", () => {
      const now = Number(select.value), before = pair[side];
      if (pair[1 - side] === now) { pair[1 - side] = before; selects[1 - side].value = String(before); } else shown.delete(before);
      pair[side] = now;
      shown.add(now);
      refill();
      update();
    });
    return select;
  });
  const cellsOf = (makes) => pair.map((k, side) => k === null ? null : element("td", { "data-side": side }, ...makes()));
  const duelRows = new Map();
  const buildDuel = () => {
    const value = () => [element("b"), element("span", { class: "meter", "aria-hidden": "true" }, element("i"), element("u")), element("small")];
    const row = (key, title, makes, about = {}) => {
      const cells = cellsOf(makes).filter(Boolean);
      duelRows.set(key, cells);
      return element("tr", about, element("th", { scope: "row" }, element("span", { text: title }), element("small", { "data-chance": key })), ...cells);
    };
    byId("duel").replaceChildren(element("table", { class: "versus" },
      element("caption", { class: "unseen", text: "Headline values" }),
      element("thead", {}, element("tr", {}, element("td"), ...pair.flatMap((k, side) => k === null ? [] : [element("th", { scope: "col" }, element("span", { class: "badge", text: "AB"[side] }), selects[side])]))),
      element("tbody", {}, ...headline.map((name) => row(name, titles[name], value, { class: name.startsWith("vus") ? "value big" : "value" })),
        row("found", "anomalies found", () => [element("b"), element("small")]), row("alarms", "false alarms", () => [element("b"), element("small")]))));
  };
  const PENDING = "…";
  const chances = { values: data.chance?.mean ?? null, fresh: true };
  const drawDuel = () => {
    const live = !model.isOriginal();
    for (const name of headline) duelRows.get(name).forEach((cell, side) => {
      const detector = detectors[pair[side]], value = model.values(detector)[name], before = detector.values[name];
      const [number, meter, small] = cell.children;
      number.textContent = `${live && !model.isExact(detector) ? "≈" : ""}${shownValue(value)}`;
      meter.style.setProperty("--share", `${100 * Math.min(Math.max(value || 0, 0), 1)}%`);
      meter.style.setProperty("--before", `${100 * Math.min(Math.max(before || 0, 0), 1)}%`);
      meter.style.setProperty("--ink", lineColor(detector.k));
      meter.classList.toggle("moved", live && before !== null);
      small.textContent = live ? `was ${shownValue(before)}` : "";
      // A placeholder keeps the layout still while chance levels are computed.
      const chance = chances.values && chances.fresh ? chances.values[name] : PENDING;
      cell.parentElement.querySelector("[data-chance]").textContent = !model.hasBoth() || chance === undefined || chance === null ? "" : `chance ${chance === PENDING ? PENDING : shownValue(chance)}`;
    });
    duelRows.get("found").forEach((cell, side) => {
      const { found, total, mark } = model.counts(detectors[pair[side]]);
      cell.children[0].textContent = `${mark}${whole(found)}/${whole(total)}`;
      cell.children[1].textContent = live ? `was ${whole(firsts[pair[side]].found)}` : "";
      cell.classList.toggle("warn", found < total);
    });
    duelRows.get("alarms").forEach((cell, side) => {
      const { alarms, separate, mark } = model.counts(detectors[pair[side]]);
      cell.children[0].textContent = `${mark}${whole(alarms)}`;
      cell.children[1].textContent = live ? `was ${whole(firsts[pair[side]].alarms)}` : separate < alarms ? `${mark}${whole(separate)} separate` : "";
      cell.classList.toggle("warn", alarms > 0);
    });
  };
  const firsts = detectors.map(model.counts);

  // ---- controls ----
  const RULES = { sigma: ["3σ", "mean + 3 standard deviations"], quantile: ["q 0.99", "0.99 quantile"], best: ["best F", "threshold of the highest F"], given: ["given", "threshold of the evaluation"] };
  const rules = [...(original.rule === "given" ? ["given"] : []), "sigma", "quantile", "best"];
  const placeOf = (count) => count < 1 ? 1000 : 1000 * (1 - Math.log(count) / Math.log(Math.max(model.state.to - model.state.from, 2)));
  const countOf = (at) => Math.max(Math.round((state.to - state.from) ** (1 - at / 1000)), 1);
  const lead = () => detectors[pair[0]];
  const drawThreshold = () => {
    const detector = lead(), threshold = model.threshold(detector), count = model.predictedAt(detector, threshold);
    byId("threshold").value = String(Math.round(placeOf(count)));
    const share = count / (state.to - state.from);
    byId("threshold-value").textContent = `${format(threshold)} · ${share === 0 ? "0" : share < 0.001 ? "< 0.1" : (100 * share).toFixed(1)} % of points`;
    byId("threshold").setAttribute("aria-valuetext", `${named(pair[0])} ${format(threshold)}, ${whole(count)} points`);
    const marks = rules.map((rule) => ({ rule, at: placeOf(model.predictedAt(detector, model.ruleThreshold(detector, rule))) })).sort((a, b) => a.at - b.at);
    // If labels would overlap, keep the one of the current rule.
    const labeled = [];
    for (const one of [...marks].sort((a, b) => (b.rule === state.rule) - (a.rule === state.rule))) if (labeled.every((other) => Math.abs(other.at - one.at) > 130)) labeled.push(one);
    byId("threshold-ticks").replaceChildren(...marks.map(({ rule, at }) => {
      const mark = element("span", { "data-rule": rule, text: labeled.some((one) => one.rule === rule) ? RULES[rule][0] : "" });
      mark.style.left = `calc(${at / 10}% + ${(0.5 - at / 1000) * 16}px)`; // the thumb does not reach the ends
      return mark;
    }));
    for (const button of byId("rules").children) button.setAttribute("aria-pressed", String(state.count === null && model.own.size === 0 && button.dataset.rule === state.rule));
  };
  const drawControls = () => {
    for (const [id, value] of [["buffer", state.buffer], ["lag", state.lag], ["noise", state.noise], ["crop-from", state.from], ["crop-to", state.to]]) byId(id).value = String(value);
    byId("definition").value = state.definition;
    byId("side").value = state.side;
    byId("buffer-value").textContent = `${whole(state.buffer)} points${state.buffer === original.buffer ? "" : `, was ${whole(original.buffer)}`}`;
    byId("lag-value").textContent = state.lag === 0 ? "none" : `${signed(state.lag)} points, ${state.lag > 0 ? "later" : "earlier"}`;
    byId("noise-value").textContent = state.noise === 0 ? "none" : `± ${state.noise} % of the range`;
    byId("crop-value").textContent = state.from === 0 && state.to === n ? "all points" : `${whole(state.from)} to ${whole(state.to - 1)}`;
    byId("crop-from").parentElement.style.setProperty("--from", `${100 * state.from / n}%`);
    byId("crop-from").parentElement.style.setProperty("--to", `${100 * state.to / n}%`);
    drawThreshold();
    const approximate = visible().some((detector) => !model.isExact(detector));
    byId("state").textContent = model.isOriginal() ? "original values" : approximate ? "live values; ≈ approximate" : "live values, exact";
    byId("reset").disabled = model.isOriginal();
  };
  const change = (changes) => { Object.assign(state, changes); update(); };
  const listen = (id, act) => byId(id).addEventListener("input", (event) => act(Number(event.target.value)));
  byId("buffer").max = String(Math.min(Math.max(2 * original.buffer, 20), Math.max(n, original.buffer)));
  const most = Math.min(Math.max(original.buffer, 10), n - 1);
  [byId("lag").min, byId("lag").max] = [String(-most), String(most)];
  for (const id of ["crop-from", "crop-to"]) byId(id).max = String(n);
  listen("threshold", (at) => { model.own.clear(); change({ count: countOf(at) }); });
  listen("buffer", (buffer) => change({ buffer }));
  listen("lag", (lag) => change({ lag }));
  listen("noise", (noise) => change({ noise }));
  const least = Math.min(10, n);
  listen("crop-from", (from) => change({ from: Math.min(from, state.to - least) }));
  listen("crop-to", (to) => change({ to: Math.max(to, state.from + least) }));
  byId("definition").replaceChildren(...data.definitions.map(({ name, title }) => { const option = new Option(name, name); option.title = title; return option; }));
  byId("definition").addEventListener("change", (event) => change({ definition: event.target.value }));
  byId("side").addEventListener("change", (event) => change({ side: event.target.value }));
  byId("rules").replaceChildren(...rules.map((rule) => element("button", { type: "button", text: RULES[rule][0], title: RULES[rule][1], "data-rule": rule,
    onclick: () => { model.own.clear(); change({ rule, count: null }); } })));
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("controls").addEventListener("reset", (event) => { event.preventDefault(); model.own.clear(); change({ ...original }); });

  // ---- lines ----
  const { channels } = data;
  let channel = data.channel ?? 0;
  byId("channel").replaceChildren(...channels.map(({ name }, i) => new Option(name, String(i))));
  byId("channel").value = String(channel);
  byId("channel-label").hidden = channels.length < 2;
  byId("channel").addEventListener("change", (event) => { channel = Number(event.target.value); headings(); lines.draw(); });
  const lineOf = (packed) => {
    if (!packed.numbers) {
      const share = vuskit.shares(packed.data);
      packed.numbers = share.map((one) => packed.low + one * (packed.high - packed.low));
    }
    return packed;
  };
  const eventAt = (point) => data.events.findIndex(([a, b]) => point >= a && point < b);
  const nameOf = (point) => [`point ${whole(point)}`, clock?.text(point), eventAt(point) >= 0 ? `anomaly ${eventAt(point) + 1}` : ""].filter(Boolean).join(" · ");
  const pointTicks = (range, count) => vuskit.scale({ low: range[0], high: range[1], from: 0, to: 1 }).ticks(count).filter(Number.isInteger).map((at) => ({ at, text: at.toLocaleString("en") }));
  const lines = charts.tracks(byId("lines"), {
    size: n, zoom, label: data.name,
    ticks: clock ? clock.ticks : pointTicks,
    name: nameOf,
    spans: () => data.events.map(([from, to]) => ({ from, to, kind: "event" })),
    gaps: clock?.gaps,
    cropped: () => [state.from, state.to],
  });
  const told = ({ numbers, bucket }, point) => {
    if (bucket === 1) return Number.isNaN(numbers[point]) ? "no value" : format(numbers[point]);
    const k = 2 * Math.floor(point / bucket);
    return `${format(numbers[k])} to ${format(numbers[k + 1])} around it`;
  };
  const valueTrack = channels.length ? lines.add({
    title: () => channels[channel].name, color: () => color("ink"), height: 104,
    line: () => lineOf(channels[channel].line), text: (point) => told(lineOf(channels[channel].line), point),
  }) : null;
  const dense = detectors.length > 8;
  const scoreTracks = detectors.map((detector) => lines.add({
    title: () => detector.name, color: () => lineColor(detector.k), height: dense ? 84 : 104,
    line: () => {
      const numbers = model.moved(detector);
      if (detector.drawn?.numbers !== numbers) { const [low, high] = measures.span(numbers); detector.drawn = { numbers, bucket: 1, low, high }; }
      return detector.drawn;
    },
    text: (point) => `${detector.whole ? "" : "≈ "}${format(model.moved(detector)[point])}`,
    threshold: () => model.threshold(detector),
    drag: (number) => { model.own.set(detector.k, number); update(); },
    step: (sign) => { model.stepThreshold(detector, sign); update(); },
    marks: () => {
      const { rows, alarms } = model.events(detector);
      return [...rows.map((row) => ({ at: (row.start + row.stop) / 2, kind: row.found ? "found" : "missed" })), ...alarms.map(([a, b]) => ({ at: (a + b) / 2, kind: "alarm" }))];
    },
  }));
  const softTrack = lines.add({
    title: () => `soft label, buffer ${whole(state.buffer)}`, color: () => color("soft"), height: 56, labels: ["1", "0"],
    line: () => softLine(), text: (point) => format(measures.softLabel(model.wholePlan(), point, state.buffer)),
  });
  // The soft label is zero except around anomalies.
  let soft = null;
  const softLine = () => {
    const plan = model.wholePlan();
    if (soft?.plan === plan) return soft.line;
    const numbers = new Float32Array(n);
    for (let i = 0; i < plan.points.length; i++) { const p = plan.points[i]; numbers[p] = measures.softLabel(plan, p, state.buffer); }
    soft = { plan, line: { numbers, bucket: 1, low: 0, high: 1 } };
    return soft.line;
  };
  const headings = () => {
    for (const { detector, track } of detectors.map((detector, k) => ({ detector, track: scoreTracks[k] }))) {
      const side = pair.indexOf(detector.k);
      track.heading.replaceChildren(...(side >= 0 ? [element("span", { class: "badge", text: "AB"[side] })] : []), detector.name);
    }
    if (valueTrack) valueTrack.heading.textContent = channels[channel].name;
    softTrack.heading.textContent = softTrack.title();
  };
  const drawLegend = () => charts.legend(byId("legend"), detectors.map(({ name, k }) => ({
    name: k, title: pair.includes(k) ? `${"AB"[pair.indexOf(k)]}  ${name}` : name, color: lineColor(k), dash: lineDash(k).join(" "), shown: shown.has(k),
  })), (k) => { if (!shown.delete(k)) shown.add(k); refill(); update(); });
  // Updates everything that depends on which detectors are shown.
  const refill = () => {
    lines.show([...(valueTrack ? [valueTrack] : []), ...visible().map(({ k }) => scoreTracks[k]), softTrack]);
    drawLegend();
    headings();
    fillSurfaces();
  };
  let visited = -1;
  const visit = (k) => {
    visited = k;
    const [start, stop] = data.events[k];
    const room = Math.max(2 * (stop - start), 1.5 * state.buffer, 50);
    zoom.set((start + stop) / 2 - room, (start + stop) / 2 + room);
  };
  zoom.follow(() => {
    byId("range").textContent = `Points ${whole(zoom.range[0])} to ${whole(zoom.range[1])} of ${whole(n)}${clock?.gapText ? `; dotted: ${clock.gapText}` : ""}`;
    byId("visited").textContent = visited >= 0 && zoom.range[1] - zoom.range[0] < n ? `anomaly ${visited + 1} of ${data.events.length}` : "anomalies";
  });
  for (const button of place.querySelectorAll("[data-zoom]")) button.addEventListener("click", zoom[button.dataset.zoom]);
  for (const button of place.querySelectorAll("[data-visit]")) button.addEventListener("click", () => {
    const count = data.events.length;
    if (count) visit((visited < 0 ? (button.dataset.visit > 0 ? 0 : count - 1) : visited + Number(button.dataset.visit) + count) % count);
  });

  // ---- measures: one row per detector ----
  const columns = [...data.measures.map((one) => ({ ...one, kind: "value" }))];
  columns.splice(Math.min(columns.filter(({ name }) => name.startsWith("vus")).length, 2), 0, { name: "found", title: "found", kind: "found", higher: true }, { name: "alarms", title: "false alarms", kind: "alarms", higher: false });
  const rows = detectors.map((detector) => {
    const cells = columns.map((column) => element("td", { "data-title": column.title }, element("span"), element("small")));
    const heading = element("th", { scope: "row", "data-value": detector.name }, element("span", { class: "dot" }), element("span", { text: detector.name }));
    return { detector, cells, heading, row: element("tr", {}, heading, ...cells) };
  });
  const chanceCells = columns.map((column) => element("td", { "data-title": column.title }));
  const table = element("table", { id: "measures", class: "cards" },
    element("caption", {}, element("span", { text: `Measures of ${data.name}` })),
    element("thead", {}, element("tr", {}, ...[{ title: "detector" }, ...columns].map(({ title, higher = true, kind }) => element("th", { scope: "col", text: `${title}${higher || kind === "alarms" ? "" : " ↓"}` })))),
    element("tbody", {}, ...rows.map(({ row }) => row)),
    element("tfoot", {}, element("tr", {}, element("th", { scope: "row", text: "chance" }), ...chanceCells)));
  byId("measures-place").replaceChildren(table);
  vuskit.sortable(table);
  const put = (cell, text, value, before) => {
    const [main, small] = cell.children;
    if (main.textContent !== text) main.textContent = text;
    cell.dataset.value = value === undefined || value === null || Number.isNaN(value) ? "" : String(value);
    if (small.textContent !== before) small.textContent = before;
  };
  const drawMeasures = () => {
    const live = !model.isOriginal();
    const found = rows.map(({ detector }) => model.isFresh(detector) || !live ? model.values(detector) : null);
    columns.forEach((column, c) => {
      const all = found.map((values) => values?.[column.name]).filter((value) => value !== undefined && !Number.isNaN(value));
      const top = new Set(all).size < 2 ? NaN : column.higher ? Math.max(...all) : Math.min(...all);
      rows.forEach(({ detector, cells, row }, r) => {
        row.classList.toggle("stale", found[r] === null);
        const cell = cells[c];
        if (found[r] === null) return;
        if (column.kind !== "value") {
          const table_ = model.counts(detector), value = table_[column.kind];
          put(cell, `${table_.mark}${column.kind === "found" ? `${whole(value)}/${whole(table_.total)}` : whole(value)}`, value, live ? whole(firsts[detector.k][column.kind]) : "");
          return;
        }
        const value = found[r][column.name];
        const still = live && !column.live;
        put(cell, still ? shownValue(detector.values[column.name]) : `${live && !model.isExact(detector) ? "≈" : ""}${shownValue(value)}`, still ? detector.values[column.name] : value, still ? "not live" : live ? shownValue(detector.values[column.name]) : "");
        cell.classList.toggle("best", value === top);
      });
      const chance = chances.values?.[column.name];
      chanceCells[c].textContent = !chances.values && column.kind === "value" ? PENDING : chance === undefined || chance === null ? "" : shownValue(chance);
      chanceCells[c].dataset.value = chance ?? "";
    });
    table.tFoot.hidden = !model.hasBoth();
    table.tFoot.classList.toggle("stale", !chances.fresh);
    const notes = ["Bold: best detector. Found: an alarm touches the anomaly or its buffer, or, for measures named Event-, the anomaly (see \"When an anomaly is found\" in the documentation). False alarms are runs of points that touch neither; those more than a buffer apart are separate."];
    if (data.measures.some(({ higher }) => !higher)) notes.push("↓: lower is better.");
    if (!table.tFoot.hidden) notes.push(`Chance: mean of ${data.chance?.draws && !live ? data.chance.draws : "several"} random scores.`);
    if (live) notes.push("Small: the original value.");
    notes.push(detectors.every((one) => one.whole) ? "The page holds all scores: live values are exact."
      : "The page holds thinned scores: original values are exact; ≈ marks live values, which are approximate.");
    if (data.note) notes.push(data.note);
    byId("measures-note").textContent = notes.join(" ");
    for (const { detector, heading, row } of rows) {
      heading.children[0].style.background = lineColor(detector.k);
      row.classList.toggle("chosen", pair.includes(detector.k));
    }
  };

  // ---- R-AUC against buffer ----
  const areaPlots = { pr: charts.plot(byId("area-pr"), "R-AUC-PR against buffer"), roc: charts.plot(byId("area-roc"), "R-AUC-ROC against buffer") };
  const curves = (field) => visible().filter((detector) => model.areas(detector).areas).map((detector) => {
    const { widths, [field]: values } = model.areas(detector).areas;
    return { name: detector.name, title: detector.name, color: lineColor(detector.k), dash: lineDash(detector.k).join(" "), points: [...widths].map((w, i) => [w, Math.min(Math.max(values[i], 0), 1)]) };
  });
  const drawAreas = () => {
    for (const field of ["pr", "roc"]) charts.lines(areaPlots[field], curves(field), {
      height: 230, marks: false, x: { title: "buffer", range: [0, Math.max(state.buffer, 1)] }, y: { title: `R-AUC-${field.toUpperCase()}`, range: [0, 1] },
      upright: original.buffer < state.buffer ? [{ at: original.buffer, kind: "touchline" }] : [],
    });
  };

  // ---- surfaces ----
  const COLUMNS = 61;
  const places = Array.from({ length: COLUMNS }, (_, i) => i / (COLUMNS - 1));
  const view = { turn: -0.85, tilt: 0.42 };
  const surfaceWidths = () => {
    const step = Math.max(Math.ceil(state.buffer / 40), 1);
    const found = [];
    for (let w = 0; w < state.buffer; w += step) found.push(w);
    return [...found, state.buffer];
  };
  const fillSurfaces = () => {
    const select = byId("surface-score"), before = select.value;
    const list = byPair(detectors).map(({ name, k }) => new Option(name, String(k)));
    if (pair[1] !== null) list.splice(2, 0, new Option(`${named(pair[0])} ${MINUS} ${named(pair[1])}`, "difference"));
    select.replaceChildren(...list);
    if (list.some(({ value }) => value === before)) select.value = before;
  };
  // Heights of the selection: one detector, or the difference of A and B.
  const surface = () => {
    const widths = surfaceWidths(), chosen = byId("surface-score").value;
    const heights = (k) => model.heights(detectors[k], widths, places);
    const difference = chosen === "difference";
    const one = heights(difference ? pair[0] : Number(chosen));
    if (!one) return null;
    const other = difference ? heights(pair[1]) : null;
    const of = (field) => other ? one[field].map((value, i) => value - other[field][i]) : one[field];
    const value = (name) => { const v = (k) => model.values(detectors[k])[name]; return difference ? v(pair[0]) - v(pair[1]) : v(Number(chosen)); };
    // Differences are usually small: their scale ends at the next tenth.
    const [roc, pr] = [of("roc"), of("pr")];
    let most = 0;
    if (difference) for (const values of [roc, pr]) for (const value of values) most = Math.max(most, Math.abs(value));
    const high = difference ? Math.max(Math.ceil(10 * most - 1e-6), 1) / 10 : 1;
    return { widths, difference, roc, pr, high, low: difference ? -high : 0, value, title: byId("surface-score").selectedOptions[0].text };
  };
  const SURFACES = { roc: ["false-positive rate", "true-positive rate"], pr: ["recall", "precision"] };
  const looks = {};
  let drawnSurface = null;
  const paintOf = ({ difference, high }) => difference ? (value) => charts.diverging(value / high) : heat;
  const drawSurface = (field, kind) => {
    const canvas = byId(`${field}-${kind}`);
    const { pen, width, height } = prepare(canvas);
    if (!drawnSurface) { pen.fillStyle = color("quiet"); pen.fillText("needs normal and anomalous points", 20, height / 2); looks[`${field}-${kind}`] = null; return; }
    const options = { heights: drawnSurface[field], widths: drawnSurface.widths, columns: COLUMNS, longest: state.buffer, paint: paintOf(drawnSurface), bottom: SURFACES[field][0] };
    if (kind === "3d") looks[`${field}-3d`] = charts.surface(pen, { width, height }, { ...options, upward: SURFACES[field][1], ...view, low: drawnSurface.low, high: drawnSurface.high });
    else looks[`${field}-map`] = charts.map(pen, { width, height }, options);
  };
  const drawScale = () => {
    const { pen, width, height } = prepare(byId("scale"));
    const difference = Boolean(drawnSurface?.difference);
    byId("scale-low").textContent = difference ? `${MINUS}${drawnSurface.high}` : "0";
    byId("scale-high").textContent = difference ? String(drawnSurface.high) : "1";
    for (let i = 0; i < width; i++) { const share = i / width; pen.fillStyle = difference ? charts.diverging(2 * share - 1) : heat(share); pen.fillRect(i, 0, 1.5, height); }
  };
  const drawSurfaces = () => {
    drawnSurface = surface();
    for (const field of ["pr", "roc"]) {
      for (const kind of ["3d", "map"]) drawSurface(field, kind);
      const vus = drawnSurface && drawnSurface.value(`vus_${field}`);
      const value = vus === null || vus === undefined || Number.isNaN(vus) ? "" : `: VUS-${field.toUpperCase()} ${drawnSurface.difference ? (vus >= 0 ? "+" : "") : ""}${shownValue(vus)}`;
      byId(`${field}-caption`).textContent = drawnSurface ? `${drawnSurface.title}, ${field === "pr" ? "precision-recall" : "ROC"} surface${value}` : "";
    }
    drawScale();
  };
  byId("surface-score").addEventListener("change", drawSurfaces);
  const cellText = (field, [i, j]) => `${SURFACES[field][0]} ${places[i].toFixed(2)}, buffer ${whole(drawnSurface.widths[j])}\n${SURFACES[field][1]}${drawnSurface.difference ? " difference" : ""} ${shownValue(drawnSurface[field][j * COLUMNS + i])}`;
  for (const field of ["pr", "roc"]) for (const kind of ["3d", "map"]) {
    const canvas = byId(`${field}-${kind}`);
    vuskit.tip(canvas, (px, py) => { const at = looks[`${field}-${kind}`]?.at(px, py); return at && cellText(field, at); });
    charts.savable(canvas, () => drawSurface(field, kind), `${data.name}_${field}_${kind === "3d" ? "surface" : "map"}`);
  }
  for (const field of ["pr", "roc"]) {
    const canvas = byId(`${field}-map`);
    let cursor = null;
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!step || !drawnSurface) return;
      event.preventDefault();
      cursor = cursor ? [Math.min(Math.max(cursor[0] + step[0], 0), COLUMNS - 1), Math.min(Math.max(cursor[1] + step[1], 0), drawnSurface.widths.length - 1)] : [0, 0];
      const text = cellText(field, cursor), box = canvas.getBoundingClientRect();
      vuskit.showTip(text, box.left + box.width / 2, box.top + box.height / 2);
      vuskit.tell(text);
    });
    canvas.addEventListener("blur", vuskit.hideTip);
  }
  for (const id of ["roc-3d", "pr-3d"]) {
    const canvas = byId(id);
    let last = null;
    const turn = (right, up) => {
      view.turn += right;
      view.tilt = Math.min(Math.max(view.tilt + up, 0.05), 1.5);
      drawSurface("pr", "3d");
      drawSurface("roc", "3d");
    };
    canvas.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { last = null; });
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

  // ---- anomaly by anomaly ----
  const MOST_EVENTS = 300;
  const alarmText = ({ alarms, separate, mark }) => {
    const runs = `${mark}${whole(alarms)} false alarm${alarms === 1 ? "" : "s"}`;
    return separate < alarms ? `${runs} (runs of points), ${mark}${whole(separate)} of them separate,` : runs;
  };
  const statusOf = (row) => row.found ? `found, ${signed(row.delay)}` : "missed";
  const drawEvents = () => {
    const chosen = visible(), tables = chosen.map((detector) => model.events(detector)), counts = chosen.map(model.counts);
    byId("counts").replaceChildren(...chosen.map((detector, j) => element("li", {},
      element("b", { text: detector.name }), ` finds ${counts[j].mark}${whole(counts[j].found)} of ${whole(counts[j].total)} with ${alarmText(counts[j])} at ${format(model.threshold(detector))}.`)));
    const base = tables[0]?.rows ?? [];
    byId("events").replaceChildren(
      element("caption", {}, element("span", { text: "found, −5: the alarm starts 5 points before the anomaly. Peak rank: place of the highest score within the anomaly among all points." })),
      element("thead", {}, element("tr", {}, ...["anomaly", "points", ...(clock ? ["start"] : []), "length", ...chosen.flatMap(({ name }) => [name, `${name}: peak rank`])].map((text) => element("th", { scope: "col", text, class: vuskit.wrapping(text) })))),
      element("tbody", {}, ...base.slice(0, MOST_EVENTS).map((row, i) => {
        const k = data.events.findIndex(([a, b]) => a < row.stop && b > row.start);
        return element("tr", {},
          element("th", { scope: "row", "data-value": k + 1 }, element("button", { type: "button", class: "go", "data-event": k, text: String(k + 1), onclick: () => { visit(k); byId("lines").scrollIntoView({ block: "center" }); } })),
          element("td", { text: `${whole(row.start)} to ${whole(row.stop - 1)}`, "data-value": `${row.start}-${row.stop - 1}` }),
          ...(clock ? [element("td", { text: clock.text(row.start) })] : []),
          element("td", { text: whole(row.stop - row.start), "data-value": row.stop - row.start }),
          ...tables.flatMap(({ rows: own }) => [
            element("td", { class: own[i].found ? "found" : "missed", text: statusOf(own[i]), "data-value": statusOf(own[i]).replace(MINUS, "-") }),
            element("td", { text: whole(own[i].rank), "data-value": own[i].rank }),
          ]));
      })));
    byId("events-note").textContent = base.length > MOST_EVENTS ? `The first ${MOST_EVENTS} of ${whole(base.length)} anomalies.` : "";
  };

  // ---- methods paragraph, copying ----
  const listed = (names) => names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
  const methods = () => {
    const { definition, side, buffer, lag, noise, from, to } = state;
    const about = data.definitions.find(({ name }) => name === definition);
    const points = data.events.reduce((sum, [a, b]) => sum + b - a, 0);
    const grid = data.settings.thresholds === null ? "every distinct score as a threshold" : `${data.settings.thresholds} thresholds`;
    const rule = model.own.size || state.count !== null ? `thresholds of ${listed(visible().map((one) => `${format(model.threshold(one))} (${one.name})`))}`
      : { sigma: "a threshold of the mean plus three standard deviations of each score", quantile: "the 0.99 quantile of each score as threshold", best: "the threshold with the highest value of each measure, chosen with the labels", given: "the thresholds given with the scores" }[state.rule];
    const longest = Math.round((data.settings.volume_factor ?? 1) * buffer);
    return [
      `We evaluated the anomaly scores of ${listed(detectors.map(({ name }) => name))} on ${data.name} (${whole(n)} points, ${data.events.length === 1 ? "1 anomaly" : `${whole(data.events.length)} anomalies`}, ${(100 * points / n).toFixed(2)} % of the points).`,
      `VUS-PR and VUS-ROC follow the definition "${definition}" (${about.title}), average over buffer lengths 0 to ${whole(longest)}${data.settings.step > 1 ? ` in steps of ${data.settings.step}` : ""} and use ${grid}; R-AUC uses a buffer of ${whole(buffer)} points${side === "both" ? "" : ` ${side} anomalies only`}.`,
      `Threshold-based measures use ${rule}.`,
      lag || noise ? `Scores were changed before: ${listed([lag ? `a lag of ${signed(lag)} points` : "", noise ? `uniform noise of ±${noise} % of their range` : ""].filter(Boolean))}.` : "",
      from || to !== n ? `Only points ${whole(from)} to ${whole(to - 1)} were evaluated.` : "",
      chances.values ? "Chance levels are means over random scores." : "",
      detectors.some((one) => !model.isExact(one)) ? "Values are approximate: they were computed from thinned scores." : "",
      `Values were computed with vuskit ${data.version}.`,
    ].filter(Boolean).join(" ");
  };
  byId("methods").addEventListener("click", async () => { await vuskit.copyText(methods()); vuskit.confirm(byId("methods"), "methods paragraph copied"); });
  vuskit.copies(place, {
    measures: () => [["detector", ...columns.map(({ title }) => title)], ...[...table.tBodies[0].rows, ...(chances.values ? table.tFoot.rows : [])].map((row) => [...row.cells].map((cell) => cell.dataset.value ?? cell.textContent))],
    events: () => vuskit.tableRows(byId("events")),
    areas: () => [["detector", "buffer", "range_auc_roc", "range_auc_pr"], ...visible().flatMap((detector) => {
      const { areas } = model.areas(detector);
      return areas ? [...areas.widths].map((w, i) => [detector.name, w, areas.roc[i], areas.pr[i]]) : [];
    })],
    surface: () => [["surface", "buffer", "place", "tpr_at_fpr", "precision_at_recall"], ...(drawnSurface?.widths ?? []).flatMap((w, j) => places.map((at, i) => [
      drawnSurface.title, w, at.toFixed(4), drawnSurface.roc[j * COLUMNS + i].toFixed(6), drawnSurface.pr[j * COLUMNS + i].toFixed(6)]))],
  });

  // ---- repainting ----
  const BUDGET = 45; // milliseconds per step for detectors that are not shown
  let frame = 0, resting = 0, run = 0;
  const drawStep = () => {
    const begin = performance.now();
    for (const detector of visible()) model.values(detector);
    for (const detector of detectors) if (!shown.has(detector.k) && performance.now() - begin < BUDGET) model.values(detector);
    // Drawings that read sizes come first, so that the browser computes the layout once.
    lines.draw();
    drawAreas();
    headings();
    drawDuel();
    drawControls();
    drawMeasures();
    drawEvents();
  };
  const rest = () => {
    place.dataset.rested = String(Number(place.dataset.rested ?? 0) + 1);
    for (const detector of detectors) model.values(detector);
    drawMeasures();
    drawSurfaces();
    if (model.isOriginal() || !model.hasBoth()) { [chances.values, chances.fresh] = [model.isOriginal() ? data.chance?.mean ?? null : null, true]; drawDuel(); drawMeasures(); if (data.chance || !model.hasBoth()) return; }
    // One random score at a time, so that the page stays responsive.
    const mine = ++run, level = model.chance(lead());
    const step = () => {
      if (mine !== run || !place.isConnected) return;
      if (!level.step()) { setTimeout(step); return; }
      [chances.values, chances.fresh] = [level.values, true];
      drawDuel();
      drawMeasures();
      place.dataset.chance = "yes";
    };
    setTimeout(step);
  };
  const update = () => {
    run++;
    chances.fresh = false;
    delete place.dataset.chance;
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(drawStep);
    clearTimeout(resting);
    resting = setTimeout(rest, 250);
  };
  buildDuel();
  refill();
  zoom.set(0, n);
  return { draw: () => { drawLegend(); drawStep(); rest(); } };
};
