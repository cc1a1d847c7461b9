/* Data that the stages of the native core pass to each other.
 *
 *   labels -> Geometry            points near events, and their distances
 *   scores, Geometry -> Ranking   counts at every level, from the highest score down
 *   Ranking, Widths -> areas      R-AUC-ROC and R-AUC-PR of every buffer width
 *
 * A *level* is a threshold at which something near an event changes. All other points of a series
 * are only counted. Everything after `rank` works with these counts and never reads a score again.
 */

#ifndef VUSKIT_CORE_H
#define VUSKIT_CORE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t Index;

enum {
    LANE = 8,      /* widths that the processor handles together */
    BLOCK = 256,   /* widths swept together; their state fits into the first-level cache */
    NEVER = INT32_MAX,
};

/* Memory of one result or one call: freed as a whole. When memory runs out or the user interrupts,
 * `escape` leaves the computation at once with a nonzero status. */
typedef struct Chunk Chunk;
typedef struct {
    Chunk *chunks;
    jmp_buf *escape;
} Arena;

enum { OUT_OF_MEMORY = 1, INTERRUPTED = 2 };

/* A call: its temporary memory, and a function that asks whether the user pressed Ctrl-C. */
typedef struct {
    Arena scratch;
    jmp_buf escape;
    bool (*interrupted)(void *);
    void *context;
    Index work; /* steps since the last question */
} Job;

/* A definition of range-AUC with one or both sides of the events; see labels/definitions.py. */
typedef struct {
    bool linear;    /* slope of the ramps: linear, else square root */
    int shorter;    /* points by which the ramp after an event is shorter */
    bool larger;    /* soft label near two events: the larger one, else 1 */
    bool fixed;     /* P' is fixed, else follows the prediction */
    int events;     /* when buffered events are merged */
    bool trapezoid; /* area under PR: trapezoids, else steps */
    bool before, after;
} Rules;

enum { SHARE_A_POINT = 0, TOUCH = 1, APART = 2 };

/* Buffer widths (ascending), and the weight of a point at each distance and width. */
typedef struct {
    Arena memory;
    Rules rules;
    Index size;   /* number of widths */
    Index stride; /* the same in whole lanes */
    Index reach;  /* the longest half-length, at most the length of the series */
    int64_t *half;
    double *length;
    int32_t *first; /* first width whose half is at least 0, 1, ..., reach */
    double *table;  /* weights by (code, width); NULL if too large */
} Widths;

/* How far a point is from events. The code is 0 inside an event, d at distance d, and reach + d at
 * distance d on a side whose ramp is shorter. From half-length `second` on, a second event counts;
 * NEVER if none does. */
typedef struct {
    int32_t code, second;
} Place;

/* Points within reach of an event. */
typedef struct {
    Arena memory;
    Rules rules;
    Index n, n_events, n_inside, reach;
    int64_t *start, *stop;
    int32_t *joined; /* half-length from which an event and the next are one */
    Index n_stretches;
    int64_t *stretch_start, *stretch_stop; /* runs of points within reach */
    Index n_points;
    Place *place; /* of each of these points, by position */
} Geometry;

/* Points of one level with the same weights. */
typedef struct {
    int32_t code, second, count;
} Term;

/* The highest score of a buffered event, for the half-lengths from, ..., to - 1. */
typedef struct {
    double score;
    int32_t from, to;
    Index level;
} Peak;

/* Counts at every level, from the highest score down. */
typedef struct {
    Arena memory;
    Rules rules;
    Index n, n_inside, reach;
    Index size;          /* number of levels */
    int64_t *predicted;  /* points at or above the level */
    int64_t *before;     /* points at or above the preceding threshold */
    int64_t *found;      /* anomalous points at or above the level */
    int64_t *first_term; /* terms of level k: first_term[k], ..., first_term[k + 1] - 1 */
    int32_t *reached;    /* smallest half-length at which the level matters outside events */
    Term *terms;
    Index n_terms;
    Peak *peaks; /* by level */
    Index n_peaks, most_peaks;
} Ranking;

typedef struct {
    const void *data;
    Index n;
    bool single; /* float32, else float64 */
} Scores;

/* Many series one after the other; series i is starts[i], ..., starts[i + 1] - 1. */
typedef struct {
    Rules rules;
    const uint8_t *labels; /* 0 and 1, both of them in every series */
    const double *scores;
    const int64_t *starts;
    const int64_t *buffer;  /* of R-AUC, for each series */
    const int64_t *longest; /* of VUS; -1 computes no volume */
    Index n_series, step;
    Index n_thresholds; /* 0: every distinct score */
    double *out; /* AUC-ROC, AUC-PR, R-AUC-ROC, R-AUC-PR, VUS-ROC, VUS-PR of each series; NaN if
                  * its labels are not 0 and 1, both of them */
} Fleet;

enum { FLEET_VALUES = 6 };

/* One copy of these functions exists for each instruction set. */
typedef struct {
    const char *name;
    void (*make_widths)(Job *, Widths *, Rules, const int64_t *, Index size, Index reach);
    void (*make_geometry)(
        Job *, Geometry *, Rules, const int64_t *start, const int64_t *stop, Index n_events,
        Index n, Index reach);
    void (*rank)(
        Job *, Ranking *, const Geometry *, const Scores *, const int64_t *ranks, Index n_ranks);
    void (*sweep)(
        Job *, const Widths *, const Geometry *, const Ranking *, Index from, Index to, double *roc,
        double *pr);
    void (*curve_areas)(const Ranking *, double *roc, double *pr);
    double (*mean)(const double *, Index);
    void (*fleet)(Job *, const Fleet *);
} Kernels;

/* memory.c, compiled once */
void *arena_take(Arena *, size_t size);
void arena_free(Arena *);
void arena_reset(Arena *);
void set_memory_limit(size_t bytes);

#endif
