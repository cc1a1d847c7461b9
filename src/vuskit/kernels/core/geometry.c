/* Labels: events, the points near them, and the weights of these points. */

/* --- events ------------------------------------------------------------------------------------ */

/* Return the first position from `i` on whose flag differs from `value`. */
static Index next_change(const uint8_t *flag, Index i, Index count, uint8_t value)
{
    const uint64_t same = value ? UINT64_C(0x0101010101010101) : 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t eight;
        memcpy(&eight, flag + i, 8);
        if (eight != same)
            break;
    }
    while (i < count && flag[i] == value)
        i++;
    return i;
}

/* Find the events [start, stop) of labels of 0 and 1. Returns their number; -1 if there is another
 * label. */
static Index find_events(const uint8_t *label, Index n, int64_t *start, int64_t *stop)
{
    Index n_events = 0;
    for (Index i = next_change(label, 0, n, 0); i < n; i = next_change(label, i, n, 0)) {
        start[n_events] = i;
        i = next_change(label, i, n, 1);
        if (i == start[n_events])
            return -1;
        stop[n_events++] = i;
    }
    return n_events;
}

/* --- widths and weights ------------------------------------------------------------------------ */

enum { MOST_WEIGHTS = 1 << 21 }; /* entries of a table that is computed once for all blocks */

/* Half-length from which a point with this code lies in a buffer. */
static int32_t reached_from(Rules rules, Index reach, int32_t code)
{
    return code <= reach ? code : (int32_t)(code - reach) + rules.shorter;
}

static Index n_codes(Rules rules, Index reach) { return 1 + reach * (rules.shorter ? 2 : 1); }

/* Contribution of a soft label of 1 to the running sum: half if the sum is P' = P + B / 2. */
static double full_weight(Rules rules) { return rules.fixed ? 1.0 : 0.5; }

/* Write the weights of one code at the widths from, ..., to - 1, zero where no buffer reaches. */
static void weights_of_code(const Widths *widths, int32_t code, Index from, Index to, double *out)
{
    const double full = full_weight(widths->rules);
    const double distance = code <= widths->reach ? code : code - (double)widths->reach;
    const double *length = widths->length;
    Index first = widths->first[reached_from(widths->rules, widths->reach, code)];
    first = first < from ? from : first > to ? to : first;
    for (Index w = from; w < first; w++)
        out[w - from] = 0.0;
    if (widths->rules.linear) {
        const double slope = 1.0 - sqrt(0.5);
        for (Index w = first; w < to; w++) {
            const double half = (double)widths->half[w];
            out[w - from] = full * (1.0 - slope * distance / (half > 1.0 ? half : 1.0));
        }
    } else {
        for (Index w = first; w < to; w++) {
            const double rest = 1.0 - distance / (length[w] > 1.0 ? length[w] : 1.0);
            out[w - from] = full * sqrt(rest > 0.0 ? rest : 0.0);
        }
    }
}

/* Write the weights of all codes by (code, width); points inside events are counted elsewhere. */
static void weight_table(const Widths *widths, Index from, Index to, Index stride, double *table)
{
    const Index codes = n_codes(widths->rules, widths->reach);
    memset(table, 0, (size_t)stride * sizeof(double));
    for (Index code = 1; code < codes; code++) {
        double *row = table + code * stride;
        if (reached_from(widths->rules, widths->reach, (int32_t)code) > widths->reach) {
            memset(row, 0, (size_t)stride * sizeof(double));
            continue;
        }
        weights_of_code(widths, (int32_t)code, from, to, row);
        memset(row + (to - from), 0, (size_t)(stride - (to - from)) * sizeof(double));
    }
}

static void make_widths(
    Job *job, Widths *widths, Rules rules, const int64_t *length, Index size, Index reach)
{
    Arena *memory = &widths->memory;
    memory->escape = &job->escape;
    widths->rules = rules;
    widths->size = size;
    widths->stride = (size + LANE - 1) / LANE * LANE;
    widths->reach = reach;
    widths->half = arena_take(memory, (size_t)size * sizeof *widths->half);
    widths->length = arena_take(memory, (size_t)size * sizeof *widths->length);
    for (Index w = 0; w < size; w++) {
        widths->half[w] = length[w] / 2;
        widths->length[w] = (double)length[w];
    }
    widths->first = arena_take(memory, (size_t)(reach + 1) * sizeof *widths->first);
    Index w = 0;
    for (Index half = 0; half <= reach; half++) {
        while (w < size && widths->half[w] < half)
            w++;
        widths->first[half] = (int32_t)w;
    }
    const Index entries = n_codes(rules, reach) * widths->stride;
    widths->table = NULL;
    if (entries <= MOST_WEIGHTS) {
        double *table = arena_take(memory, (size_t)entries * sizeof *table);
        weight_table(widths, 0, size, widths->stride, table);
        widths->table = table;
    }
}

