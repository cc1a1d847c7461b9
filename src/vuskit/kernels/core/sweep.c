/* Sweep: from counts at levels to the areas of every buffer width.
 *
 * Thresholds fall from level to level, all widths of a block side by side. With P anomalous points,
 * A of them predicted, r predicted points in total and B the sum of the predicted soft labels:
 *
 *   x = P' = P + B / 2        m = 2 P - A             TP = A + B = 2 x - m
 *   T = min(2 - m / x, 1) E   FPR = 2 + f / (n - x)   precision = 2 x / r - m / r
 *
 * with f = r - A - 2 (n - P) and E the share of buffered events found. Both areas are sums over the
 * jumps of T:
 *
 *   ROC = 1 - sum dT (FPR before + FPR after) / 2     PR = sum dT precision
 */

/* --- levels inside events in closed form ------------------------------------------------------- */

/* As long as a buffer gains no point, x is constant and an anomalous point adds a / x to T. With
 * y = 1 / x and z = 1 / (n - x), a run of such levels therefore adds y z dS1 to the ROC sum and
 * dS2 - y dS3 to the PR sum, where the prefix sums S do not depend on the width:
 *
 *   S1 = sum a (f before + f after)     S2 = sum 2 a / r     S3 = sum a m / r
 *
 * Entry h describes the counts after the h-th level with anomalous points. */
typedef struct {
    Index size;
    double *m, *s1, *s2, *s3;
    double *both_f, *slope, *offset; /* of the h-th level itself */
} Hits;

/* Add a term to a sum; `lost` collects what rounding drops. */
static double add_exactly(double sum, double term, double *lost)
{
    const double total = sum + term;
    *lost += fabs(sum) >= fabs(term) ? (sum - total) + term : (term - total) + sum;
    return total;
}

static Hits list_hits(Job *job, const Ranking *ranking)
{
    const Index most = smaller(ranking->size, ranking->n_inside) + 1;
    double *memory = arena_take(&job->scratch, (size_t)(7 * most) * sizeof *memory);
    Hits hits = {
        0,
        memory,
        memory + most,
        memory + 2 * most,
        memory + 3 * most,
        memory + 4 * most,
        memory + 5 * most,
        memory + 6 * most,
    };
    const double inside = (double)ranking->n_inside, n = (double)ranking->n;
    const double constant = 2.0 * (n - inside);
    double s2 = 0.0, s3 = 0.0, lost2 = 0.0, lost3 = 0.0;
    hits.m[0] = 2.0 * inside;
    hits.s1[0] = hits.s2[0] = hits.s3[0] = hits.both_f[0] = hits.slope[0] = hits.offset[0] = 0.0;
    int64_t found = 0;
    Index h = 0;
    for (Index k = 0; k < ranking->size; k++) {
        if (ranking->found[k] == found)
            continue;
        const double a = (double)(ranking->found[k] - found), r = (double)ranking->predicted[k];
        const double m = 2.0 * inside - (double)ranking->found[k];
        h++;
        hits.m[h] = m;
        hits.both_f[h] = (double)(ranking->predicted[k] - ranking->found[k]) +
            (double)(ranking->before[k] - found) - 2.0 * constant;
        hits.slope[h] = 2.0 / r;
        hits.offset[h] = -m / r;
        hits.s1[h] = hits.s1[h - 1] + a * hits.both_f[h];
        s2 = add_exactly(s2, 2.0 * a / r, &lost2);
        s3 = add_exactly(s3, a * m / r, &lost3);
        hits.s2[h] = s2 + lost2;
        hits.s3[h] = s3 + lost3;
        found = ranking->found[k];
    }
    hits.size = h;
    return hits;
}

/* --- state of a block of widths ---------------------------------------------------------------- */

enum { PADDED = BLOCK + LANE }; /* arrays at multiples of 4096 bytes would share cache sets */

/* Arrays by width, in whole lanes. Until all events are found, sums are accumulated without E, and
 * multiplied by E when E changes. */
