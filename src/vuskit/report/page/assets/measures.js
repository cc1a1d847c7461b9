"use strict";
/* The thirteen measures of the VUS paper, exact on all thresholds: the algorithm of vuskit.kernels.
   Uses no other script. Labels are events, half-open ranges [start, stop); scores are Float64Array.

     const events = measures.events(labels)               or measures.fromBounds([[start, stop], ...], n)
     const plan = measures.plan(events, settings)         everything that depends on the labels only
     const found = measures.evaluate(plan, scores)        {values, threshold, areas: {widths, roc, pr}, ...}
     measures.eventTable(plan, scores, threshold)         found and missed anomalies, false alarms; peakRanks(plan, scores)
                                                          gives what does not depend on the threshold
     measures.heights(plan, scores, widths, places)       ROC and PR surface at evenly spaced places
     measures.softLabel(plan, point, width)               soft label of one point
     measures.sigma(scores), quantile(scores, q), bestThreshold(events, scores), atRanks(scores, ranks)
     measures.chance(plan, {draws, predicted}) -> {step(), values}   random scores, one per step

   Settings: {definition, side, buffer, step, volume_factor, thresholds, threshold, k}, as in EvaluationSettings;
   `definition` holds the fields of vuskit's Definition. `threshold` is "sigma", "quantile", "best" or a number. */
