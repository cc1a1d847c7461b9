"use strict";
/* Benchmark runs: what their views share, and the failures. The leaderboard is in run_board.js, the
   figures are in run_figures.js, the table of series in run_table.js; run_data.py makes the data. */
const benchmark = (() => {
  let found = null;
  // One run per page, read when a view asks for it first.
  const model = () => { found ??= read(vuskit.data("run")); return found; };
  const read = (data) => {
    const values = vuskit.numbers(data.values);
    const seconds = vuskit.numbers(data.seconds);
    const [M, D, S] = [data.measures.length, data.detectors.length, data.series.name.length];
    const value = (settings, measure, detector, series) => values[((settings * M + measure) * D + detector) * S + series];
    const outcome = (detector, series) => data.outcome_names[Number(data.outcomes[detector * S + series])];
    const title = (series) => `${data.datasets[data.series.dataset[series]]}/${data.series.name[series]}`;
    // Places of the series of a data set; all for "".
    const chosen = (dataset) => {
      const place = data.datasets.indexOf(dataset);
      const all = Array.from({ length: S }, (_, i) => i);
      return place < 0 ? all : all.filter((i) => data.series.dataset[i] === place);
    };
    const shell = (text) => /^[\w@%+=:,.\/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\"'\"'")}'`;
    return {
      ...data, D, S, M, value, outcome, title, chosen,
      // All digits that the file holds.
      exact: (number) => Number.isNaN(number) ? "" : String(Number(number.toPrecision(data.digits))),
      second: (detector, series) => seconds[detector * S + series],
      command: (series) => `${data.command} ${shell(title(series))}`,
      link: (series) => series in data.embedded ? vuskit.address(data.embedded[series]) : vuskit.address("lean", { series }),
    };
  };

  const mean = (numbers) => numbers.length ? numbers.reduce((sum, one) => sum + one, 0) / numbers.length : NaN;
  const median = (numbers) => {
    if (!numbers.length) return NaN;
    const sorted = [...numbers].sort((one, other) => one - other);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  };
  // Ranks from 1, the best first, ties share their mean; NaN has none.
  const ranks = (numbers, higher) => {
    const order = numbers.map((_, i) => i).filter((i) => !Number.isNaN(numbers[i]))
      .sort((i, j) => higher ? numbers[j] - numbers[i] : numbers[i] - numbers[j]);
    const given = numbers.map(() => NaN);
    for (let start = 0; start < order.length;) {
      let stop = start;
      while (stop < order.length && numbers[order[stop]] === numbers[order[start]]) stop++;
      for (let k = start; k < stop; k++) given[order[k]] = (start + 1 + stop) / 2;
      start = stop;
    }
    return given;
  };
  /* One number per detector for a measure: {value, n} each, n the series it rests on. A mean rank
     only makes sense over series that all detectors have; those without any value do not count.
     `weigh` is "series", or "dataset": a number of each data set first, then the mean of those.  */
  const summarise = (run, { settings, measure, series, summary, basis, weigh }) => {
    const rows = Array.from({ length: run.D }, (_, d) => series.map((i) => run.value(settings, measure, d, i)));
    const present = rows.filter((row) => row.some((value) => !Number.isNaN(value)));
    const shared = series.map((_, k) => present.every((row) => !Number.isNaN(row[k])));
    const common = basis === "common" || summary === "rank";
    const ranked = summary === "rank" ? rankRows(rows, shared, run.measures[measure].higher) : rows;
    const one = summary === "median" ? median : mean;
    return ranked.map((row) => {
      const used = series.map((_, k) => k).filter((k) => !Number.isNaN(row[k]) && (!common || shared[k]));
      if (weigh !== "dataset") return { value: one(used.map((k) => row[k])), n: used.length };
      const groups = run.datasets.map(() => []);
      for (const k of used) groups[run.series.dataset[series[k]]].push(row[k]);
      return { value: mean(groups.filter((group) => group.length).map(one)), n: used.length };
    });
  };
  const rankRows = (rows, shared, higher) => {
    const ranked = rows.map((row) => row.map(() => NaN));
    shared.forEach((all, k) => {
      if (all) ranks(rows.map((row) => row[k]), higher).forEach((rank, d) => { ranked[d][k] = rank; });
    });
    return ranked;
  };

  const fillSelect = (select, entries, value) => {
    select.replaceChildren(...entries.map(([key, text]) => new Option(text, key)));
    if (entries.some(([key]) => key === value)) select.value = value;
  };
  const fillFilters = (place, run, options) => {
    const byId = (id) => place.querySelector(`#${id}`);
    fillSelect(byId("dataset"), [["", `all (${run.S})`], ...run.datasets.map((name) => [name, `${name} (${run.chosen(name).length})`])], options.dataset ?? "");
    fillSelect(byId("measure"), run.measures.map((one) => [one.name, titled(one)]), options.measure ?? run.favourite);
    fillSelect(byId("settings"), run.settings.map((text, i) => [String(i), text]), options.settings ?? "0");
    byId("settings-label").hidden = run.settings.length < 2;
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
  };
  const shown = (value) => {
    if (Number.isNaN(value)) return "-";
    const size = Math.abs(value);
    return size === 0 || (size >= 0.0005 && size < 1000) ? value.toFixed(3).replace("-", "−") : vuskit.format(value);
  };
  // Of a measure, for headers and lists: an arrow where less is better.
  const titled = (measure) => measure.higher ? measure.title : `${measure.title} ↓`;
  return { model, ranks, mean, median, summarise, fillSelect, fillFilters, shown, titled };
})();

vuskit.view("failures", (place, data) => {
  vuskit.sortable(place.querySelector("#counts"));
  vuskit.copies(place, {
    counts: () => vuskit.tableRows(place.querySelector("#counts")),
    failures: () => [["status", "job", "message", "command"], ...data],
  });
});