typedef struct {
    double x[PADDED];       /* P'; if P' is fixed: TP */
    double inverse[PADDED]; /* 1 / (x (n - x)); if P' is fixed: 1 / P' */
    double roc[PADDED], pr[PADDED];         /* since E changed */
    double roc_sum[PADDED], pr_sum[PADDED]; /* before */
    double share[PADDED];                  /* E */
    double found[PADDED], events[PADDED];   /* numbers of buffered events */
    double gain[PADDED];                   /* rise of T because E rises */
    double last_z[PADDED];                 /* 1 / (n - x) before the level */
    double rate[PADDED];                   /* T, only if P' is fixed */
    double total[PADDED];                  /* weights of a level with several terms */
    double twice[PADDED];                  /* its points near two events from this width on */
    double n;
    Index size;  /* widths of the block */
    Index open;  /* only the first `open` widths have T < E; wider buffers reach the cap earlier */
    Index from;  /* first width of the block */
    const Widths *widths;
    const double *table; /* weights of the block's widths */
    Index stride;
} Block;

/* What all blocks of a sweep share. */
typedef struct {
    const Widths *widths;
    const Geometry *g;
    const Ranking *ranking;
    double *table; /* weights of one block, if there is no table of all widths */
    Index stride;  /* widths of a block in whole lanes */
    Index *merged; /* by half-length: number of events that are merged with the next */
    Ranking near;  /* all near points as one level, if P' is fixed */
    Hits hits;
} Sweep;

static void count_merged(Job *job, Sweep *sweep)
{
    const Geometry *g = sweep->g;
    const size_t size = (size_t)(g->reach + 1) * sizeof *sweep->merged;
    sweep->merged = arena_take(&job->scratch, size);
    memset(sweep->merged, 0, size);
    for (Index event = 0; event < g->n_events && g->rules.events != APART; event++)
        if (g->joined[event] != NEVER)
            sweep->merged[g->joined[event]]++;
    for (Index half = 1; half <= g->reach; half++)
        sweep->merged[half] += sweep->merged[half - 1];
}

static void start_block(Block *block, const Sweep *sweep, Index from, Index to)
{
    const Widths *widths = sweep->widths;
    const Geometry *g = sweep->g;
    const double inside = (double)g->n_inside;
    block->widths = widths;
    block->n = (double)g->n;
    block->from = from;
    block->size = block->open = to - from;
    if (widths->table) {
        block->table = widths->table + from;
        block->stride = widths->stride;
    } else {
        block->table = sweep->table;
        block->stride = sweep->stride;
        weight_table(widths, from, to, sweep->stride, sweep->table);
    }
    for (Index w = 0; w < (block->size + LANE - 1) / LANE * LANE; w++) {
        const Index half = w < block->size ? smaller(widths->half[from + w], g->reach) : 0;
        block->events[w] = (double)(g->n_events - sweep->merged[half]);
        block->x[w] = g->rules.fixed ? 0.0 : inside;
        block->inverse[w] = 1.0 / (inside * (block->n - inside));
        block->roc[w] = block->pr[w] = block->roc_sum[w] = block->pr_sum[w] = 0.0;
        block->share[w] = block->found[w] = block->gain[w] = block->rate[w] = 0.0;
        block->last_z[w] = block->total[w] = block->twice[w] = 0.0;
    }
}

/* First width of the block that a half-length reaches. */
static Index first_in_block(const Block *block, int32_t half)
{
    const Index first = block->widths->first[half] - block->from;
    return first < 0 ? 0 : smaller(first, block->size);
}

static Index lane_down(Index w) { return w / LANE * LANE; }
static Index lane_up(Index w) { return (w + LANE - 1) / LANE * LANE; }

/* Return the weights of a level's near points, and the first width that has any. */
static const double *level_weights(
    Block *block, const Ranking *ranking, Index k, Index *first)
{
    const Term *term = ranking->terms + ranking->first_term[k];
    const Index n_terms = ranking->first_term[k + 1] - ranking->first_term[k];
    *first = first_in_block(block, ranking->reached[k]);
    if (n_terms == 1 && term->second == NEVER && term->count == 1)
        return block->table + term->code * block->stride;
    const Widths *widths = block->widths;
    const double full = full_weight(widths->rules);
    double *restrict total = block->total;
    const Index end = lane_up(block->size);
    if (n_terms == 1 && term->count == 1) {
        const double *restrict weight = block->table + term->code * block->stride;
        const Index twice = first_in_block(block, term->second);
        for (Index w = lane_down(*first); w < twice; w++)
            total[w] = weight[w];
        for (Index w = twice; w < end; w++)
            total[w] = w < block->size ? full : 0.0;
        return total;
    }
    for (Index w = lane_down(*first); w < end; w++)
        total[w] = 0.0;
    const Term *const last = term + n_terms;
    Index any_twice = block->size;
    while (term < last) { /* terms with the same code */
        const int32_t code = term->code;
        const double *restrict weight = block->table + code * block->stride;
        Index begin = first_in_block(block, reached_from(widths->rules, widths->reach, code));
        Index n_once = 0; /* points near one event */
        for (const Term *same = term; same < last && same->code == code; same++)
            n_once += same->count;
        for (; term < last && term->code == code; term++) {
            const Index twice =
                term->second == NEVER ? block->size : first_in_block(block, term->second);
            const double count = (double)n_once;
            for (Index w = begin; w < twice; w++)
                total[w] += count * weight[w];
            begin = twice;
            n_once -= term->count;
            if (twice < block->size) {
                block->twice[twice] += (double)term->count;
                any_twice = smaller(any_twice, twice);
            }
        }
    }
    double n_twice = 0.0;
    for (Index w = any_twice; w < block->size; w++) {
        n_twice += block->twice[w];
        block->twice[w] = 0.0;
        total[w] += n_twice * full;
    }
    return total;
}

