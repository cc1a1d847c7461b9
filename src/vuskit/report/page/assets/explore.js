"use strict";
/* Views of `vuskit explore`: progress of a run, and any series on demand. The other views are those
   of the run page; here their data is updated during the run.

     explore.get(path)      data of the server, or {error}; paths are relative to the page           */
const explore = (() => {
  const LIVE = 2000; // milliseconds between two requests
  const IDLE = 15000;
  const explore = { status: null, error: "" };
  const get = async (path, version) => {
    try {
      const headers = version ? { "If-None-Match": `"${version}"` } : {};
      const answer = await fetch(path, { headers, cache: "no-store", credentials: "same-origin" });
      if (answer.status === 304) return null;
      if (answer.headers.get("content-type")?.startsWith("application/json")) return await answer.json();
      return { error: (await answer.text()).trim() };
    } catch {
      return { error: "The server does not respond: `vuskit explore` has stopped. Start it again and open its new address." };
    }
  };
  let shown = null;
  const ask = async () => {
    const begun = performance.now();
    const found = await get("data/status", explore.status?.version);
    explore.error = found?.error ?? "";
    if (found && !found.error) explore.status = found;
    if (!explore.error && explore.status.run !== shown) {
      const data = await get("data/run");
      if (data.error) explore.error = data.error;
      else { shown = data.version; explore.compared.clear(); benchmark.update(data); }
    }
    if (found) vuskit.refresh();
    // Large runs take longer to read: leave the machine to the run.
    const live = explore.status?.state === "running" && !explore.error;
    setTimeout(ask, live ? Math.min(Math.max(LIVE, 3 * (performance.now() - begun)), IDLE) : IDLE);
  };
  // The server computes tests for any selection of series; they are drawn when they arrive.
  explore.compared = new Map();
  benchmark.compare = (run, settings, measure, filters) => {
    const asked = new URLSearchParams({ settings, measure, ...filters }).toString();
    if (!explore.compared.has(asked)) {
      explore.compared.set(asked, { error: "the tests are being computed.", pending: true });
      get(`data/comparison?${asked}`).then((found) => { explore.compared.set(asked, found); vuskit.drawOpen(); });
    }
    return explore.compared.get(asked);
  };
  explore.begin = () => {
    if (explore.begun) return;
    explore.begun = true;
    shown = vuskit.data("run").version;
    ask();
  };
  window.addEventListener("load", () => explore.begin());
  return Object.assign(explore, { get });
})();

