/* Ranking: from the scores of a series to counts at the levels of the points near events. */

/* --- counting the points far from events ------------------------------------------------------- */

/* Levels (distinct scores, descending) with their buckets. first[b] is the number of levels before
 * bucket b, so that bucket b holds the levels first[b], ..., first[b + 1] - 1. */
typedef struct {
    const double *level;
    Index size;
    Map map;
    Index n_buckets;
    int32_t *first;
} LevelIndex;

static LevelIndex index_levels(Arena *memory, const double *level, Index size, Map map)
{
    LevelIndex index = {.level = level, .size = size, .map = map};
    index.n_buckets = (Index)map.last + 1;
    const size_t each = sizeof *index.first;
    index.first = arena_take(memory, (size_t)(index.n_buckets + 2) * each);
    memset(index.first, 0, (size_t)(index.n_buckets + 2) * each);
    int32_t bucket[CHUNK];
    for (Index from = 0; from < size; from += CHUNK) {
        const Index count = smaller(size - from, CHUNK);
        place(&map, level + from, count, bucket);
        for (Index i = 0; i < count; i++)
            index.first[bucket[i] + 1]++;
    }
    for (Index b = 0; b <= index.n_buckets; b++)
        index.first[b + 1] += index.first[b];
    return index;
}

/* Return the first of the levels from, ..., to - 1 that is <= the score; `to` if none is. */
static Index first_not_above(const double *level, Index from, Index to, double score)
{
    while (to - from > 8) {
        const Index middle = (from + to) / 2;
        if (level[middle] <= score)
            to = middle;
        else
            from = middle + 1;
    }
    while (from < to && level[from] > score)
        from++;
    return from;
}

/* Count the far scores: at_least[k] of them are >= level k, and equal[k] are equal to it. All three
 * arrays have one more entry, for scores below all levels.
 *
 * One pass counts all scores by bucket. Only those that share a bucket with a level are compared,
 * first for equality. */
static void count_far_scores(
    Job *job, const Geometry *g, const Scores *scores, const LevelIndex *index, int64_t *at_least,
    int64_t *equal)
{
    Arena *memory = &job->scratch;
    const Index n_buckets = index->n_buckets, size = index->size;
    uint32_t *in_bucket = arena_take(memory, (size_t)n_buckets * sizeof *in_bucket);
    uint8_t *has_level = arena_take(memory, (size_t)n_buckets);
    memset(in_bucket, 0, (size_t)n_buckets * sizeof *in_bucket);
    memset(at_least, 0, (size_t)(size + 1) * sizeof *at_least);
    memset(equal, 0, (size_t)(size + 1) * sizeof *equal);
    for (Index b = 0; b < n_buckets; b++)
        has_level[b] = index->first[b] < index->first[b + 1];
    double copy[CHUNK];
    int32_t bucket[CHUNK], unsure[CHUNK];
    for (Index i = 0; i <= g->n_stretches; i++) {
        const Index begin = i ? g->stretch_stop[i - 1] : 0;
        const Index end = i < g->n_stretches ? g->stretch_start[i] : g->n;
        for (Index from = begin; from < end; from += CHUNK) {
            const Index count = smaller(end - from, CHUNK);
            const double *score = load(scores, from, count, copy);
            place(&index->map, score, count, bucket);
            Index n_unsure = 0;
            for (Index j = 0; j < count; j++) { /* without branches, which are hard to predict */
                in_bucket[bucket[j]]++;
                unsure[n_unsure] = (int32_t)j;
                n_unsure += has_level[bucket[j]];
            }
            for (Index j = 0; j < n_unsure; j++) {
                const double one = score[unsure[j]];
                const Index first = index->first[bucket[unsure[j]]];
                const Index last = index->first[bucket[unsure[j]] + 1];
                if (one == index->level[first]) { /* rounded scores: nearly always */
                    equal[first]++;
                    continue;
                }
                Index at = first + (one < index->level[first]); /* others: hard to predict */
                if ((at > first) & (at < last))
                    at = first_not_above(index->level, at, last, one);
                if (index->level[at] == one)
                    equal[at]++;
                else
                    at_least[at]++;
            }
            ask(job, count);
        }
    }
    for (Index b = 0; b < n_buckets; b++)
        if (!has_level[b])
            at_least[index->first[b]] += in_bucket[b];
    for (Index k = 0; k < size; k++)
        at_least[k] += equal[k] + (k ? at_least[k - 1] : 0);
}