/* --- P' follows the prediction ----------------------------------------------------------------- */

/* Numbers of a level that all widths share; _before: at the preceding level. */
typedef struct {
    double m_before, m, f_before, f, slope, offset;
    double s1_before, s1, s2_drop, s3_before, s3;
} Level;

/* Add a level to the widths from, ..., to - 1 (whole lanes). Widths whose weight is 0 stay as they
 * are, bit by bit, provided that no anomalous point has this level.
 *
 * The runs of anomalous levels are included: the run before this level ends, which adds its final
 * y z S1, and a new one starts, which subtracts the initial value. */
static inline void add_lanes(
    Block *block, const Level *level, const double *weights, Index from, Index to, bool has_hits)
{
    const Level l = *level;
    const double n = block->n;
    for (Index group = from; group < to; group += LANE) {
        const double *restrict weight = weights + group;
        double *restrict x = block->x + group;
        double *restrict inverse = block->inverse + group;
        double *restrict roc = block->roc + group;
        double *restrict pr = block->pr + group;
        for (int i = 0; i < LANE; i++) {
            const double x_before = x[i], yz_before = inverse[i];
            const double x_now = x_before + weight[i];
            const double rest = n - x_now;
            const double yz = 1.0 / (x_now * rest);
            const double y_before = yz_before * (n - x_before), y = yz * rest;
            const double miss_before = l.m_before * y_before, miss = l.m * y;
            const double jump =
                (miss_before > 1.0 ? miss_before : 1.0) - (miss > 1.0 ? miss : 1.0);
            const double run_roc = has_hits ? l.s1_before * yz_before - l.s1 * yz
                                            : l.s1 * (yz_before - yz);
            const double run_pr = has_hits ? l.s2_drop + (l.s3 * y - l.s3_before * y_before)
                                           : l.s3 * (y - y_before);
            const double both_f = l.f * (yz * x_now) + l.f_before * (yz_before * x_before);
            roc[i] += jump * both_f + run_roc;
            pr[i] += jump * (l.slope * x_now + l.offset) + run_pr;
            x[i] = x_now;
            inverse[i] = yz;
        }
    }
}

static void add_level(Block *block, const Level *level, const double *weights, Index from, Index to)
{
    add_lanes(block, level, weights, from, to, false);
}

/* Add a level at which anomalous points and near points meet: the widths of the first lanes that it
 * does not reach must stay as they are. */
static void add_mixed_level(
    Block *block, const Level *level, const double *weights, Index first, Index to)
{
    const Index from = lane_down(first), n_kept = first - from;
    double kept[4][LANE];
    for (Index i = 0; i < n_kept; i++) {
        kept[0][i] = block->x[from + i];
        kept[1][i] = block->inverse[from + i];
        kept[2][i] = block->roc[from + i];
        kept[3][i] = block->pr[from + i];
    }
    add_lanes(block, level, weights, from, to, true);
    for (Index i = 0; i < n_kept; i++) {
        block->x[from + i] = kept[0][i];
        block->inverse[from + i] = kept[1][i];
        block->roc[from + i] = kept[2][i];
        block->pr[from + i] = kept[3][i];
    }
}

/* End the sums of the widest open width, whose T has reached E. Until all events are found it only
 * gathers P'. */
