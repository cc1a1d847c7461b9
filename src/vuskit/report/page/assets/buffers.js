"use strict";
/* The buffer that `--buffer auto` chooses: the rule of vuskit/buffers.py, with the same constants.
   Uses no other script. Values are numbers, NaN or infinite where missing; bounds are [[start, stop], ...].

     buffers.auto(values, bounds)       {length, strategy: "period" | "median_anomaly"}; null without period and anomalies
     buffers.period(values, maxLag)     period in points, or null                                                        */
const buffers = (() => {
  const MAX_POINTS = 20000;
  const LONGEST_AUTO = 1000;
  const PROMINENCE = 0.1; // least prominence of a maximum of the autocorrelation
  const NEAR_LARGEST = 0.6; // and its least share of the largest prominence
  const NOISE_HEIGHT = 5; // standard deviations that independent noise does not reach
  const NOISE_PROMINENCE = 3;

  // Gaps are interpolated linearly; the ends repeat the nearest known value. Null if nothing is known.
  const bridged = (values) => {
    const found = Float64Array.from(values);
    const known = [];
    for (let i = 0; i < found.length; i++) if (Number.isFinite(found[i])) known.push(i);
    if (!known.length) return null;
    if (known.length === found.length) return found;
    found.fill(found[known[0]], 0, known[0]);
    found.fill(found[known.at(-1)], known.at(-1) + 1);
    for (let k = 1; k < known.length; k++) {
      const [a, b] = [known[k - 1], known[k]];
      const slope = (found[b] - found[a]) / (b - a);
      for (let i = a + 1; i < b; i++) found[i] = slope * (i - a) + found[a];
    }
    return found;
  };
  // Times a power of two, which changes no digit: squares stay finite and do not vanish.
  const withinRange = (series) => {
    let largest = 0;
    for (const value of series) largest = Math.max(largest, Math.abs(value));
    if (largest === 0) return series;
    const half = -Math.floor(Math.log2(largest)) / 2;
    const [one, other] = [2 ** Math.floor(half), 2 ** Math.ceil(half)]; // their product may overflow
    return series.map((value) => value * one * other);
  };
  // At lags 0 to maxLag, divided by the number of all points; zeros for a constant series.
  const autocorrelation = (series, maxLag) => {
    const n = series.length;
    let [sum, largest] = [0, 0];
    for (const value of series) { sum += value; largest = Math.max(largest, Math.abs(value)); }
    const mean = sum / n;
    const centered = series.map((value) => value - mean);
    const found = new Float64Array(maxLag + 1);
    for (let lag = 0; lag <= maxLag; lag++) {
      let total = 0;
      for (let i = lag; i < n; i++) total += centered[i] * centered[i - lag];
      found[lag] = total;
    }
    const total = found[0];
    if (total <= 1e-24 * largest * largest * n || total === 0) return found.fill(0);
    return found.map((value) => value / total);
  };
  // Lowest value since the last higher one, by point.
  const valleysBefore = (values) => {
    const higher = []; // falling heights, each with the valley before it
    return values.map((value) => {
      let valley = value;
      while (higher.length && higher.at(-1)[0] <= value) valley = Math.min(valley, higher.pop()[1]);
      higher.push([value, valley]);
      return valley;
    });
  };
  const prominences = (values) => {
    const [before, after] = [valleysBefore(values), valleysBefore(values.slice().reverse()).reverse()];
    return values.map((value, i) => value - Math.max(before[i], after[i]));
  };
  // Correlation of independent points that lies so many standard deviations from 0.
  const noiseBound = (deviations, points) => deviations / Math.sqrt(Math.max(points - 2, 0) + deviations ** 2);

  const period = (values, maxLag = null) => {
    const known = bridged(values);
    if (!known) return null;
    const series = withinRange(known.subarray(0, MAX_POINTS));
    const n = series.length;
    const correlation = autocorrelation(series, Math.min(maxLag ?? Math.max(Math.floor(n / 3), 1), n - 1));
    const lags = [];
    for (let lag = 2; lag < correlation.length - 1; lag++) {
      const [before, here, after] = correlation.subarray(lag - 1, lag + 2);
      if (here > before && here >= after && here > 0) lags.push(lag);
    }
    const prominence = prominences(correlation);
    const largest = lags.reduce((most, lag) => Math.max(most, prominence[lag]), 0);
    const least = Math.max(PROMINENCE, NEAR_LARGEST * largest, noiseBound(NOISE_PROMINENCE, n));
    return lags.find((lag) => prominence[lag] >= least
      && correlation[lag] * n / (n - lag) >= noiseBound(NOISE_HEIGHT, n - lag)) ?? null;
  };
  // Halves go to the even neighbor, as in Python.
  const rounded = (number) => number % 1 === 0.5 ? 2 * Math.round(number / 2) : Math.round(number);
  const median = (numbers) => {
    const rising = Float64Array.from(numbers).sort();
    const middle = rising.length >> 1;
    return rising.length % 2 ? rising[middle] : (rising[middle - 1] + rising[middle]) / 2;
  };
  const auto = (values, bounds) => {
    const found = values && period(values, LONGEST_AUTO);
    if (found) return { length: found, strategy: "period" };
    if (!bounds.length) return null;
    return { length: rounded(median(bounds.map(([start, stop]) => stop - start))), strategy: "median_anomaly" };
  };
  return { auto, period, prominences };
})();