/* --- terms: the near points of a level --------------------------------------------------------- */

typedef struct {
    const Geometry *g;
    Ranking *ranking;
    int64_t *count; /* by code; all zero between two levels */
    int64_t *tally; /* the same by second event */
    int32_t *codes; /* codes of the level's points */
} TermList;

static TermList term_list(Job *job, const Geometry *g, Ranking *ranking, Arena *memory)
{
    const size_t size = (size_t)n_codes(g->rules, g->reach);
    TermList list = {.g = g, .ranking = ranking};
    list.count = arena_take(&job->scratch, size * sizeof *list.count);
    memset(list.count, 0, size * sizeof *list.count);
    list.tally = arena_take(&job->scratch, (size_t)(g->reach + 2) * sizeof *list.tally);
    memset(list.tally, 0, (size_t)(g->reach + 2) * sizeof *list.tally);
    list.codes = arena_take(&job->scratch, size * sizeof *list.codes);
    ranking->terms = arena_take(memory, (size_t)(g->n_points - g->n_inside) * sizeof(Term));
    ranking->n_terms = 0;
    return list;
}

static int by_code(const void *a, const void *b)
{
    return (*(const int32_t *)a > *(const int32_t *)b) - (*(const int32_t *)a < *(const int32_t *)b);
}

/* Sort the distinct codes of a level: few by insertion, many with the standard library. */
static void sort_codes(int32_t *code, Index n)
{
    if (n > 32) {
        qsort(code, (size_t)n, sizeof *code, by_code);
        return;
    }
    for (Index i = 1; i < n; i++) {
        const int32_t one = code[i];
        Index at = i;
        for (; at > 0 && code[at - 1] > one; at--)
            code[at] = code[at - 1];
        code[at] = one;
    }
}

static int by_second(const void *a, const void *b)
{
    const int32_t one = ((const Term *)a)->second, other = ((const Term *)b)->second;
    return (one > other) - (one < other);
}

/* Sort points with the same code by second event: few by insertion, very many by counting. */
static void sort_by_second(TermList *list, Term *point, Index n)
{
    const Index reach = list->g->reach;
    if (n > 32 && n > reach / 8) {
        const int32_t code = point->code;
        for (Index i = 0; i < n; i++)
            list->tally[smaller(point[i].second, reach + 1)]++;
        for (Index second = 0; second <= reach + 1; second++) {
            const Term one = {code, second > reach ? NEVER : (int32_t)second, 1};
            for (; list->tally[second]; list->tally[second]--)
                *point++ = one;
        }
    } else if (n > 32) {
        qsort(point, (size_t)n, sizeof *point, by_second);
    } else {
        for (Index i = 1; i < n; i++) {
            const Term one = point[i];
            Index at = i;
            for (; at > 0 && point[at - 1].second > one.second; at--)
                point[at] = point[at - 1];
            point[at] = one;
        }
    }
}

/* Write the terms of points of which some are near two events; return the end of the terms. */
static Term *add_double_terms(
    TermList *list, Term *term, const Item *item, Index n, Index n_codes_here)
{
    Term *const point = term; /* first one term per point, by code */
    Index end = 0;
    for (Index i = 0; i < n_codes_here; i++) {
        const Index begin = end;
        end += list->count[list->codes[i]];
        list->count[list->codes[i]] = begin;
    }
    for (Index i = 0; i < n; i++)
        if (item[i].place.code)
            point[list->count[item[i].place.code]++] =
                (Term){item[i].place.code, item[i].place.second, 1};
    Index at = 0;
    for (Index i = 0; i < n_codes_here; i++) {
        const int32_t code = list->codes[i];
        end = list->count[code];
        list->count[code] = 0;
        sort_by_second(list, point + at, end - at);
        *term = point[at++];
        for (; at < end; at++)
            if (point[at].second == term->second)
                term->count++;
            else
                *++term = point[at];
        term++;
    }
    return term;
}