static void close_width(Block *block)
{
    const Index w = --block->open;
    block->roc_sum[w] += block->share[w] * block->roc[w];
    block->pr_sum[w] += block->share[w] * block->pr[w];
}

/* Close the widths from `first` on that have reached the cap at the last level, after h levels of
 * anomalous points. */
static void close_capped_now(Block *block, const Hits *hits, Index h, Index first)
{
    while (block->open > first && hits->m[h] <= block->x[block->open - 1]) {
        const Index w = block->open - 1;
        const double y = block->inverse[w] * (block->n - block->x[w]);
        block->roc[w] += hits->s1[h] * block->inverse[w];
        block->pr[w] += hits->s2[h] - hits->s3[h] * y;
        close_width(block);
    }
}

/* Close the widths that have reached the cap within a run of anomalous levels, the last being the
 * h-th. The level at which this happened contributes the rest of T. */
static void close_capped_in_run(Block *block, const Hits *hits, Index h)
{
    while (block->open && hits->m[h] <= block->x[block->open - 1]) {
        const Index w = block->open - 1;
        const double x = block->x[w], yz = block->inverse[w];
        Index below = 0, at = h; /* m[below] > x >= m[at] */
        while (at - below > 1) {
            const Index middle = (below + at) / 2;
            if (hits->m[middle] <= x)
                at = middle;
            else
                below = middle;
        }
        const double y = yz * (block->n - x), z = yz * x;
        const double miss = hits->m[below] * y;
        const double jump = (miss > 1.0 ? miss : 1.0) - 1.0;
        block->roc[w] += hits->s1[below] * yz + jump * (z * hits->both_f[at]);
        block->pr[w] += (hits->s2[below] - hits->s3[below] * y) +
            jump * (hits->slope[at] * x + hits->offset[at]);
        close_width(block);
    }
}

/* One more buffered event is found at this level for the widths from, ..., to - 1: E rises. What
 * was summed so far gets the old E. The rise of T is added after the level, by `add_gains`. */
static void find_event(Block *block, const Level *l, double s2, Index from, Index to)
{
    const double n = block->n;
    const Index open = smaller(larger(block->open, from), to);
    for (Index w = from; w < to; w++) {
        const double x = block->x[w];
        const double yz = w < open ? block->inverse[w] : 1.0 / (x * (n - x));
        const double old = block->share[w];
        block->found[w] += 1.0;
        const double now = block->found[w] / block->events[w];
        double rate = 1.0;
        if (w < open) {
            const double y = yz * (n - x), run = l->s1_before * yz;
            const double run_pr = s2 - l->s3_before * y;
            const double miss = l->m_before * y;
            rate = 2.0 - (miss > 1.0 ? miss : 1.0);
            block->roc_sum[w] += old * (block->roc[w] + run);
            block->pr_sum[w] += old * (block->pr[w] + run_pr);
            block->roc[w] = -run;
            block->pr[w] = -run_pr;
        }
        block->gain[w] += (now - old) * rate;
        block->last_z[w] = yz * x;
        block->share[w] = now;
    }
}

static void add_gains(Block *block, const Level *l, Index from, Index to)
{
    for (Index w = from; w < to; w++) {
        const double x = block->x[w];
        const double z = 1.0 / (block->n - x);
        block->roc_sum[w] += block->gain[w] * (l->f * z + l->f_before * block->last_z[w]);
        block->pr_sum[w] += block->gain[w] * (l->slope * x + l->offset);
        block->gain[w] = 0.0;
    }
}

/* Widths of the block for which a peak holds. */
static void widths_of_peak(const Block *block, const Peak *peak, Index *from, Index *to)
{
    *from = first_in_block(block, peak->from);
    *to = peak->to == NEVER ? block->size : first_in_block(block, peak->to);
}

