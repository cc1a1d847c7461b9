/* Buckets: a monotone map from scores to small integers, and a sort that uses it.
 *
 * Bucket 0 holds the highest scores. A higher bucket never holds a higher score, so scores in
 * different buckets need no comparison. An uneven distribution costs time but never gives a wrong
 * order.
 */

enum { CHUNK = 2048, SAMPLE = 32, WORTH_A_SAMPLE = 4096 };

/* Return `count` scores as doubles; `copy` is used if they are stored in another form. */
static const double *load(const Scores *scores, Index from, Index count, double *copy)
{
    if (!scores->single)
        return (const double *)scores->data + from;
    const float *single = (const float *)scores->data + from;
    for (Index i = 0; i < count; i++)
        copy[i] = single[i];
    return copy;
}

static double score_at(const Scores *scores, Index i)
{
    double copy;
    return *load(scores, i, 1, &copy);
}

static Scores in_memory(const double *score, Index n) { return (Scores){score, n, false}; }

typedef struct {
    bool skewed;
    double scale, last; /* last: number of the last bucket */
    double high;        /* linear: half of the highest score */
    double center, spread, high_key;
    int64_t spread_bits;
} Map;

static int64_t bits_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* For skewed scores: a number that grows linearly near the center and logarithmically beyond, read
 * from the bits of |score - center| + spread. Halves, because differences may overflow. */
static int32_t skewed_key(const Map *map, double score)
{
    const double offset = 0.5 * score - map->center;
    const int64_t bits = bits_of(fabs(offset) + map->spread) - map->spread_bits;
    const int32_t key = (int32_t)(bits >> 32);
    return offset < 0.0 ? -key : key;
}

static int by_value(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Choose a map for the scores from low to high. Scores are skewed if the middle half of a sample
 * covers less than a sixteenth of this range. */
static Map choose_map(const Scores *scores, double low, double high, Index n_buckets)
{
    Map map = {.last = (double)(n_buckets - 1), .high = 0.5 * high};
    if (scores->n >= WORTH_A_SAMPLE) {
        double sample[SAMPLE];
        for (int i = 0; i < SAMPLE; i++) {
            const double one = score_at(scores, i * (scores->n / SAMPLE));
            sample[i] = one < low ? low : one > high ? high : one;
        }
        qsort(sample, SAMPLE, sizeof *sample, by_value);
        const double range = 0.5 * high - 0.5 * low;
        const double middle = 0.5 * sample[3 * SAMPLE / 4] - 0.5 * sample[SAMPLE / 4];
        map.skewed = middle < range / 16;
        map.center = 0.5 * sample[SAMPLE / 2];
        map.spread = middle > range * 1e-9 ? middle : range * 1e-9;
    }
    double range = map.high - 0.5 * low;
    if (map.skewed) {
        map.spread_bits = bits_of(map.spread);
        map.high_key = skewed_key(&map, high);
        range = map.high_key - skewed_key(&map, low);
    }
    map.scale = map.last / range;
    if (!(map.scale < INFINITY))
        map.scale = 0.0; /* all in one bucket */
    return map;
}

/* Write the bucket of each score; scores beyond the range fall into the first or last one. */
static void place(const Map *map, const double *restrict score, Index n, int32_t *restrict bucket)
{
    const double scale = map->scale, last = map->last;
    if (map->skewed) {
        const Map copy = *map;
        for (Index i = 0; i < n; i++) {
            const double at = (copy.high_key - (double)skewed_key(&copy, score[i])) * scale;
            const double positive = at > 0.0 ? at : 0.0;
            bucket[i] = (int32_t)(positive < last ? positive : last);
        }
    } else {
        const double high = map->high;
        for (Index i = 0; i < n; i++) {
            const double at = (high - 0.5 * score[i]) * scale;
            const double positive = at > 0.0 ? at : 0.0;
            bucket[i] = (int32_t)(positive < last ? positive : last);
        }
    }
}

/* Ask from time to time whether the user pressed Ctrl-C. */
static void ask(Job *job, Index work)
{
    job->work += work;
    if (job->work < 1 << 26)
        return;
    job->work = 0;
    if (job->interrupted(job->context))
        longjmp(job->escape, INTERRUPTED);
}

/* --- sorting ----------------------------------------------------------------------------------- */

/* A score with the place of its point, which avoids looking it up in random order later. */
typedef struct {
    double score;
    Place place;
} Item;

enum { CROWDED = 16, MOST_SORT_BUCKETS = 1 << 22 };

/* Sort a crowded bucket from high to low; equal scores keep their order. */
static void merge_sort(Item *item, Item *spare, Index n)
{
    bool is_sorted = true;
    for (Index i = 1; i < n; i++)
        is_sorted &= item[i - 1].score >= item[i].score;
    if (is_sorted)
        return;
    const Index half = n / 2;
    if (half > 1)
        merge_sort(item, spare, half);
    if (n - half > 1)
        merge_sort(item + half, spare, n - half);
    memcpy(spare, item, (size_t)half * sizeof *item);
    Index left = 0, right = half, at = 0;
    while (left < half && right < n)
        item[at++] = item[right].score > spare[left].score ? item[right++] : spare[left++];
    while (left < half)
        item[at++] = spare[left++];
}

/* Sort scores from high to low; equal scores keep their order. Scores below `lowest` are left out;
 * returns the number of the others. */
static Index sort_descending(
    Arena *memory, const double *score, const Place *place_of, Index n, double lowest, double high,
    Item **sorted)
{
    const Index wanted = n < MOST_SORT_BUCKETS ? n + 1 : MOST_SORT_BUCKETS;
    const Scores all = in_memory(score, n);
    const Map map = choose_map(&all, lowest, high, wanted);
    const int32_t left_out = (int32_t)wanted;
    int32_t *bucket = arena_take(memory, (size_t)n * sizeof *bucket);
    uint32_t *end = arena_take(memory, (size_t)(wanted + 2) * sizeof *end);
    memset(end, 0, (size_t)(wanted + 2) * sizeof *end);
    place(&map, score, n, bucket);
    for (Index i = 0; i < n; i++) {
        bucket[i] = score[i] < lowest ? left_out : bucket[i];
        end[bucket[i] + 1]++;
    }
    uint32_t most = 0;
    for (Index b = 0; b < wanted; b++)
        most = end[b + 1] > most ? end[b + 1] : most;
    for (Index b = 0; b <= wanted; b++)
        end[b + 1] += end[b];
    const Index kept = end[wanted];
    Item *item = arena_take(memory, (size_t)n * sizeof *item);
    for (Index i = 0; i < n; i++) {
        const Item one = {score[i], place_of[i]};
        item[end[bucket[i]]++] = one; /* from the first place of the bucket to its end */
    }
    if (most > CROWDED) {
        Item *spare = arena_take(memory, (size_t)(most / 2 + 1) * sizeof *spare);
        for (Index b = 0, first = 0; b < wanted; first = end[b++])
            if (end[b] - first > CROWDED)
                merge_sort(item + first, spare, end[b] - first);
    }
    for (Index i = 1; i < kept; i++) { /* few items are out of place */
        const Item one = item[i];
        Index at = i;
        for (; at > 0 && one.score > item[at - 1].score; at--)
            item[at] = item[at - 1];
        item[at] = one;
    }
    *sorted = item;
    return kept;
}