/* Append the terms of level k: its near points by ascending code and second event, equal ones
 * together. Sums of terms then depend neither on how the points were sorted nor on the reach.
 * Returns the number of anomalous points. */
static Index add_terms(TermList *list, Index k, const Item *item, Index n)
{
    Ranking *ranking = list->ranking;
    const Geometry *g = list->g;
    Index n_inside = 0, n_codes_here = 0;
    bool has_double = false;
    int32_t reached = NEVER;
    for (Index i = 0; i < n; i++) {
        const Place place = item[i].place;
        if (place.code == 0) {
            n_inside++;
            continue;
        }
        const int32_t from = reached_from(g->rules, g->reach, place.code);
        reached = from < reached ? from : reached;
        has_double |= place.second != NEVER;
        if (list->count[place.code]++ == 0)
            list->codes[n_codes_here++] = place.code;
    }
    if (n_codes_here > 1)
        sort_codes(list->codes, n_codes_here);
    ranking->first_term[k] = ranking->n_terms;
    ranking->reached[k] = reached;
    Term *term = ranking->terms + ranking->n_terms;
    if (has_double)
        term = add_double_terms(list, term, item, n, n_codes_here);
    for (Index i = 0; i < n_codes_here && !has_double; i++) {
        const int32_t code = list->codes[i];
        *term++ = (Term){code, NEVER, (int32_t)list->count[code]};
        list->count[code] = 0;
    }
    ranking->n_terms = term - ranking->terms;
    return n_inside;
}

static void take_levels(Ranking *ranking, Index most)
{
    Arena *memory = &ranking->memory;
    ranking->predicted = arena_take(memory, (size_t)most * sizeof(int64_t));
    ranking->before = arena_take(memory, (size_t)most * sizeof(int64_t));
    ranking->found = arena_take(memory, (size_t)most * sizeof(int64_t));
    ranking->first_term = arena_take(memory, (size_t)(most + 1) * sizeof(int64_t));
    ranking->reached = arena_take(memory, (size_t)most * sizeof(int32_t));
}

/* --- every distinct score as a threshold ------------------------------------------------------- */

/* Copy the scores of the points near events. */
static double *near_scores(Job *job, const Geometry *g, const Scores *scores)
{
    double *value = arena_take(&job->scratch, (size_t)g->n_points * sizeof *value);
    Index at = 0;
    for (Index i = 0; i < g->n_stretches; i++) {
        const Index from = g->stretch_start[i], count = g->stretch_stop[i] - from;
        const double *loaded = load(scores, from, count, value + at);
        if (loaded != value + at)
            memcpy(value + at, loaded, (size_t)count * sizeof *value);
        at += count;
    }
    return value;
}

/* Buckets for far scores: more of them cost memory traffic, fewer cost comparisons. */
static Index n_far_buckets(Index n_far, Index n_levels)
{
    const double best = sqrt(6.0 * (double)n_far * (double)n_levels);
    return best < 64 ? 64 : best > (1 << 20) ? 1 << 20 : (Index)best;
}

static const double *rank_exactly(
    Job *job, Ranking *ranking, const Geometry *g, const Scores *scores)
{
    const double *value = near_scores(job, g, scores);
    double lowest = INFINITY, high = -INFINITY;
    for (Index i = 0; i < g->n_points; i++) {
        /* If P' follows the prediction, everything is found at the lowest anomalous score. */
        const bool counts = g->rules.fixed || g->place[i].code == 0;
        lowest = counts && value[i] < lowest ? value[i] : lowest;
        high = value[i] > high ? value[i] : high;
    }
    Item *item;
    const Index n_items =
        sort_descending(&job->scratch, value, g->place, g->n_points, lowest, high, &item);

    double *level = arena_take(&job->scratch, (size_t)(n_items + 1) * sizeof *level);
    Index size = 0;
    for (Index i = 0; i < n_items; i++)
        if (i == 0 || item[i].score != item[i - 1].score)
            level[size++] = item[i].score;
    level[size] = -INFINITY;
    int64_t *at_least = arena_take(&job->scratch, (size_t)(size + 1) * sizeof *at_least);
    int64_t *equal = arena_take(&job->scratch, (size_t)(size + 1) * sizeof *equal);
    const Index n_far = g->n - g->n_points;
    const Map map =
        choose_map(scores, level[size - 1], level[0], n_far_buckets(n_far, size));
    const LevelIndex index = index_levels(&job->scratch, level, size, map);
    count_far_scores(job, g, scores, &index, at_least, equal);

    take_levels(ranking, size);
    TermList list = term_list(job, g, ranking, &ranking->memory);
    Index found = 0;
    for (Index i = 0, k = 0; k < size; k++) {
        Index end = i + 1;
        while (end < n_items && item[end].score == item[i].score)
            end++;
        ranking->before[k] = i + at_least[k] - equal[k];
        ranking->predicted[k] = end + at_least[k];
        found += add_terms(&list, k, item + i, end - i);
        ranking->found[k] = found;
        i = end;
    }
    ranking->size = size;
    ranking->first_term[size] = ranking->n_terms;
    return level;
}