static void sweep_block(Job *job, Block *block, const Sweep *sweep)
{
    const Ranking *ranking = sweep->ranking;
    const Hits *hits = &sweep->hits;
    const double inside = (double)ranking->n_inside;
    const double constant = 2.0 * (block->n - inside);
    const Index n_peaks = ranking->n_peaks;
    const int32_t longest = (int32_t)smaller(
        block->widths->half[block->from + block->size - 1], block->widths->reach);
    Index peak = 0, h = 0;
    int64_t found = 0;
    for (Index k = 0; k < ranking->size; k++) {
        const Index h_before = h;
        const int64_t found_before = found;
        found = ranking->found[k];
        h += found > found_before;
        const Index first_peak = peak;
        while (peak < n_peaks && ranking->peaks[peak].level == k)
            peak++;
        const bool reaches = ranking->reached[k] <= longest;
        if (!reaches && first_peak == peak)
            continue;
        if (block->open)
            close_capped_in_run(block, hits, h_before);
        else if (peak == n_peaks && first_peak == peak)
            break; /* T is 1 for all widths and stays 1 */

        const double r = (double)ranking->predicted[k];
        const Level level = {
            .m_before = hits->m[h_before],
            .m = hits->m[h],
            .f_before = (double)(ranking->before[k] - found_before) - constant,
            .f = (double)(ranking->predicted[k] - found) - constant,
            .slope = 2.0 / r,
            .offset = -hits->m[h] / r,
            .s1_before = hits->s1[h_before],
            .s1 = hits->s1[h],
            .s2_drop = hits->s2[h_before] - hits->s2[h],
            .s3_before = hits->s3[h_before],
            .s3 = hits->s3[h],
        };
        for (Index i = first_peak; i < peak; i++) {
            Index from, to;
            widths_of_peak(block, ranking->peaks + i, &from, &to);
            find_event(block, &level, hits->s2[h_before], from, to);
        }
        if (reaches) {
            Index first;
            const double *weight = level_weights(block, ranking, k, &first);
            Index done = first; /* widths below have got their P' */
            if (first < block->open) {
                done = lane_up(block->open);
                if (h > h_before)
                    add_mixed_level(block, &level, weight, first, done);
                else
                    add_level(block, &level, weight, lane_down(first), done);
            }
            if (peak < n_peaks || first_peak < peak)
                for (Index w = done; w < block->size; w++)
                    block->x[w] += weight[w];
            close_capped_now(block, hits, h, first);
            ask(job, block->size);
        }
        for (Index i = first_peak; i < peak; i++) {
            Index from, to;
            widths_of_peak(block, ranking->peaks + i, &from, &to);
            add_gains(block, &level, from, to);
        }
    }
    close_capped_in_run(block, hits, hits->size);
}

/* --- P' is fixed ------------------------------------------------------------------------------- */

/* Numbers of a level that all widths share. */
typedef struct {
    double hits; /* anomalous points of the level */
    double predicted, predicted_before;
    double precision, precision_before, certain; /* factors of TP, and a constant */
} FixedLevel;

static void add_fixed_level(
    Block *block, const FixedLevel *level, const double *weights, Index from, Index to)
{
    const FixedLevel l = *level;
    for (Index group = from; group < to; group += LANE) {
        const double *restrict weight = weights + group;
        const double *restrict inverse = block->inverse + group;
        const double *restrict share = block->share + group;
        double *restrict x = block->x + group;
        double *restrict rate = block->rate + group;
        double *restrict roc = block->roc + group;
        double *restrict pr = block->pr + group;
        for (int i = 0; i < LANE; i++) {
            const double before = x[i], now = before + (weight[i] + l.hits);
            const double part = now * inverse[i];
            const double reached = (part < 1.0 ? part : 1.0) * share[i];
            const double jump = reached - rate[i];
            roc[i] += jump * ((l.predicted - now) + (l.predicted_before - before));
            pr[i] += jump * (now * l.precision + before * l.precision_before + l.certain);
            rate[i] = reached;
            x[i] = now;
        }
    }
}

static bool is_complete(const Block *block)
{
    bool complete = true;
    for (Index w = 0; w < block->size; w++)
        complete &= block->rate[w] == 1.0;
    return complete;
}

/* Put all near points into one level, whose weights are the sum of all soft labels. */
static void join_near_points(Job *job, Sweep *sweep)
{
    const Geometry *g = sweep->g;
    Arena *memory = &job->scratch;
    Item *item = arena_take(memory, (size_t)g->n_points * sizeof *item);
    for (Index i = 0; i < g->n_points; i++)
        item[i] = (Item){0.0, g->place[i]};
    sweep->near.first_term = arena_take(memory, 2 * sizeof(int64_t));
    sweep->near.reached = arena_take(memory, sizeof(int32_t));
    TermList list = term_list(job, g, &sweep->near, memory);
    add_terms(&list, 0, item, g->n_points);
    sweep->near.first_term[1] = sweep->near.n_terms;
}

