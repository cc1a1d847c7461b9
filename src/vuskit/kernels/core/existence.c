/* Existence: which share of the buffered events holds a predicted point.
 *
 * A buffered event is found once the threshold falls to its highest score, its *peak*. As buffers
 * grow, the peak rises a few times only, so it is stored with the range of half-lengths for which
 * it holds.
 */

/* Buffered events while buffers grow; neighbors are merged. */
typedef struct {
    double peak;
    int64_t start, stop; /* of the first and the last event of the cluster */
    int64_t left, right; /* bounds of the gaps on both sides */
    int32_t since;       /* half-length from which the peak holds */
    int32_t joined;      /* half-length from which this cluster and the next are one */
} Cluster;

static double highest_score(const Scores *scores, Index from, Index to)
{
    double copy[CHUNK], high = -INFINITY;
    for (; from < to; from += CHUNK) {
        const Index count = smaller(to - from, CHUNK);
        const double *score = load(scores, from, count, copy);
        for (Index i = 0; i < count; i++)
            high = score[i] > high ? score[i] : high;
    }
    return high;
}

static void add_peak(Ranking *ranking, double score, int32_t from, int32_t to)
{
    if (from == to)
        return;
    if (ranking->n_peaks == ranking->most_peaks) {
        Peak *more = arena_take(&ranking->memory, (size_t)ranking->most_peaks * 2 * sizeof *more);
        memcpy(more, ranking->peaks, (size_t)ranking->n_peaks * sizeof *more);
        ranking->peaks = more;
        ranking->most_peaks *= 2;
    }
    ranking->peaks[ranking->n_peaks++] = (Peak){score, from, to, 0};
}

static void raise_peak(Ranking *ranking, Cluster *cluster, double score, int32_t half)
{
    if (score > cluster->peak) {
        add_peak(ranking, cluster->peak, cluster->since, half);
        cluster->peak = score;
        cluster->since = half;
    }
}

/* Merge neighbors whose buffers meet at this half-length; return the number that remain. */
static Index merge_clusters(Ranking *ranking, Cluster *cluster, Index n, int32_t half)
{
    Index kept = 0;
    for (Index i = 1; i < n; i++) {
        Cluster *last = cluster + kept;
        if (last->joined > half) {
            cluster[++kept] = cluster[i];
            continue;
        }
        add_peak(ranking, last->peak, last->since, half);
        add_peak(ranking, cluster[i].peak, cluster[i].since, half);
        last->peak = cluster[i].peak > last->peak ? cluster[i].peak : last->peak;
        last->since = half;
        last->stop = cluster[i].stop;
        last->right = cluster[i].right;
        last->joined = cluster[i].joined;
    }
    return kept + 1;
}

static void merged_peaks(Job *job, Ranking *ranking, const Geometry *g, const Scores *scores)
{
    Index n = g->n_events;
    Cluster *cluster = arena_take(&job->scratch, (size_t)n * sizeof *cluster);
    for (Index i = 0; i < n; i++)
        cluster[i] = (Cluster){
            .peak = highest_score(scores, g->start[i], g->stop[i]),
            .start = g->start[i],
            .stop = g->stop[i],
            .left = i ? g->stop[i - 1] : 0,
            .right = i + 1 < n ? g->start[i + 1] : g->n,
            .joined = g->joined[i],
        };
    for (int32_t half = 1; half <= g->reach; half++) {
        bool merges = false;
        for (Index i = 0; i < n; i++) {
            const Index before = cluster[i].start - half;
            const Index after = cluster[i].stop - 1 + half - g->rules.shorter;
            if (g->rules.before && before >= cluster[i].left)
                raise_peak(ranking, cluster + i, score_at(scores, before), half);
            if (g->rules.after && after >= cluster[i].stop && after < cluster[i].right)
                raise_peak(ranking, cluster + i, score_at(scores, after), half);
            merges |= cluster[i].joined <= half;
        }
        if (merges)
            n = merge_clusters(ranking, cluster, n, half);
        if (n == 1 && cluster->start - half < 0 && cluster->stop + half > g->n + g->rules.shorter)
            break; /* the buffer covers the series */
        ask(job, n);
    }
    for (Index i = 0; i < n; i++)
        add_peak(ranking, cluster[i].peak, cluster[i].since, NEVER);
}

/* If events stay apart, each sees all points within its buffer. The window is one point longer on
 * the right; this point counts only if the next event gives it a soft label. */
static void separate_peaks(Job *job, Ranking *ranking, const Geometry *g, const Scores *scores)
{
    for (Index i = 0; i < g->n_events; i++) {
        const Index next = i + 1 < g->n_events ? g->start[i + 1] : 2 * g->n + g->reach + 1;
        Cluster one = {.peak = highest_score(scores, g->start[i], g->stop[i])};
        for (int32_t half = 0; half <= g->reach; half++) {
            const Index before = g->start[i] - half;
            const Index reach_after = g->rules.after ? larger(half - g->rules.shorter, 0) : 0;
            const Index after = g->stop[i] - 1 + reach_after, beyond = after + 1;
            if (g->rules.before && half && before >= 0)
                raise_peak(ranking, &one, score_at(scores, before), half);
            if (reach_after && after < g->n)
                raise_peak(ranking, &one, score_at(scores, after), half);
            if (beyond < g->n && beyond >= next - (g->rules.before ? half : 0))
                raise_peak(ranking, &one, score_at(scores, beyond), half);
        }
        add_peak(ranking, one.peak, one.since, NEVER);
        ask(job, g->reach);
    }
}

/* Find the peaks of all buffered events, ordered by the level that finds them. */
static void find_peaks(
    Job *job, Ranking *ranking, const Geometry *g, const Scores *scores, const double *level)
{
    ranking->n_peaks = 0;
    ranking->most_peaks = larger(4 * g->n_events, 64);
    ranking->peaks =
        arena_take(&ranking->memory, (size_t)ranking->most_peaks * sizeof *ranking->peaks);
    if (g->rules.events == APART)
        separate_peaks(job, ranking, g, scores);
    else
        merged_peaks(job, ranking, g, scores);

    const Index n = ranking->n_peaks;
    double *score = arena_take(&job->scratch, (size_t)n * sizeof *score);
    Place *number = arena_take(&job->scratch, (size_t)n * sizeof *number);
    double low = INFINITY, high = -INFINITY;
    for (Index i = 0; i < n; i++) {
        number[i].code = (int32_t)i;
        score[i] = ranking->peaks[i].score;
        low = score[i] < low ? score[i] : low;
        high = score[i] > high ? score[i] : high;
    }
    Item *item;
    sort_descending(&job->scratch, score, number, n, low, high, &item);
    Peak *sorted = arena_take(&ranking->memory, (size_t)n * sizeof *sorted);
    for (Index i = 0, k = 0; i < n; i++) {
        while (k < ranking->size && level[k] > item[i].score)
            k++;
        sorted[i] = ranking->peaks[item[i].place.code];
        sorted[i].level = k;
    }
    ranking->peaks = sorted;
}