/* --- thresholds at given ranks ----------------------------------------------------------------- */

/* Find the scores at ascending ranks (0 is the highest score) and the number of points >= each.
 *
 * Scores are counted by bucket. Only buckets that hold a rank are sorted. */
static void scores_at_ranks(
    Job *job, const Scores *scores, const int64_t *rank, Index n_ranks, double low, double high,
    double *threshold, int64_t *at_least)
{
    Arena *memory = &job->scratch;
    const Index n = scores->n;
    const Index n_buckets = larger(smaller(n / 2, 1 << 14), 64);
    double copy[CHUNK];
    int32_t bucket[CHUNK];
    const Map map = choose_map(scores, low, high, n_buckets);
    int64_t *end = arena_take(memory, (size_t)(n_buckets + 1) * sizeof *end);
    memset(end, 0, (size_t)(n_buckets + 1) * sizeof *end);
    for (Index from = 0; from < n; from += CHUNK) {
        const Index count = smaller(n - from, CHUNK);
        place(&map, load(scores, from, count, copy), count, bucket);
        for (Index i = 0; i < count; i++)
            end[bucket[i] + 1]++;
        ask(job, count);
    }
    for (Index b = 0; b < n_buckets; b++)
        end[b + 1] += end[b];

    /* Collect the scores of the buckets that hold a rank, one bucket after the other. */
    int64_t *slot = arena_take(memory, (size_t)n_buckets * sizeof *slot);
    int64_t *slot_start = arena_take(memory, (size_t)n_buckets * sizeof *slot_start);
    for (Index b = 0; b < n_buckets; b++)
        slot[b] = -1;
    Index n_wanted = 0;
    for (Index i = 0, b = 0; i < n_ranks; i++) {
        while (end[b + 1] <= rank[i])
            b++;
        if (slot[b] < 0) {
            slot[b] = slot_start[b] = n_wanted;
            n_wanted += end[b + 1] - end[b];
        }
    }
    double *wanted = arena_take(memory, (size_t)n_wanted * sizeof *wanted);
    for (Index from = 0; from < n; from += CHUNK) {
        const Index count = smaller(n - from, CHUNK);
        const double *score = load(scores, from, count, copy);
        place(&map, score, count, bucket);
        for (Index i = 0; i < count; i++)
            if (slot[bucket[i]] >= 0)
                wanted[slot[bucket[i]]++] = score[i];
        ask(job, count);
    }
    Place *no_place = arena_take(memory, (size_t)n_wanted * sizeof *no_place);
    memset(no_place, 0, (size_t)n_wanted * sizeof *no_place);
    Item *sorted;
    sort_descending(memory, wanted, no_place, n_wanted, low, high, &sorted);
    for (Index i = 0, b = 0; i < n_ranks; i++) {
        while (end[b + 1] <= rank[i])
            b++;
        Index at = slot_start[b] + rank[i] - end[b];
        threshold[i] = sorted[at].score;
        while (at + 1 < slot_start[b] + end[b + 1] - end[b] &&
               sorted[at + 1].score == threshold[i])
            at++;
        at_least[i] = end[b] + at + 1 - slot_start[b];
    }
}