/* Prepare 1 / P' and 1 / (n - P') of each width; P' is P plus half of all soft labels. */
static void fix_positives(Block *block, const Sweep *sweep)
{
    Index first = block->size;
    const double *near = block->total;
    if (sweep->near.n_terms)
        near = level_weights(block, &sweep->near, 0, &first);
    for (Index w = 0; w < lane_up(block->size); w++) {
        const bool has_near = w >= first && w < block->size;
        const double positives = (double)sweep->g->n_inside + (has_near ? near[w] / 2 : 0.0);
        block->inverse[w] = 1.0 / positives;
        block->last_z[w] = 1.0 / (block->n - positives);
    }
}

static void sweep_fixed_block(Job *job, Block *block, const Sweep *sweep)
{
    static const double nothing[PADDED]; /* weights of a level without near points */
    const Ranking *ranking = sweep->ranking;
    const bool trapezoid = sweep->g->rules.trapezoid;
    const double after = trapezoid ? 0.5 : 1.0, before = trapezoid ? 0.5 : 0.0;
    const Index n_peaks = ranking->n_peaks, end = lane_up(block->size);
    const int32_t longest = (int32_t)smaller(
        block->widths->half[block->from + block->size - 1], block->widths->reach);
    Index peak = 0;
    int64_t found = 0;
    fix_positives(block, sweep);
    for (Index k = 0; k < ranking->size; k++) {
        const Index first_peak = peak;
        const double hits = (double)(ranking->found[k] - found);
        found = ranking->found[k];
        while (peak < n_peaks && ranking->peaks[peak].level == k) {
            Index from, to;
            widths_of_peak(block, ranking->peaks + peak++, &from, &to);
            for (Index w = from; w < to; w++)
                block->share[w] = (block->found[w] += 1.0) / block->events[w];
        }
        const bool reaches = ranking->reached[k] <= longest;
        if (!reaches && hits == 0.0 && first_peak == peak)
            continue;
        const double r = (double)ranking->predicted[k], r_before = (double)ranking->before[k];
        const FixedLevel level = {
            .hits = hits,
            .predicted = r,
            .predicted_before = r_before,
            .precision = after / r,
            .precision_before = r_before > 0.0 ? before / r_before : 0.0,
            .certain = r_before > 0.0 ? 0.0 : before, /* precision 1 before the first point */
        };
        Index first = 0;
        const double *weight = nothing;
        if (reaches) {
            weight = level_weights(block, ranking, k, &first);
            if (weight == block->total)
                for (Index w = 0; w < lane_down(first); w++)
                    block->total[w] = 0.0;
        }
        const bool all = hits > 0.0 || first_peak < peak;
        add_fixed_level(block, &level, weight, all ? 0 : lane_down(first), end);
        ask(job, block->size);
        if (k % 64 == 63 && peak == n_peaks && is_complete(block))
            break;
    }
}

/* --- all widths -------------------------------------------------------------------------------- */

/* Write the areas of the widths from, ..., to - 1. They do not depend on the other widths. */
static void sweep(
    Job *job, const Widths *widths, const Geometry *g, const Ranking *ranking, Index from, Index to,
    double *roc, double *pr)
{
    const bool fixed = g->rules.fixed;
    Sweep all = {.widths = widths, .g = g, .ranking = ranking};
    count_merged(job, &all);
    if (!widths->table) {
        all.stride = smaller(lane_up(to - from), BLOCK);
        const Index entries = n_codes(g->rules, g->reach) * all.stride;
        all.table = arena_take(&job->scratch, (size_t)entries * sizeof *all.table);
    }
    if (fixed)
        join_near_points(job, &all);
    else
        all.hits = list_hits(job, ranking);
    Block *block = arena_take(&job->scratch, sizeof *block);
    for (Index first = from; first < to; first += BLOCK, roc += BLOCK, pr += BLOCK) {
        start_block(block, &all, first, smaller(first + BLOCK, to));
        if (fixed)
            sweep_fixed_block(job, block, &all);
        else
            sweep_block(job, block, &all);
        for (Index w = 0; w < block->size; w++) {
            roc[w] = fixed ? 1.0 - 0.5 * (block->roc[w] * block->last_z[w])
                           : 1.0 - (2.0 + 0.5 * block->roc_sum[w]);
            pr[w] = fixed ? block->pr[w] : block->pr_sum[w];
        }
    }
}

static double mean(const double *value, Index n)
{
    double sum = 0.0;
    for (Index i = 0; i < n; i++)
        sum += value[i];
    return sum / (double)n;
}
