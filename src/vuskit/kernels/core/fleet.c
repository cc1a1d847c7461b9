/* Many series in one call, with the functions that compute a single one. */

static double within_bounds(double area) { return area < 0.0 ? 0.0 : area > 1.0 ? 1.0 : area; }

/* Write the widths 0, step, 2 step, ..., longest and the buffer of R-AUC, ascending. Returns their
 * number; `row` is the place of the buffer. */
static Index list_widths(Index buffer, Index longest, Index step, int64_t *length, Index *row)
{
    Index size = 0;
    bool has_buffer = false;
    for (Index width = 0; width <= longest; width += step) {
        if (!has_buffer && width >= buffer) {
            has_buffer = true;
            *row = size;
            if (width > buffer)
                length[size++] = buffer;
        }
        length[size++] = width;
    }
    if (!has_buffer) {
        *row = size;
        length[size++] = buffer;
    }
    return size;
}

/* Ranks of the thresholds of a grid, as numpy.linspace(0, n - 1, size) truncated to integers. */
static void grid_ranks(Index n, Index size, int64_t *rank)
{
    const double step = (double)(n - 1) / (double)(size - 1);
    for (Index i = 0; i < size; i++)
        rank[i] = (int64_t)((double)i * step);
    rank[size - 1] = n - 1;
}

/* Widths are made again only when a series needs other ones than the series before it. */
typedef struct {
    Widths widths;
    Arena lengths;
    Index buffer, longest, reach, row, n_volume;
} FleetWidths;

static void update_widths(Job *job, FleetWidths *of, const Fleet *fleet, Index i, Index n)
{
    const Index buffer = fleet->buffer[i], longest = fleet->longest[i];
    const Index widest = larger(buffer, longest);
    const Index reach = smaller(widest / 2, n);
    if (of->widths.size && of->buffer == buffer && of->longest == longest && of->reach == reach)
        return;
    arena_reset(&of->widths.memory);
    arena_reset(&of->lengths);
    const Index n_volume = longest < 0 ? 0 : longest / fleet->step + 1;
    int64_t *length = arena_take(&of->lengths, (size_t)(n_volume + 1) * sizeof *length);
    const Index size = list_widths(buffer, longest, fleet->step, length, &of->row);
    make_widths(job, &of->widths, fleet->rules, length, size, reach);
    of->buffer = buffer;
    of->longest = longest;
    of->reach = reach;
    of->n_volume = n_volume;
}

/* Mean of the areas over the volume, which may not contain the buffer of R-AUC. */
static double volume(const FleetWidths *of, double *area)
{
    if (of->widths.size > of->n_volume)
        memmove(area + of->row, area + of->row + 1,
            (size_t)(of->widths.size - of->row - 1) * sizeof *area);
    return within_bounds(mean(area, of->n_volume));
}

typedef struct {
    FleetWidths widths;
    Geometry geometry;
    Ranking ranking;
    int64_t *rank;
} FleetState;

static void evaluate_series(
    Job *job, const Fleet *fleet, FleetState *state, const uint8_t *label, const double *score,
    Index n, Index i)
{
    Arena *scratch = &job->scratch;
    double *out = fleet->out + i * FLEET_VALUES;
    int64_t *start = arena_take(scratch, (size_t)(n / 2 + 1) * sizeof *start);
    int64_t *stop = arena_take(scratch, (size_t)(n / 2 + 1) * sizeof *stop);
    const Index n_events = find_events(label, n, start, stop);
    if (n_events < 1 || stop[0] - start[0] == n) {
        for (int value = 0; value < FLEET_VALUES; value++)
            out[value] = NAN;
        return;
    }
    const Scores scores = in_memory(score, n);
    Geometry *g = &state->geometry;
    Ranking *ranking = &state->ranking;
    if (fleet->n_thresholds) { /* AUC-ROC and AUC-PR always use every score */
        make_geometry(job, g, fleet->rules, start, stop, n_events, n, 0);
        rank(job, ranking, g, &scores, NULL, 0);
        curve_areas(ranking, out, out + 1);
        arena_reset(&g->memory);
        arena_reset(&ranking->memory);
        grid_ranks(n, fleet->n_thresholds, state->rank);
    }
    update_widths(job, &state->widths, fleet, i, n);
    make_geometry(job, g, fleet->rules, start, stop, n_events, n, state->widths.reach);
    rank(job, ranking, g, &scores, state->rank, fleet->n_thresholds);
    if (!fleet->n_thresholds)
        curve_areas(ranking, out, out + 1);

    const Index size = state->widths.widths.size;
    double *roc = arena_take(scratch, (size_t)size * sizeof *roc);
    double *pr = arena_take(scratch, (size_t)size * sizeof *pr);
    sweep(job, &state->widths.widths, g, ranking, 0, size, roc, pr);
    out[2] = within_bounds(roc[state->widths.row]);
    out[3] = within_bounds(pr[state->widths.row]);
    out[4] = state->widths.n_volume ? volume(&state->widths, roc) : NAN;
    out[5] = state->widths.n_volume ? volume(&state->widths, pr) : NAN;
}

static void fleet_free(FleetState *state)
{
    arena_free(&state->widths.widths.memory);
    arena_free(&state->widths.lengths);
    arena_free(&state->geometry.memory);
    arena_free(&state->ranking.memory);
}

static void fleet(Job *job, const Fleet *all)
{
    /* The state outlives a jump out of the loop, so that its memory can be freed. */
    FleetState *state = arena_take(&job->scratch, sizeof *state);
    memset(state, 0, sizeof *state);
    Job one = {.interrupted = job->interrupted, .context = job->context};
    state->widths.lengths.escape = &one.escape;
    if (all->n_thresholds)
        state->rank =
            arena_take(&job->scratch, (size_t)all->n_thresholds * sizeof *state->rank);
    one.scratch.escape = &one.escape;
    const int status = setjmp(one.escape);
    if (!status)
        for (Index i = 0; i < all->n_series; i++) {
            const Index from = all->starts[i], n = all->starts[i + 1] - from;
            evaluate_series(&one, all, state, all->labels + from, all->scores + from, n, i);
            arena_reset(&one.scratch);
            arena_reset(&state->geometry.memory);
            arena_reset(&state->ranking.memory);
            ask(&one, 4 * n);
        }
    fleet_free(state);
    arena_free(&one.scratch);
    if (status)
        longjmp(job->escape, status);
}