const measures = (() => {
  const NAMES = ["precision", "recall", "f_score", "precision_at_k", "range_precision", "range_recall", "range_f_score",
    "auc_roc", "auc_pr", "range_auc_roc", "range_auc_pr", "vus_roc", "vus_pr"];
  const NEVER = 2 ** 31 - 1;
  const MOST_WEIGHTS = 1 << 20; // weights by (width, distance) that are held at a time
  const BUCKETS = 1 << 16;

  // ---- events ----
  const fromBounds = (bounds, n) => {
    const starts = Int32Array.from(bounds, (one) => one[0]);
    const stops = Int32Array.from(bounds, (one) => one[1]);
    let total = 0;
    for (let k = 0; k < starts.length; k++) total += stops[k] - starts[k];
    const inside = new Int32Array(total);
    let at = 0;
    for (let k = 0; k < starts.length; k++) for (let i = starts[k]; i < stops[k]; i++) inside[at++] = i;
    return { n, starts, stops, inside };
  };
  const events = (labels) => {
    const bounds = [];
    for (let i = 0; i < labels.length; i++) {
      if (!labels[i]) continue;
      const start = i;
      while (i < labels.length && labels[i]) i++;
      bounds.push([start, i]);
    }
    return fromBounds(bounds, labels.length);
  };

  // ---- searching and ranking ----
  // Number of rising values below (or, with `orEqual`, not above) a number.
  const countBelow = (values, number, orEqual = false, from = 0, to = values.length) => {
    while (from < to) {
      const middle = (from + to) >> 1;
      if (values[middle] < number || (orEqual && values[middle] === number)) from = middle + 1; else to = middle;
    }
    return from;
  };
  const sorted = (values) => Float64Array.from(values).sort();
  const distinct = (rising) => {
    let size = 0;
    const found = new Float64Array(rising.length);
    for (let i = 0; i < rising.length; i++) if (!i || rising[i] !== rising[i - 1]) found[size++] = rising[i];
    return found.slice(0, size);
  };
  const pick = (values, positions) => {
    const found = new Float64Array(positions.length);
    for (let i = 0; i < positions.length; i++) found[i] = values[positions[i]];
    return found;
  };
  const extremes = (values) => {
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < values.length; i++) {
      if (values[i] < low) low = values[i];
      if (values[i] > high) high = values[i];
    }
    return [low, high];
  };
  // The same, remembered: scores do not change once they are evaluated.
  const spans = new WeakMap();
  const span = (values) => {
    if (!spans.has(values)) spans.set(values, extremes(values));
    return spans.get(values);
  };
  // Scores at some falling ranks, counted from the lowest (0): only the buckets that hold one are sorted.
  const atRanks = (scores, ranks) => {
    const n = scores.length, [low, high] = span(scores), scale = (BUCKETS - 1) / (high - low);
    if (n < 4096 || !Number.isFinite(scale) || scale <= 0) { const rising = sorted(scores); return ranks.map((rank) => rising[rank]); }
    const ends = new Int32Array(BUCKETS + 1);
    for (let i = 0; i < n; i++) ends[((scores[i] - low) * scale | 0) + 1]++;
    for (let b = 0; b < BUCKETS; b++) ends[b + 1] += ends[b];
    return ranks.map((rank) => {
      const bucket = countBelow(ends, rank, true) - 1, values = new Float64Array(ends[bucket + 1] - ends[bucket]);
      for (let i = 0, at = 0; at < values.length; i++) if (((scores[i] - low) * scale | 0) === bucket) values[at++] = scores[i];
      return values.sort()[rank - ends[bucket]];
    });
  };
  /* Points at or above, and above, each of some rising scores of the series. Counting the points in buckets
     of equal width is a monotone map, so only the buckets that hold such a score are sorted. */
  const counts = (scores, levels) => {
    const n = scores.length;
    const atLeast = new Int32Array(levels.length), above = new Int32Array(levels.length);
    const [low, high] = span(scores);
    const scale = (BUCKETS - 1) / (high - low);
    let known = null;
    if (n >= 4096 && 4 * levels.length < n && Number.isFinite(scale) && scale > 0) {
      const place = new Uint16Array(n), ends = new Int32Array(BUCKETS + 1), wanted = new Uint8Array(BUCKETS);
      for (let i = 0; i < n; i++) { const b = (scores[i] - low) * scale | 0; place[i] = b; ends[b + 1]++; }
      for (let j = 0; j < levels.length; j++) wanted[(levels[j] - low) * scale | 0] = 1;
      let size = 0;
      for (let b = 0; b < BUCKETS; b++) if (wanted[b]) size += ends[b + 1];
      if (2 * size < n) {
        const values = new Float64Array(size), shift = new Int32Array(BUCKETS);
        let kept = 0, all = 0;
        for (let b = 0; b < BUCKETS; b++) {
          const here = ends[b + 1];
          shift[b] = all - kept;
          all += here;
          if (wanted[b]) kept += here;
        }
        for (let i = 0, at = 0; at < size; i++) if (wanted[place[i]]) values[at++] = scores[i];
        known = { values: values.sort(), shift: (level) => shift[(level - low) * scale | 0] };
      }
    }
    known ??= { values: sorted(scores), shift: () => 0 };
    let first = 0;
    for (let j = 0; j < levels.length; j++) {
      first = countBelow(known.values, levels[j], false, first);
      const beyond = countBelow(known.values, levels[j], true, first);
      const shift = known.shift(levels[j]);
      atLeast[j] = n - first - shift;
      above[j] = n - beyond - shift;
      first = beyond;
    }
    return { atLeast, above };
  };

  // ---- the labels' part: which points a buffer reaches, and with which weight ----
  const roundEven = (value) => {
    const down = Math.floor(value), rest = value - down;
    return rest > 0.5 || (rest === 0.5 && down % 2) ? down + 1 : down;
  };
  const weight = (definition, distance, width) => {
    if (definition.slope === "sqrt") return Math.sqrt(Math.max(1 - distance / Math.max(width, 1), 0));
    return 1 - (1 - Math.sqrt(0.5)) * distance / Math.max(Math.floor(width / 2), 1);
  };
  const plan = (events, settings) => {
    const { definition, side = "both", buffer, step = 1, volume_factor: factor = 1, thresholds = null } = settings;
    const longestWidth = roundEven(factor * buffer);
    const widths = [];
    for (let w = 0; w <= longestWidth; w += step) widths.push(w);
    const volume = widths.length;
    let row = widths.indexOf(buffer);
    const extra = row < 0; // R-AUC's own buffer is none of the volume
    if (extra) {
      row = widths.findIndex((w) => w > buffer);
      if (row < 0) row = widths.length;
      widths.splice(row, 0, buffer);
    }
    return prepared(events, { ...settings, definition, side, thresholds }, Int32Array.from(widths), { row, volume, extra });
  };
  const prepared = (events, settings, widths, about) => {
    const { definition, side } = settings;
    const { n, starts, stops, inside } = events;
    const before = side !== "after", after = side !== "before", shorter = definition.after_is_shorter;
    const reachBefore = (half) => before ? half : 0;
    const reachAfter = (half) => after ? Math.max(half - shorter, 0) : 0;
    const halves = widths.map((w) => w >> 1);
    const longest = Math.min(halves[halves.length - 1], n);
    const K = starts.length;
    // Distances that count once: at most all points outside events.
    const positions = [], distance = [], reached = [], second = [];
    const add = (p, gap) => {
      const from = (k) => after && k >= 0 && k < K ? p - stops[k] + 1 + shorter : NEVER;
      const to = (k) => before && k >= 0 && k < K ? starts[k] - p : NEVER;
      const left = from(gap - 1), right = to(gap);
      positions.push(p);
      reached.push(Math.min(left, right));
      distance.push(left <= right ? left - shorter : right);
      second.push(definition.overlap === "one" ? Math.min(Math.max(left, right), from(gap - 2), to(gap + 1)) : NEVER);
    };
    for (let gap = 0; gap <= K; gap++) {
      const begin = gap ? stops[gap - 1] : 0, end = gap < K ? starts[gap] : n;
      const late = gap ? Math.min(end - begin, reachAfter(longest)) : 0;
      const early = gap < K ? Math.min(end - begin - late, reachBefore(longest)) : 0;
      for (let p = begin; p < begin + late; p++) add(p, gap);
      for (let p = end - early; p < end; p++) add(p, gap);
    }
    const P = inside.length, D = P + positions.length;
    const points = new Int32Array(D), at = new Int32Array(n).fill(-1);
    points.set(inside);
    points.set(positions, P);
    for (let i = 0; i < D; i++) at[points[i]] = i;
    const padded = (values) => { const found = new Int32Array(D); found.set(values, P); return found; };
    const fresh = { events, settings, widths, halves, longest, points, at, before, after, shorter, reachBefore, reachAfter, ...about };
    const joined = new Int32Array(Math.max(K - 1, 0)).fill(NEVER);
    if (definition.events !== "apart") for (let k = 0; k + 1 < K; k++) {
      const needed = starts[k + 1] - stops[k] + (definition.events === "touch" ? 0 : 1);
      joined[k] = before && after ? (needed + shorter + 1) >> 1 : after ? needed + shorter : needed;
    }
    return { ...fresh, distance: padded(distance), reached: padded(reached), second: padded(second), joined };
  };
  const softLabel = ({ events: { starts, stops, n }, settings: { definition }, before, after, shorter }, point, width) => {
    const half = width >> 1;
    const k = countBelow(stops, point, true);
    if (point < 0 || point >= n) return 0;
    if (k < starts.length && starts[k] <= point) return 1;
    let touched = 0, nearest = NEVER;
    const meet = (distance, reach) => { if (distance <= reach) { touched++; nearest = Math.min(nearest, distance); } };
    for (const j of [k - 2, k - 1]) if (j >= 0 && after) meet(point - stops[j] + 1, half - shorter);
    for (const j of [k, k + 1]) if (j < starts.length && before) meet(starts[j] - point, half);
    if (!touched) return 0;
    return touched > 1 && definition.overlap === "one" ? 1 : weight(definition, nearest, width);
  };

  // ---- one score: levels, and the points at each ----
  const gridLevels = (scores, count) => {
    const rising = sorted(scores), n = scores.length;
    const step = (n - 1) / (count - 1);
    const found = new Float64Array(count);
    for (let j = 0; j < count; j++) found[j] = rising[n - 1 - Math.trunc(j === count - 1 ? n - 1 : j * step)];
    const levels = distinct(found.sort());
    const atLeast = Int32Array.from(levels, (level) => n - countBelow(rising, level));
    return { levels, atLeast, above: Int32Array.from(levels, (_, j) => j + 1 < levels.length ? atLeast[j + 1] : 0) };
  };
  /* Levels are rising scores; `level` is that at which each dynamic point is predicted, as an index that
     counts from the highest. Arrays by level go from the highest level down. */
  const ranked = (plan, scores) => {
    const { points, events: { inside }, settings: { thresholds } } = plan;
    const values = pick(scores, points);
    let levels, number;
    if (thresholds === null) {
      levels = distinct(sorted(values));
      number = counts(scores, levels);
    } else {
      number = gridLevels(scores, thresholds);
      levels = number.levels;
    }
    const size = levels.length;
    const level = new Int32Array(values.length), ends = new Int32Array(size + 1), found = new Int32Array(size);
    for (let i = 0; i < values.length; i++) {
      level[i] = size - countBelow(levels, values[i], true);
      ends[level[i] + 1]++;
      if (i < inside.length) found[level[i]]++;
    }
    for (let j = 0; j < size; j++) { ends[j + 1] += ends[j]; if (j) found[j] += found[j - 1]; }
    const order = new Int32Array(values.length), next = ends.slice(0, size);
    for (let i = 0; i < values.length; i++) order[next[level[i]]++] = i;
    return { levels: levels.reverse(), predicted: number.atLeast.reverse(), predictedBefore: number.above.reverse(), found, level, order, ends };
  };
  /* Buffered events by the level that finds them: rows (half-lengths) ordered by level, where each level ends,
     and the number of buffered events by row. */
  const existence = (plan, rank) => {
    const { events: { starts, stops, n }, at, halves, joined, settings: { definition } } = plan;
    const K = starts.length;
    const rows = [];
    halves.forEach((half, w) => { if (!w || half !== halves[w - 1]) rows.push({ half, from: w, to: w + 1 }); else rows.at(-1).to = w + 1; });
    const best = new Int32Array(K).fill(NEVER);
    const see = (k, p) => { const here = rank.level[at[p]]; if (here < best[k]) best[k] = here; };
    for (let k = 0; k < K; k++) for (let p = starts[k]; p < stops[k]; p++) see(k, p);
    const peakRows = [], peakLevels = [];
    const count = new Int32Array(rows.length);
    let doneBefore = 0, doneAfter = 0;
    rows.forEach(({ half }, row) => {
      const toBefore = plan.reachBefore(half), toAfter = plan.reachAfter(half);
      let together = NEVER;
      for (let k = 0; k < K; k++) {
        for (let p = starts[k] - doneBefore - 1; p >= Math.max(starts[k] - toBefore, 0); p--) see(k, p);
        for (let p = stops[k] + doneAfter; p < Math.min(stops[k] + toAfter, n); p++) see(k, p);
        let peak = best[k];
        if (definition.events === "apart" && k + 1 < K) {
          // The window is one point longer after the event; that point counts if the next event labels it.
          const p = stops[k] + toAfter;
          if (p < n && p >= starts[k + 1] - toBefore && at[p] >= 0) peak = Math.min(peak, rank.level[at[p]]);
        }
        together = Math.min(together, peak);
        if (k + 1 < K && joined[k] <= half) continue;
        peakRows.push(row);
        peakLevels.push(together);
        count[row]++;
        together = NEVER;
      }
      [doneBefore, doneAfter] = [toBefore, toAfter];
    });
    const ends = new Int32Array(rank.levels.length + 1);
    for (const level of peakLevels) ends[level + 1]++;
    for (let j = 0; j < rank.levels.length; j++) ends[j + 1] += ends[j];
    const order = new Int32Array(peakRows.length), next = ends.slice();
    peakRows.forEach((row, i) => { order[next[peakLevels[i]]++] = row; });
    return { rows, count, order, ends };
  };

  // ---- the sweep: all levels from high to low, all widths side by side ----
  const weightTable = ({ settings: { definition }, widths, longest }, first, last) => {
    const table = new Float64Array((longest + 1) * (last - first));
    for (let d = 1, i = last - first; d <= longest; d++) for (let w = first; w < last; w++, i++) table[i] = weight(definition, d, widths[w]);
    return table;
  };
  const softTotals = (plan, table, first, last) => {
    const { distance, reached, second, halves, events: { inside }, points } = plan;
    const W = last - first, totals = new Float64Array(W);
    for (let i = inside.length; i < points.length; i++) for (let w = 0; w < W; w++) {
      const half = halves[first + w];
      if (reached[i] <= half) totals[w] += second[i] <= half ? 1 : table[distance[i] * W + w];
    }
    return totals;
  };
  const sweep = (plan, rank, first, last) => {
    const { events: { n, inside }, settings: { definition }, halves, distance, reached, second } = plan;
    const P = inside.length, W = last - first;
    const follows = definition.positives === "predicted", trapezoid = definition.pr_area === "trapezoid";
    const table = W === halves.length ? plan.table ??= weightTable(plan, first, last) : weightTable(plan, first, last);
    const { rows, count, order: peakOrder, ends: peakEnds } = rank.existence;
    const soft = new Float64Array(W), rate = new Float64Array(W), roc = new Float64Array(W), pr = new Float64Array(W);
    const share = new Float64Array(W), hits = new Float64Array(count.length);
    const fixed = follows ? null : softTotals(plan, table, first, last);
    const added = new Float64Array(W); // soft labels of the points of one level
    const { predicted, predictedBefore, found, order, ends } = rank;
    // First width of this part at which a half-length is reached.
    const firstWidth = (half) => { let a = first, b = last; while (a < b) { const m = (a + b) >> 1; if (halves[m] < half) a = m + 1; else b = m; } return a - first; };
    for (let j = 0; j < predicted.length; j++) {
      for (let i = peakEnds[j]; i < peakEnds[j + 1]; i++) {
        const row = peakOrder[i];
        hits[row]++;
        const { from, to } = rows[row];
        for (let w = Math.max(from, first); w < Math.min(to, last); w++) share[w - first] = hits[row] / count[row];
      }
      let begin = W;
      for (let i = ends[j]; i < ends[j + 1]; i++) {
        const point = order[i];
        if (point < P) { begin = 0; continue; }
        const reach = firstWidth(reached[point]), twice = Math.max(firstWidth(second[point]), reach);
        if (reach < begin) begin = reach;
        const base = distance[point] * W;
        for (let w = reach; w < twice; w++) added[w] += table[base + w];
        for (let w = twice; w < W; w++) added[w] += 1;
      }
      if (begin === W) continue;
      const r = predicted[j], rBefore = predictedBefore[j], A = found[j], aBefore = j ? found[j - 1] : 0;
      for (let w = begin; w < W; w++) {
        const b = soft[w], now = b + added[w];
        added[w] = 0;
        const tp = A + now, tpBefore = aBefore + b;
        const positives = P + (follows ? now : fixed[w]) / 2, positivesBefore = P + (follows ? b : fixed[w]) / 2;
        const full = tp / positives;
        const t = (full < 1 ? full : 1) * share[w];
        const jump = t - rate[w];
        roc[w] += jump * ((r - tp) / (n - positives) + (rBefore - tpBefore) / (n - positivesBefore));
        pr[w] += jump * (trapezoid ? 0.5 * (tp / r + (rBefore > 0 ? tpBefore / rBefore : 1)) : tp / r);
        rate[w] = t;
        soft[w] = now;
      }
      if (follows && A === P) break; // every rate is one from here on
    }
    for (let w = 0; w < W; w++) roc[w] = 1 - 0.5 * roc[w];
    return { roc, pr };
  };
  const areas = (plan, rank) => {
    const W = plan.widths.length;
    const roc = new Float64Array(W), pr = new Float64Array(W);
    const most = Math.max(8, Math.floor(MOST_WEIGHTS / (plan.longest + 1)));
    rank.existence ??= existence(plan, rank);
    for (let first = 0; first < W; first += most) {
      const part = sweep(plan, rank, first, Math.min(first + most, W));
      roc.set(part.roc, first);
      pr.set(part.pr, first);
    }
    return { widths: plan.widths, roc, pr };
  };
  const within = (area) => Math.min(Math.max(area, 0), 1);
  const mean = ({ row, volume, extra }, values) => {
    let sum = 0;
    for (let w = 0; w < values.length; w++) if (!extra || w !== row) sum += values[w];
    return sum / volume;
  };

  // ---- curves, for surfaces ----
  // Heights at `places` (from 0 to 1, rising) of the curve at each of some widths, one row after another.
  const heights = (plan, scores, widths, places) => {
    const part = prepared(plan.events, { ...plan.settings, thresholds: null }, Int32Array.from(widths), { row: 0, volume: widths.length, extra: false });
    const rank = ranked(part, scores);
    rank.existence = existence(part, rank);
    const rocs = new Float32Array(widths.length * places.length), prs = new Float32Array(rocs.length);
    for (let w = 0; w < widths.length; w++) {
      const { fpr, tpr, precision } = curve(part, rank, w);
      readOff(fpr, tpr, places, rocs.subarray(w * places.length, (w + 1) * places.length), true);
      readOff(tpr.filter((_, i) => i % 2), precision.filter((_, i) => i % 2), places, prs.subarray(w * places.length, (w + 1) * places.length), false);
    }
    return { roc: rocs, pr: prs };
  };
  const readOff = (x, y, places, out, straight) => {
    let i = 0;
    const last = x.length - 1;
    places.forEach((place, k) => {
      // Where a curve rises straight up, its upper end counts.
      while (i < last && (x[i] < place || (straight && x[i + 1] <= place))) i++;
      if (!straight || i === 0 || x[i] <= x[i - 1] || x[i] < place) { out[k] = y[i]; return; }
      out[k] = y[i - 1] + (y[i] - y[i - 1]) * (place - x[i - 1]) / (x[i] - x[i - 1]);
    });
  };
  // Two points per level: with the rate just before it, and after it.
  const curve = (plan, rank, w) => {
    const { events: { n, inside }, settings: { definition }, halves, widths, distance, reached, second } = plan;
    const P = inside.length, half = halves[w], size = rank.levels.length;
    const fpr = new Float64Array(2 * size + 1), tpr = new Float64Array(2 * size + 1), precision = new Float64Array(2 * size + 1);
    const soft = (i) => reached[i] > half ? 0 : second[i] <= half ? 1 : weight(definition, distance[i], widths[w]);
    const { rows, count, order: peakOrder, ends: peakEnds } = rank.existence;
    const row = rows.findIndex(({ from, to }) => w >= from && w < to);
    let total = 0;
    if (definition.positives !== "predicted") for (let i = P; i < plan.points.length; i++) total += soft(i);
    let b = 0, hits = 0, t = 0;
    for (let j = 0; j < size; j++) {
      const positives = () => P + (definition.positives === "predicted" ? b : total) / 2;
      const before = (j ? rank.found[j - 1] : 0) + b, rBefore = rank.predictedBefore[j];
      fpr[2 * j] = Math.max((rBefore - before) / (n - positives()), 0);
      tpr[2 * j] = t;
      precision[2 * j] = rBefore ? before / rBefore : 1;
      for (let i = peakEnds[j]; i < peakEnds[j + 1]; i++) if (peakOrder[i] === row) hits++;
      for (let i = rank.ends[j]; i < rank.ends[j + 1]; i++) if (rank.order[i] >= P) b += soft(rank.order[i]);
      const tp = rank.found[j] + b, r = rank.predicted[j];
      t = Math.min(tp / positives(), 1) * hits / count[row];
      fpr[2 * j + 1] = Math.max((r - tp) / (n - positives()), 0);
      tpr[2 * j + 1] = t;
      precision[2 * j + 1] = tp / r;
    }
    [fpr[2 * size], tpr[2 * size], precision[2 * size]] = [1, 1, precision[2 * size - 1]];
    return { fpr, tpr, precision };
  };

  // ---- thresholds ----
  const sigma = (scores, factor = 3) => {
    const n = scores.length;
    let sum = 0;
    for (let i = 0; i < n; i++) sum += scores[i];
    const middle = sum / n;
    let squares = 0;
    for (let i = 0; i < n; i++) { const d = scores[i] - middle; squares += d * d; }
    if (!(squares > 1e-280 && squares < 1e280)) {
      const [low, high] = extremes(scores);
      const size = Math.max(Math.abs(low), Math.abs(high));
      const exponent = size ? Math.floor(Math.log2(size)) + 1 : 0;
      // Squares left the range of doubles; powers of two are exact, and two of them always exist.
      const half = 2 ** Math.trunc(-exponent / 2), rest = 2 ** (-exponent - Math.trunc(-exponent / 2));
      if (Math.abs(exponent) > 400) return sigma(scores.map((value) => value * half * rest), factor) / half / rest;
    }
    const deviation = Math.sqrt(squares / n);
    if (deviation <= 1e-12 * Math.abs(middle)) { const [low, high] = extremes(scores); if (low === high) return low; }
    return middle + factor * deviation;
  };
  const quantile = (scores, share = 0.99) => {
    const place = share * (scores.length - 1), first = Math.floor(place);
    const [a, b] = atRanks(scores, [first, Math.min(first + 1, scores.length - 1)]);
    const t = place - first;
    return t >= 0.5 ? b - (b - a) * (1 - t) : a + (b - a) * t;
  };
  const bestPoint = (hits, P) => {
    let best = -1, at = 0;
    hits.levels.forEach((_, j) => {
      const f = 2 * hits.found[j] / (P + hits.predicted[j]);
      if (f > best) [best, at] = [f, j];
    });
    return hits.levels[at];
  };
  // Threshold of the highest point-based F.
  const bestThreshold = (events, scores) => bestPoint(insideLevels(events, scores), events.inside.length);
  // Threshold of the highest range-based F: sums over the order of the scores, see kernels/best_thresholds.py.
  const bestRange = ({ n, starts, stops, inside }, scores) => {
    const order = Uint32Array.from(scores, (_, i) => i).sort((a, b) => scores[b] - scores[a]);
    const rank = new Int32Array(n);
    order.forEach((point, i) => { rank[point] = i; });
    const total = new Int32Array(n + 1);
    for (const p of inside) total[p + 1] = 1;
    for (let i = 0; i < n; i++) total[i + 1] += total[i];
    const share = (a, b) => b > a ? (total[b] - total[a]) / (b - a) : 0;
    const first = new Int32Array(n), stop = new Int32Array(n).fill(n), waiting = [];
    for (let i = 0; i < n; i++) {
      while (waiting.length && rank[waiting.at(-1)] < rank[i]) stop[waiting.pop()] = i;
      first[i] = waiting.length ? waiting.at(-1) + 1 : 0;
      waiting.push(i);
    }
    const reward = new Float64Array(n);
    for (let k = 0; k < starts.length; k++) for (let p = starts[k]; p < stops[k]; p++) reward[rank[p]] += 1 / (stops[k] - starts[k]);
    const values = new Float64Array(n);
    let sum = 0, ranges = 0, recall = 0, best = -1;
    order.forEach((p, i) => {
      sum += share(first[p], stop[p]) - share(first[p], p) - share(p + 1, stop[p]);
      ranges += 1 - (first[p] < p) - (p + 1 < stop[p]);
      recall += reward[i];
      const precise = sum / ranges, complete = recall / starts.length;
      const last = i + 1 === n || scores[order[i + 1]] !== scores[p];
      values[i] = last && precise + complete > 0 ? 2 * precise * complete / (precise + complete) : -1;
      if (values[i] > best) best = values[i];
    });
    return scores[order[values.findIndex((value) => value >= best - 1e-12)]];
  };

  // ---- predictions ----
  const predictedRanges = (scores, threshold) => {
    const starts = [], stops = [];
    let open = false, count = 0;
    for (let i = 0; i < scores.length; i++) {
      const above = scores[i] >= threshold;
      if (above) count++;
      if (above === open) continue;
      (above ? starts : stops).push(i);
      open = above;
    }
    if (open) stops.push(scores.length);
    return { starts, stops, count };
  };
  // Mean share of ranges that others cover; 0 where there are none of either.
  const covered = (ranges, others) => {
    if (!ranges.starts.length || !others.starts.length) return 0;
    let sum = 0, j = 0;
    for (let k = 0; k < ranges.starts.length; k++) {
      const [start, stop] = [ranges.starts[k], ranges.stops[k]];
      while (j < others.starts.length && others.stops[j] <= start) j++;
      let shared = 0;
      for (let i = j; i < others.starts.length && others.starts[i] < stop; i++) shared += Math.min(stop, others.stops[i]) - Math.max(start, others.starts[i]);
      sum += shared / (stop - start);
    }
    return Math.min(sum / ranges.starts.length, 1);
  };
  const harmonic = (a, b) => a + b > 0 ? 2 * a * b / (a + b) : 0;
  const atThreshold = (events, scores, rule, hits) => {
    const cut = (threshold) => ({ threshold, ranges: predictedRanges(scores, threshold) });
    if (rule === "best") return { points: cut(bestPoint(hits, events.inside.length)), ranges: cut(bestRange(events, scores)) };
    const threshold = rule === "sigma" ? sigma(scores) : rule === "quantile" ? quantile(scores) : rule;
    const one = cut(threshold);
    return { points: one, ranges: one };
  };
  const thresholdValues = (events, scores, { points, ranges }) => {
    let hits = 0;
    for (const p of events.inside) if (scores[p] >= points.threshold) hits++;
    const precision = points.ranges.count ? hits / points.ranges.count : 0, recall = hits / events.inside.length;
    const rprecision = covered(ranges.ranges, events), rrecall = covered(events, ranges.ranges);
    return { precision, recall, f_score: harmonic(precision, recall), range_precision: rprecision, range_recall: rrecall, range_f_score: harmonic(rprecision, rrecall) };
  };

  // ---- levels of anomalous points: AUC, Precision@k, best threshold ----
  const hitLevels = ({ levels, predicted, predictedBefore, found }) => {
    const kept = [];
    for (let j = 0; j < levels.length; j++) if (found[j] > (j ? found[j - 1] : 0)) kept.push(j);
    const of = (values) => kept.map((j) => values[j]);
    return { levels: of(levels), predicted: of(predicted), before: of(predictedBefore), found: of(found) };
  };
  const insideLevels = (events, scores) => {
    const values = sorted(pick(scores, events.inside)), levels = distinct(values);
    const { atLeast, above } = counts(scores, levels);
    const found = Int32Array.from(levels, (level) => values.length - countBelow(values, level));
    return hitLevels({ levels: levels.reverse(), predicted: atLeast.reverse(), predictedBefore: above.reverse(), found: found.reverse() });
  };
  const plainAreas = (hits, n, P) => {
    let roc = 0, pr = 0;
    for (let j = 0; j < hits.levels.length; j++) {
      const before = j ? hits.found[j - 1] : 0, gained = hits.found[j] - before;
      roc += gained * (hits.predicted[j] - hits.found[j] + hits.before[j] - before);
      pr += gained * (hits.found[j] / hits.predicted[j]);
    }
    return { auc_roc: 1 - roc / (2 * P * (n - P)), auc_pr: Math.min(pr / P, 1) };
  };
  const precisionAtK = (hits, k) => {
    let at = 0;
    while (at < hits.levels.length && hits.predicted[at] < k) at++;
    const sure = at ? hits.found[at - 1] : 0;
    if (at === hits.levels.length || hits.before[at] >= k) return sure / k;
    return (sure + (hits.found[at] - sure) * (k - hits.before[at]) / (hits.predicted[at] - hits.before[at])) / k;
  };

  // ---- all of them ----
  /* `only` limits the work: "threshold" skips everything that does not depend on the threshold, "areas" the rest.
     `kept` holds what an earlier call found for the same plan and scores: {rank, hits}. */
  const evaluate = (plan, scores, { threshold = plan.settings.threshold ?? "sigma", k = plan.settings.k ?? null, only = "all", kept = {} } = {}) => {
    const { events, settings } = plan;
    const P = events.inside.length, { n } = events;
    if (!P || P === n) {
      const at = typeof threshold === "number" ? threshold : threshold === "quantile" ? quantile(scores) : sigma(scores);
      return { values: Object.fromEntries(NAMES.map((name) => [name, NaN])), threshold: at, predicted: predictedRanges(scores, at).count, areas: null, kept };
    }
    const values = {};
    let found = null;
    if (only !== "threshold" || threshold === "best") {
      if (only !== "threshold") kept.rank ??= ranked(plan, scores);
      kept.hits ??= kept.rank && settings.thresholds === null ? hitLevels(kept.rank) : insideLevels(events, scores);
    }
    let cut = null;
    if (only !== "areas") {
      cut = atThreshold(events, scores, threshold, kept.hits);
      Object.assign(values, thresholdValues(events, scores, cut));
    }
    if (only !== "threshold") {
      values.precision_at_k = precisionAtK(kept.hits, k ?? P);
      Object.assign(values, plainAreas(kept.hits, n, P));
      found = areas(plan, kept.rank);
      values.range_auc_roc = within(found.roc[plan.row]);
      values.range_auc_pr = within(found.pr[plan.row]);
      values.vus_roc = within(mean(plan, found.roc));
      values.vus_pr = within(mean(plan, found.pr));
    }
    return { values, threshold: cut?.points.threshold, predicted: cut?.points.ranges.count, areas: found, kept };
  };

  // ---- anomaly by anomaly ----
  // Half a buffer on either side of an anomaly counts for it.
  const windows = ({ events: { starts, stops, n }, before, after, settings: { buffer } }) => {
    const half = buffer >> 1;
    return [starts.map((start) => Math.max(start - (before ? half : 0), 0)), stops.map((stop) => Math.min(stop + (after ? half : 0), n))];
  };
  // Ranks of the highest scores of the anomalies and their buffers.
  const peakRanks = (plan, scores) => {
    const [begins, ends] = windows(plan);
    const highest = Float64Array.from(begins, (begin, k) => extremes(scores.subarray(begin, ends[k]))[1]);
    const peaks = distinct(sorted(highest)), { atLeast } = counts(scores, peaks);
    return Array.from(highest, (peak) => atLeast[countBelow(peaks, peak)]);
  };
  // One entry per anomaly: {start, stop, found, delay, rank}; false alarms as ranges [start, stop).
  const eventTable = (plan, scores, threshold, ranks = peakRanks(plan, scores)) => {
    const { starts, stops } = plan.events;
    const [begins, ends] = windows(plan);
    const rows = [];
    for (let k = 0; k < starts.length; k++) {
      let first = begins[k];
      while (first < ends[k] && !(scores[first] >= threshold)) first++;
      const found = first < ends[k];
      rows.push({ start: starts[k], stop: stops[k], found, delay: found ? first - starts[k] : NaN, rank: ranks[k] });
    }
    const ranges = predictedRanges(scores, threshold);
    const alarms = [];
    // Windows of neighbors may overlap, so those that end before a range are skipped by their own ends.
    for (let j = 0, k = 0; j < ranges.starts.length; j++) {
      while (k < ends.length && ends[k] <= ranges.starts[j]) k++;
      if (k === ends.length || begins[k] >= ranges.stops[j]) alarms.push([ranges.starts[j], ranges.stops[j]]);
    }
    return { rows, found: rows.filter((row) => row.found).length, alarms, predicted: ranges.count };
  };

  // ---- chance ----
  const random = (seed) => () => {
    seed = seed + 0x6D2B79F5 | 0;
    let t = Math.imul(seed ^ seed >>> 15, 1 | seed);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4294967296;
  };
  /* Mean values of random scores: exponentially distributed numbers in random order, as in vuskit.chance_level.
     Where the threshold is a number, `predicted` points are predicted. Call step() until it returns true. */
  const chance = (plan, { draws = 20, seed = 1, predicted = 0 } = {}) => {
    const next = random(seed), { n } = plan.events;
    const sums = {};
    let done = 0;
    const step = () => {
      const scores = new Float64Array(n);
      for (let i = 0; i < n; i++) scores[i] = -Math.log1p(-next());
      let { threshold = "sigma" } = plan.settings;
      if (typeof threshold === "number") threshold = predicted ? atRanks(scores, [n - predicted])[0] : Infinity;
      for (const [name, value] of Object.entries(evaluate(plan, scores, { threshold }).values)) sums[name] = (sums[name] ?? 0) + value;
      return ++done >= draws;
    };
    return { step, get values() { return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / done])); } };
  };

  return {
    NAMES, events, fromBounds, plan, evaluate, eventTable, peakRanks, heights, softLabel, sigma, quantile, bestThreshold,
    chance, random, sorted, countBelow, atRanks, extremes, span, predictedRanges,
  };
})();