static const double *rank_on_grid(
    Job *job, Ranking *ranking, const Geometry *g, const Scores *scores, const int64_t *rank,
    Index n_ranks)
{
    Arena *memory = &job->scratch;
    double low = INFINITY, high = -INFINITY;
    double copy[CHUNK];
    for (Index from = 0; from < g->n; from += CHUNK) {
        const Index count = smaller(g->n - from, CHUNK);
        const double *score = load(scores, from, count, copy);
        for (Index i = 0; i < count; i++) {
            low = score[i] < low ? score[i] : low;
            high = score[i] > high ? score[i] : high;
        }
    }
    double *level = arena_take(memory, (size_t)n_ranks * sizeof *level);
    int64_t *at_least = arena_take(memory, (size_t)n_ranks * sizeof *at_least);
    scores_at_ranks(job, scores, rank, n_ranks, low, high, level, at_least);
    Index size = 0;
    for (Index i = 0; i < n_ranks; i++)
        if (i == 0 || level[i] != level[size - 1]) {
            level[size] = level[i];
            at_least[size++] = at_least[i];
        }

    /* Order the near points by the first threshold that they reach. */
    const double *value = near_scores(job, g, scores);
    const Scores near = in_memory(value, g->n_points);
    const Map map = choose_map(&near, low, high, smaller(larger(16 * size, 64), 1 << 20));
    const LevelIndex index = index_levels(memory, level, size, map);
    int32_t *at = arena_take(memory, (size_t)g->n_points * sizeof *at);
    int64_t *end = arena_take(memory, (size_t)(size + 2) * sizeof *end);
    memset(end, 0, (size_t)(size + 2) * sizeof *end);
    int32_t bucket[CHUNK];
    for (Index from = 0; from < g->n_points; from += CHUNK) {
        const Index count = smaller(g->n_points - from, CHUNK);
        place(&map, value + from, count, bucket);
        for (Index i = 0; i < count; i++) {
            const Index first = index.first[bucket[i]];
            at[from + i] = (int32_t)first_not_above(
                level, first, index.first[bucket[i] + 1], value[from + i]);
            end[at[from + i] + 1]++;
        }
    }
    for (Index k = 0; k < size; k++)
        end[k + 1] += end[k];
    Item *item = arena_take(memory, (size_t)g->n_points * sizeof *item);
    for (Index i = 0; i < g->n_points; i++)
        item[end[at[i]]++] = (Item){value[i], g->place[i]};

    take_levels(ranking, size);
    TermList list = term_list(job, g, ranking, &ranking->memory);
    Index found = 0;
    for (Index k = 0; k < size; k++) {
        const Index from = k ? end[k - 1] : 0;
        found += add_terms(&list, k, item + from, end[k] - from);
        ranking->before[k] = k ? at_least[k - 1] : 0;
        ranking->predicted[k] = at_least[k];
        ranking->found[k] = found;
    }
    ranking->size = size;
    ranking->first_term[size] = ranking->n_terms;
    return level;
}

static void rank(
    Job *job, Ranking *ranking, const Geometry *g, const Scores *scores, const int64_t *ranks,
    Index n_ranks)
{
    ranking->memory.escape = &job->escape;
    ranking->rules = g->rules;
    ranking->n = g->n;
    ranking->n_inside = g->n_inside;
    ranking->reach = g->reach;
    const double *level = n_ranks ? rank_on_grid(job, ranking, g, scores, ranks, n_ranks)
                                  : rank_exactly(job, ranking, g, scores);
    find_peaks(job, ranking, g, scores, level);
}

/* AUC-ROC and AUC-PR, from the levels at which anomalous points are found. */
static void curve_areas(const Ranking *ranking, double *roc, double *pr)
{
    const double inside = (double)ranking->n_inside;
    double area = 0.0, precise = 0.0;
    int64_t found = 0;
    for (Index k = 0; k < ranking->size; k++) {
        const int64_t hits = ranking->found[k] - found;
        if (!hits)
            continue;
        const int64_t predicted = ranking->predicted[k];
        const int64_t wrong = predicted - ranking->found[k] + ranking->before[k] - found;
        area += (double)hits * (double)wrong;
        precise += (double)hits * ((double)ranking->found[k] / (double)predicted);
        found = ranking->found[k];
    }
    *roc = 1.0 - area / (2.0 * inside * (double)(ranking->n - ranking->n_inside));
    *pr = precise / inside < 1.0 ? precise / inside : 1.0;
}