vuskit.view("explore-overview", (place) => {
  const run = benchmark.model();
  const { element } = vuskit;
  const byId = (id) => place.querySelector(`#${id}`);
  const STATES = { running: "Running", finished: "Finished", killed: "Killed", failed: "Stopped by an error", stopped: "Stopped" };
  const duration = (seconds) => seconds >= 5400 ? `${(seconds / 3600).toFixed(1)} hours` : seconds >= 90 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds)} seconds`;
  const drawLeaders = charts.plot(byId("leaders"), "Leaderboard", (name) => vuskit.go("table", { measure: run.favorite, sort: name }));
  const weighing = benchmark.weighing(byId("weigh"), run, () => leaders());
  const leaders = () => {
    weighing.show();
    const measure = run.measures.findIndex((one) => one.name === run.favorite);
    byId("leaders").hidden = measure < 0;
    if (measure < 0) { byId("leaders-note").textContent = "There are no values yet."; return; }
    const { title, higher } = run.measures[measure];
    const found = benchmark.summarize(run, { settings: 0, measure, series: run.chosen(), summary: "mean", basis: "common", weigh: weighing.value() });
    const items = run.detectors.map((name, d) => ({ name, title: name, color: vuskit.lineColor(d), value: found[d].value, shown: benchmark.shown(found[d].value), text: `mean ${title} ${benchmark.shown(found[d].value)}, ${found[d].n} series` }))
      .filter((one) => !Number.isNaN(one.value)).sort((one, other) => (higher ? -1 : 1) * (one.value - other.value));
    const n = Math.max(0, ...found.map((one) => one.n));
    byId("leaders").hidden = !items.length;
    if (items.length) charts.bars(drawLeaders, items, { title: `mean ${title}`, high: items.every((one) => one.value <= 1) ? 1 : undefined });
    const over = weighing.value() === "dataset" ? "over the data sets, each the mean of its series; uses" : "over";
    byId("leaders-note").textContent = n ? `Mean ${title} ${over} the ${n.toLocaleString("en")} of ${run.S.toLocaleString("en")} series on which all detectors have a value.` : "No series has values of all detectors yet.";
  };
  const cause = (one) => element("details", { class: "failure" },
    element("summary", {}, element("strong", { class: "missed", text: one.status }), ` ${one.title}${one.jobs > 1 ? ` and ${(one.jobs - 1).toLocaleString("en")} other ${one.jobs === 2 ? "job" : "jobs"}` : ""}`, element("br"), one.message),
    ...(one.command ? [element("p", { text: "Run it again: " }), element("pre", { text: one.command })] : []),
    ...(one.traceback ? [element("pre", { text: one.traceback })] : []));
  const list = (id, texts) => {
    byId(`${id}-section`).hidden = !texts.length;
    byId(id).replaceChildren(...texts.map((text) => element("li", { text })));
  };
  let causes = "";
  const draw = () => {
    const { status, error } = explore;
    byId("problem").hidden = !error;
    byId("problem").textContent = error;
    leaders();
    if (!status) return;
    byId("state").textContent = `${STATES[status.state] ?? status.state}: ${status.done.toLocaleString("en")} of ${status.total.toLocaleString("en")} jobs, ${status.failed ? `${status.failed.toLocaleString("en")} failed` : "none failed"}, ${status.values.toLocaleString("en")} values.`;
    const left = status.state === "running" && status.seconds_left !== null ? `about ${duration(status.seconds_left)} left` : "";
    const pace = status.state === "running" && status.per_minute ? `${vuskit.format(status.per_minute, 3)} jobs per minute` : "";
    byId("rate").textContent = [pace, left].filter(Boolean).join(", ");
    byId("progress").max = Math.max(status.total, 1);
    byId("progress").value = status.done;
    byId("share").textContent = status.total ? `${Math.floor(100 * status.done / status.total)}%` : "";
    list("running", status.running);
    list("notes", status.notes);
    byId("jobs-section").hidden = !status.detectors.length;
    byId("jobs").replaceChildren(
      element("thead", {}, element("tr", {}, ...["detector", "successful", "failed", "skipped"].map((text) => element("th", { scope: "col", text })))),
      element("tbody", {}, ...status.detectors.map((one) => element("tr", {}, element("th", { scope: "row", text: one.name }),
        ...[one.ok, one.failed, one.skipped].map((n, k) => element("td", { text: n.toLocaleString("en"), class: k === 1 && n ? "missed" : null }))))));
    byId("causes-note").textContent = status.causes.length ? "By cause, the most frequent first, each with its latest job." : "No job failed.";
    // Redraw only after a change: the reader may have opened an entry.
    const listed = JSON.stringify(status.causes);
    if (listed === causes) return;
    causes = listed;
    const open = new Set([...place.querySelectorAll("details[open] summary")].map((one) => one.textContent));
    byId("causes").replaceChildren(...status.causes.map(cause));
    for (const summary of place.querySelectorAll("details summary")) summary.parentElement.open = open.has(summary.textContent);
  };
  return { draw };
});

// ---- one series: the server sends as much detail as the screen shows ----
vuskit.view("explore-series", (place, _, options) => {
  const run = benchmark.model();
  const { element, color, lineColor, formatPair } = vuskit;
  const byId = (id) => place.querySelector(`#${id}`);
  const FEW = 6; // scores shown at first
  let [at, about, zoom, tracks] = [-1, null, null, null];
  let lines = []; // tracks: {score, line, track}
  let part = null; // latest answer of the server
  let [asked, sent] = [0, 0];
  const path = (rest = "") => `data/series/${run.series.id[at]}${rest}`;
  const problem = (text) => { byId("problem").hidden = !text; byId("problem").textContent = text; };
  const draw = () => {
    if (!about) return;
    tracks.draw();
    for (const swatch of byId("choices").querySelectorAll("[data-score]")) {
      const detector = detectorOf(Number(swatch.dataset.score));
      swatch.replaceChildren(charts.swatch(lineColor(detector), vuskit.lineDash(detector).join(" ")));
    }
    const [from, to] = zoom.range.map((point) => Math.round(point).toLocaleString("en"));
    byId("range").textContent = `Points ${from} to ${to} of ${about.n.toLocaleString("en")}.`;
  };

  // ---- detail from the server ----
  const EMPTY = { numbers: [], bucket: 1, low: 0, high: 1 };
  const unpack = (found, { start, stop }) => {
    if (!found?.range) return EMPTY;
    const numbers = (text) => vuskit.floats(text).map((value) => value + found.base);
    const [low, high] = found.range;
    if (found.points !== undefined) return { numbers: numbers(found.points), bucket: 1, low, high, start };
    const [lowest, highest] = [numbers(found.low), numbers(found.high)];
    const pairs = new Float32Array(2 * lowest.length);
    lowest.forEach((value, p) => { pairs[2 * p] = value; pairs[2 * p + 1] = highest[p]; });
    return { numbers: pairs, bucket: (stop - start) / lowest.length, low, high, start };
  };
  const valueText = (line, point) => {
    const k = Math.floor((point - (line.start ?? 0)) / line.bucket);
    if (line.bucket === 1) return k >= 0 && k < line.numbers.length ? vuskit.format(line.numbers[k]) : "–";
    return k >= 0 && 2 * k < line.numbers.length ? formatPair(line.numbers[2 * k], line.numbers[2 * k + 1]).join(" to ") : "–";
  };
  const pixels = () => Math.min(Math.max(Math.round((byId("tracks").clientWidth - tracks.left) * (window.devicePixelRatio || 1)), 50), 4000);
  // In the order of the list, best first.
  const chosen = () => [...byId("choices").querySelectorAll("input:checked")].map((box) => Number(box.value));
  const load = async () => {
    const mine = ++asked;
    sent = pixels();
    const [start, stop] = [Math.max(Math.floor(zoom.range[0]), 0), Math.min(Math.ceil(zoom.range[1]), about.n)];
    const found = await explore.get(path(`/lines?${new URLSearchParams({ start, stop, pixels: sent, channel: byId("channel").value || 0, scores: chosen().join(",") })}`));
    if (mine !== asked) return; // a later request is pending
    problem(found.error ?? "");
    if (found.error) return;
    part = found;
    for (const one of lines) one.line = unpack(one.score < 0 ? found.values : found.scores[one.score], found);
    draw();
    byId("tracks").dataset.loaded = `${start}-${stop}`;
  };
  const moved = () => {
    const [from, to] = zoom.range.map(Math.round);
    const whole = to - from === about.n;
    window.history.replaceState(null, "", vuskit.address("series", { name: run.title(at), from: whole ? undefined : from, to: whole ? undefined : to }));
    draw();
    load();
  };
  const showEvent = (step) => {
    const middle = (zoom.range[0] + zoom.range[1]) / 2;
    const centers = about.events.map(([start, stop]) => (start + stop) / 2);
    if (!centers.length) return;
    const next = step > 0 ? centers.findIndex((c) => c > middle + 1) : centers.findLastIndex((c) => c < middle - 1);
    const [start, stop] = about.events[next >= 0 ? next : step > 0 ? 0 : centers.length - 1];
    const room = Math.max(3 * (stop - start), 50);
    zoom.set(start - room, stop + room);
  };
  const STEPS = { next: () => showEvent(1), previous: () => showEvent(-1) };
  for (const button of place.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => { if (about) (STEPS[button.dataset.zoom] ?? zoom[button.dataset.zoom])(); });
  }

  // ---- tracks ----
  const detectorOf = (score) => Math.max(run.detectors.indexOf(about.detectors[about.scores[score]]), 0);
  const channel = () => about.channels[Number(byId("channel").value || 0)];
  const makeTracks = () => {
    zoom = charts.zoom(0, about.n, Math.min(10, about.n));
    tracks = charts.tracks(byId("tracks"), {
      size: about.n, zoom, label: run.title(at), cropped: () => [0, about.n],
      name: (point) => `point ${point.toLocaleString("en")}`,
      spans: () => about.events.map(([from, to]) => ({ from, to, kind: "event" })),
      ticks: ([low, high], most) => vuskit.scale({ low, high, from: 0, to: 1 }).ticks(most).filter(Number.isInteger).map((point) => ({ at: point, text: point.toLocaleString("en") })),
    });
    lines = [-1, ...about.scores.keys()].map((score) => {
      const one = { score, line: EMPTY };
      one.track = tracks.add({
        title: () => score < 0 ? channel() : about.scores[score],
        color: score < 0 ? () => color("ink") : () => lineColor(detectorOf(score)),
        line: () => one.line, text: (point) => valueText(one.line, point), height: 96,
      });
      return one;
    });
    zoom.follow(moved);
  };
  const showTracks = () => {
    const wanted = [...(about.has_values ? [-1] : []), ...chosen()];
    tracks.show(wanted.map((score) => lines[score + 1].track));
    for (const { track } of lines) track.heading.textContent = track.title();
    draw();
    load();
  };

  // ---- opening a series ----
  const fillValues = () => byId("values").replaceChildren(...benchmark.valuesTable(run, at));
  const neighbors = () => {
    const link = (id, i) => {
      if (i < 0 || i >= run.S) { byId(id).removeAttribute("href"); byId(id).setAttribute("aria-disabled", "true"); return; }
      byId(id).href = run.link(i);
      byId(id).removeAttribute("aria-disabled");
      byId(id).title = run.title(i);
    };
    link("before", at - 1);
    link("after", at + 1);
  };
  const show = async (given) => {
    const i = run.place(given.name ?? "");
    const wanted = [Number(given.from ?? NaN), Number(given.to ?? NaN)];
    byId("name").textContent = given.name ?? "Series";
    for (const section of place.querySelectorAll("section")) section.hidden = i < 0;
    byId("evaluation").parentElement.hidden = i < 0;
    if (i < 0) { at = -1; about = null; byId("facts").textContent = "The run has no series of this name, or has not reached it yet."; return; }
    const zoomed = wanted.every(Number.isFinite);
    if (i === at && about) { if (zoomed) zoom.set(...wanted); return; }
    at = i;
    about = null;
    neighbors();
    byId("facts").textContent = `${benchmark.facts(run, i)}.`;
    byId("evaluation").href = `series/${run.series.id[i]}`;
    fillValues();
    const found = await explore.get(path());
    if (at !== i) return;
    problem(found.error ?? "");
    byId("lines-section").hidden = Boolean(found.error);
    if (found.error) return;
    about = found;
    benchmark.fillSelect(byId("channel"), about.channels.map((name, k) => [String(k), name]), "0");
    byId("channel-label").hidden = about.channels.length < 2 || !about.has_values;
    const measure = run.measures.findIndex((one) => one.name === run.favorite);
    const quality = about.scores.map((name) => measure < 0 ? NaN : run.value(0, measure, run.detectors.indexOf(about.detectors[name]), i));
    const higher = run.measures[measure]?.higher !== false;
    const order = about.scores.map((__, k) => k).sort((a, b) => (Number.isNaN(quality[a]) - Number.isNaN(quality[b])) || (higher ? quality[b] - quality[a] : quality[a] - quality[b]) || a - b);
    const few = new Set(order.slice(0, FEW));
    byId("choices").hidden = about.scores.length < 2;
    byId("choices").replaceChildren(byId("choices").querySelector("legend"), ...order.map((k) => element("label", {},
      element("input", { type: "checkbox", value: k, checked: few.has(k) }), element("i", { "data-score": k }), about.scores[k])));
    makeTracks();
    if (zoomed) zoom.range = [Math.max(wanted[0], 0), Math.min(wanted[1], about.n)];
    showTracks();
  };
  byId("choices").addEventListener("change", showTracks);
  byId("channel").addEventListener("change", showTracks);
  const copied = () => vuskit.tableRows(byId("values"));
  vuskit.copies(place, { values: copied, "values-table": copied });
  show(options);
  let settled = 0;
  return {
    // After a resize, request lines for the new width.
    draw: () => { draw(); clearTimeout(settled); if (about && part && sent !== pixels()) settled = setTimeout(load, 200); },
    show,
    refresh: () => { at = run.place(byId("name").textContent); if (at >= 0) { neighbors(); fillValues(); } },
  };
});