/* --- points near events ------------------------------------------------------------------------ */

/* Half-length from which events `gap` points apart are one buffered event. */
static Index joined_from(Rules rules, Index gap)
{
    const Index needed = rules.events == TOUCH ? gap : gap + 1;
    if (rules.before && rules.after)
        return (needed + rules.shorter + 1) / 2;
    return rules.after ? needed + rules.shorter : needed;
}

static Index smaller(Index a, Index b) { return a < b ? a : b; }
static Index larger(Index a, Index b) { return a > b ? a : b; }

/* Write code and second distance of the points from, ..., to - 1 of the gap after event `left`.
 * The two smallest distances may be to any two events, not only to the neighbors. */
static void describe_near_points(Geometry *g, Index left, Index from, Index to, Index at)
{
    const Index far = NEVER, right = left + 1;
    const Rules rules = g->rules;
    const int64_t *start = g->start, *stop = g->stop;
    for (Index p = from; p < to; p++, at++) {
        Index to_left = far, to_left_two = far, to_right = far, to_right_two = far;
        if (rules.after && left >= 0)
            to_left = p - (stop[left] - 1 - rules.shorter);
        if (rules.after && left >= 1)
            to_left_two = p - (stop[left - 1] - 1 - rules.shorter);
        if (rules.before && right < g->n_events)
            to_right = start[right] - p;
        if (rules.before && right + 1 < g->n_events)
            to_right_two = start[right + 1] - p;
        Index code = smaller(to_left, to_right);
        if (rules.shorter && to_left <= to_right)
            code = to_left - rules.shorter + g->reach;
        Index second = smaller(larger(to_left, to_right), smaller(to_left_two, to_right_two));
        g->place[at].code = (int32_t)code;
        g->place[at].second = rules.larger || second > g->reach ? NEVER : (int32_t)second;
    }
}

static void add_stretch(Geometry *g, Index start, Index stop)
{
    if (start == stop)
        return;
    if (g->n_stretches && g->stretch_stop[g->n_stretches - 1] == start) {
        g->stretch_stop[g->n_stretches - 1] = stop;
        return;
    }
    g->stretch_start[g->n_stretches] = start;
    g->stretch_stop[g->n_stretches++] = stop;
}

static void make_geometry(
    Job *job, Geometry *g, Rules rules, const int64_t *start, const int64_t *stop, Index n_events,
    Index n, Index reach)
{
    Arena *memory = &g->memory;
    memory->escape = &job->escape;
    const size_t each = (size_t)n_events * sizeof(int64_t);
    g->rules = rules;
    g->n = n;
    g->n_events = n_events;
    g->reach = reach;
    g->start = arena_take(memory, each);
    g->stop = arena_take(memory, each);
    memcpy(g->start, start, each);
    memcpy(g->stop, stop, each);
    g->joined = arena_take(memory, (size_t)n_events * sizeof *g->joined);
    const Index reach_before = rules.before ? reach : 0;
    const Index reach_after = rules.after ? larger(reach - rules.shorter, 0) : 0;

    /* First the stretches, which tell how many points there are. */
    g->stretch_start = arena_take(memory, (size_t)(2 * n_events + 1) * sizeof(int64_t));
    g->stretch_stop = arena_take(memory, (size_t)(2 * n_events + 1) * sizeof(int64_t));
    g->n_stretches = g->n_inside = 0;
    for (Index event = 0; event < n_events; event++) {
        const Index previous = event ? stop[event - 1] : 0;
        const Index after = event ? smaller(previous + reach_after, start[event]) : 0;
        add_stretch(g, larger(start[event] - reach_before, after), stop[event]);
        const Index next = event + 1 < n_events ? start[event + 1] : n;
        add_stretch(g, stop[event], smaller(stop[event] + reach_after, next));
        g->n_inside += stop[event] - start[event];
        const Index joined = joined_from(rules, next - stop[event]);
        g->joined[event] = event + 1 == n_events || joined > reach ? NEVER : (int32_t)joined;
    }
    g->n_points = 0;
    for (Index i = 0; i < g->n_stretches; i++)
        g->n_points += g->stretch_stop[i] - g->stretch_start[i];

    g->place = arena_take(memory, (size_t)g->n_points * sizeof *g->place);
    Index event = 0, at = 0;
    for (Index i = 0; i < g->n_stretches; i++) {
        Index p = g->stretch_start[i];
        while (p < g->stretch_stop[i]) {
            if (event < n_events && p == start[event]) {
                for (; p < stop[event]; p++)
                    g->place[at++] = (Place){0, NEVER};
                event++;
            } else {
                const Index next = event < n_events ? start[event] : n;
                const Index end = smaller(next, g->stretch_stop[i]);
                describe_near_points(g, event - 1, p, end, at);
                at += end - p;
                p = end;
            }
        }
    }
}
