/* The Python module vuskit.kernels._core: arguments in, kernels without the interpreter lock, arrays
 * out. Arrays are exchanged through the buffer protocol, so one build fits every NumPy and, with the
 * stable ABI, every Python from 3.11 on. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "core.h"

#include <stdlib.h>
#include <string.h>

#include "memory.c"

/* --- instruction sets -------------------------------------------------------------------------- */

extern const Kernels kernels_base, kernels_v3, kernels_v4;

static const Kernels *available[3]; /* from the slowest to the fastest */
static int n_available;
static const Kernels *kernels;

static void find_instruction_sets(void)
{
    n_available = 0;
    available[n_available++] = &kernels_base;
#if defined(HAVE_V3) || defined(HAVE_V4)
    __builtin_cpu_init();
#endif
#ifdef HAVE_V3
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    if (v3)
        available[n_available++] = &kernels_v3;
#ifdef HAVE_V4
    if (v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        available[n_available++] = &kernels_v4;
#endif
#endif
    kernels = available[n_available - 1];
}

static PyObject *instruction_set(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    return PyUnicode_FromString(kernels->name);
}

static PyObject *instruction_sets(PyObject *self, PyObject *none)
{
    (void)self, (void)none;
    PyObject *names = PyList_New(0);
    for (int i = 0; names && i < n_available; i++) {
        PyObject *name = PyUnicode_FromString(available[i]->name);
        if (!name || PyList_Append(names, name) < 0)
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *use(PyObject *self, PyObject *args)
{
    (void)self;
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    for (int i = 0; i < n_available; i++)
        if (!strcmp(available[i]->name, name)) {
            PyObject *previous = PyUnicode_FromString(kernels->name);
            kernels = available[i];
            return previous;
        }
    PyErr_Format(PyExc_ValueError, "this processor has no instruction set %s", name);
    return NULL;
}

/* --- calls ------------------------------------------------------------------------------------- */

static bool interrupted(void *context)
{
    PyThreadState **state = context;
    PyEval_RestoreThread(*state);
    const bool stop = PyErr_CheckSignals() != 0;
    *state = PyEval_SaveThread();
    return stop;
}

/* Run a computation without the interpreter lock; return whether it finished. */
static bool run(void (*work)(Job *, void *), void *arguments)
{
    PyThreadState *state = PyEval_SaveThread();
    Job job = {.interrupted = interrupted, .context = &state};
    job.scratch.escape = &job.escape;
    const int status = setjmp(job.escape);
    if (!status)
        work(&job, arguments);
    arena_free(&job.scratch);
    PyEval_RestoreThread(state);
    if (status == OUT_OF_MEMORY)
        PyErr_NoMemory();
    return !status;
}

/* Results are capsules. Each kind begins with its memory. */
static const char WIDTHS[] = "vuskit.widths";
static const char GEOMETRY[] = "vuskit.geometry";
static const char RANKING[] = "vuskit.ranking";

static void *unpack(PyObject *capsule, const char *name) { return PyCapsule_GetPointer(capsule, name); }

static void free_result(void *result)
{
    arena_free(result);
    free(result);
}

static void free_capsule(PyObject *capsule) { free_result(unpack(capsule, PyCapsule_GetName(capsule))); }

/* Create a result, whose address is the first entry of the arguments, and compute it. */
static PyObject *compute(
    const char *name, size_t size, void (*work)(Job *, void *), void *arguments)
{
    void *result = calloc(1, size);
    if (!result)
        return PyErr_NoMemory();
    *(void **)arguments = result;
    PyObject *capsule =
        run(work, arguments) ? PyCapsule_New(result, name, free_capsule) : NULL;
    if (!capsule)
        free_result(result);
    return capsule;
}

/* Check that a buffer holds 64-bit numbers; return how many, or -1 with an exception. */
static Index numbers_in(const Py_buffer *buffer)
{
    if (buffer->len % 8 == 0)
        return buffer->len / 8;
    PyErr_SetString(PyExc_ValueError, "arrays must hold 64-bit numbers");
    return -1;
}

static Rules rules_of(const int *field)
{
    return (Rules){
        .linear = field[0], .shorter = field[1], .larger = field[2], .fixed = field[3],
        .events = field[4], .trapezoid = field[5], .before = field[6], .after = field[7]};
}

/* Parse the definition, a tuple of eight integers. */
static int parse_rules(PyObject *tuple, void *rules)
{
    static const int most[8] = {1, 1, 1, 1, APART, 1, 1, 1};
    int field[8];
    if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != 8) {
        PyErr_SetString(PyExc_TypeError, "a definition must be a tuple of eight integers");
        return 0;
    }
    for (int i = 0; i < 8; i++) {
        const long value = PyLong_AsLong(PyTuple_GetItem(tuple, i));
        if (value == -1 && PyErr_Occurred())
            return 0;
        if (value < 0 || value > most[i]) {
            PyErr_Format(PyExc_ValueError, "entry %d of a definition must be 0 to %d", i, most[i]);
            return 0;
        }
        field[i] = (int)value;
    }
    *(Rules *)rules = rules_of(field);
    return 1;
}

static bool is_reach(Py_ssize_t reach, Py_ssize_t n)
{
    if (reach >= 0 && reach < NEVER / 2 && n >= 0 && (uint64_t)n < UINT32_MAX)
        return true;
    PyErr_SetString(PyExc_OverflowError, "the native core takes at most 4 billion points");
    return false;
}

/* --- widths ------------------------------------------------------------------------------------ */

static bool are_ascending(const int64_t *number, Index size)
{
    bool ascending = size > 0 && number[0] >= 0;
    for (Index i = 1; i < size; i++)
        ascending &= number[i - 1] <= number[i];
    return ascending;
}

typedef struct {
    Widths *widths;
    Rules rules;
    const int64_t *length;
    Index size, reach;
} WidthsCall;

static void make_widths(Job *job, void *arguments)
{
    WidthsCall *call = arguments;
    kernels->make_widths(job, call->widths, call->rules, call->length, call->size, call->reach);
}

static PyObject *new_widths(PyObject *self, PyObject *args)
{
    (void)self;
    WidthsCall call = {0};
    Py_buffer length;
    Py_ssize_t reach;
    if (!PyArg_ParseTuple(args, "O&y*n", parse_rules, &call.rules, &length, &reach))
        return NULL;
    PyObject *capsule = NULL;
    call.length = length.buf;
    call.size = numbers_in(&length);
    call.reach = reach;
    if (are_ascending(call.length, call.size) && is_reach(reach, call.size))
        capsule = compute(WIDTHS, sizeof(Widths), make_widths, &call);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "there must be a width, and widths must be ascending");
    PyBuffer_Release(&length);
    return capsule;
}

/* --- geometry ---------------------------------------------------------------------------------- */

typedef struct {
    Geometry *geometry;
    Rules rules;
    const int64_t *start, *stop;
    Index n_events, n, reach;
} GeometryCall;

static void make_geometry(Job *job, void *arguments)
{
    GeometryCall *call = arguments;
    kernels->make_geometry(
        job, call->geometry, call->rules, call->start, call->stop, call->n_events, call->n,
        call->reach);
}

/* Whether events lie within the series, in order, with a point between two of them. */
static bool are_events(const int64_t *start, const int64_t *stop, Index n_events, Index n)
{
    bool valid = stop[n_events - 1] <= n;
    for (Index i = 0; i < n_events; i++)
        valid &= start[i] >= (i ? stop[i - 1] + 1 : 0) && stop[i] > start[i];
    return valid;
}

static PyObject *new_geometry(PyObject *self, PyObject *args)
{
    (void)self;
    GeometryCall call = {0};
    Py_buffer start, stop;
    Py_ssize_t n, reach;
    if (!PyArg_ParseTuple(args, "O&y*y*nn", parse_rules, &call.rules, &start, &stop, &n, &reach))
        return NULL;
    PyObject *capsule = NULL;
    call.start = start.buf;
    call.stop = stop.buf;
    call.n_events = numbers_in(&start);
    call.n = n;
    call.reach = reach;
    const bool valid = call.n_events > 0 && start.len == stop.len && is_reach(reach, n) &&
        are_events(call.start, call.stop, call.n_events, n);
    if (valid)
        capsule = compute(GEOMETRY, sizeof(Geometry), make_geometry, &call);
    else if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "events must lie within the series, one after the other");
    PyBuffer_Release(&start);
    PyBuffer_Release(&stop);
    return capsule;
}

/* --- ranking ----------------------------------------------------------------------------------- */

typedef struct {
    Ranking *ranking;
    const Geometry *geometry;
    Scores scores;
    const int64_t *ranks;
    Index n_ranks;
} RankCall;

static void rank(Job *job, void *arguments)
{
    RankCall *call = arguments;
    kernels->rank(job, call->ranking, call->geometry, &call->scores, call->ranks, call->n_ranks);
}

static PyObject *new_ranking(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *geometry;
    RankCall call = {0};
    Py_buffer scores, ranks;
    int single;
    if (!PyArg_ParseTuple(args, "Oy*py*", &geometry, &scores, &single, &ranks))
        return NULL;
    PyObject *capsule = NULL;
    call.geometry = unpack(geometry, GEOMETRY);
    call.scores = (Scores){scores.buf, scores.len / (single ? 4 : 8), single};
    call.ranks = ranks.buf;
    call.n_ranks = numbers_in(&ranks);
    if (!call.geometry || call.n_ranks < 0)
        ; /* there is an exception already */
    else if (call.scores.n != call.geometry->n)
        PyErr_SetString(PyExc_ValueError, "there must be one score per point");
    else if (call.n_ranks && (!are_ascending(call.ranks, call.n_ranks) ||
                              call.ranks[call.n_ranks - 1] != call.scores.n - 1))
        PyErr_SetString(PyExc_ValueError, "ranks must be ascending and end with the lowest score");
    else
        capsule = compute(RANKING, sizeof(Ranking), rank, &call);
    PyBuffer_Release(&scores);
    PyBuffer_Release(&ranks);
    return capsule;
}

/* Return predicted, before and found of every level as bytes of 64-bit integers. */
static PyObject *levels(PyObject *self, PyObject *capsule)
{
    (void)self;
    const Ranking *ranking = unpack(capsule, RANKING);
    if (!ranking)
        return NULL;
    const Py_ssize_t size = ranking->size * (Py_ssize_t)sizeof(int64_t);
    return Py_BuildValue(
        "(y#y#y#)", (char *)ranking->predicted, size, (char *)ranking->before, size,
        (char *)ranking->found, size);
}

static PyObject *curve_areas(PyObject *self, PyObject *capsule)
{
    (void)self;
    const Ranking *ranking = unpack(capsule, RANKING);
    double roc, pr;
    if (!ranking)
        return NULL;
    kernels->curve_areas(ranking, &roc, &pr);
    return Py_BuildValue("(dd)", roc, pr);
}

/* --- areas ------------------------------------------------------------------------------------- */

typedef struct {
    const Widths *widths;
    const Geometry *geometry;
    const Ranking *ranking;
    Index from, to;
    double *roc, *pr;
} SweepCall;

static void sweep(Job *job, void *arguments)
{
    SweepCall *call = arguments;
    kernels->sweep(
        job, call->widths, call->geometry, call->ranking, call->from, call->to, call->roc,
        call->pr);
}

static bool are_same(Rules one, Rules other)
{
    return one.linear == other.linear && one.shorter == other.shorter &&
        one.larger == other.larger && one.fixed == other.fixed && one.events == other.events &&
        one.trapezoid == other.trapezoid && one.before == other.before && one.after == other.after;
}

/* Write R-AUC-ROC and R-AUC-PR of the widths from, ..., to - 1 into two arrays. */
static PyObject *sweep_into(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *widths, *geometry, *ranking;
    Py_buffer roc, pr;
    Py_ssize_t from, to;
    if (!PyArg_ParseTuple(args, "OOOnnw*w*", &widths, &geometry, &ranking, &from, &to, &roc, &pr))
        return NULL;
    SweepCall call = {
        unpack(widths, WIDTHS), NULL, NULL, from, to, roc.buf, pr.buf};
    if (call.widths)
        call.geometry = unpack(geometry, GEOMETRY);
    if (call.geometry)
        call.ranking = unpack(ranking, RANKING);
    bool done = false;
    if (call.ranking) {
        const bool fits = from >= 0 && from < to && to <= call.widths->size &&
            roc.len == (to - from) * 8 && pr.len == roc.len &&
            call.widths->reach == call.geometry->reach &&
            call.ranking->reach == call.geometry->reach && call.ranking->n == call.geometry->n &&
            are_same(call.widths->rules, call.geometry->rules) &&
            are_same(call.ranking->rules, call.geometry->rules);
        if (fits)
            done = run(sweep, &call);
        else
            PyErr_SetString(PyExc_ValueError, "widths, labels, ranks and areas do not fit together");
    }
    PyBuffer_Release(&roc);
    PyBuffer_Release(&pr);
    return done ? Py_NewRef(Py_None) : NULL;
}

static PyObject *mean(PyObject *self, PyObject *args)
{
    (void)self;
    Py_buffer values;
    if (!PyArg_ParseTuple(args, "y*", &values))
        return NULL;
    const Index n = numbers_in(&values);
    const double found = n > 0 ? kernels->mean(values.buf, n) : 0.0;
    PyBuffer_Release(&values);
    if (n == 0)
        PyErr_SetString(PyExc_ValueError, "there must be an area");
    return n > 0 ? PyFloat_FromDouble(found) : NULL;
}

/* --- many series ------------------------------------------------------------------------------- */

static void run_fleet(Job *job, void *arguments) { kernels->fleet(job, arguments); }

static PyObject *fleet(PyObject *self, PyObject *args)
{
    (void)self;
    Fleet all = {0};
    Py_buffer labels, scores, starts, buffer, longest, out;
    Py_ssize_t step, n_thresholds;
    if (!PyArg_ParseTuple(
            args, "O&y*y*y*y*y*nnw*", parse_rules, &all.rules, &labels, &scores, &starts, &buffer,
            &longest, &step, &n_thresholds, &out))
        return NULL;
    all.labels = labels.buf;
    all.scores = scores.buf;
    all.starts = starts.buf;
    all.buffer = buffer.buf;
    all.longest = longest.buf;
    all.n_series = buffer.len / 8;
    all.step = step;
    all.n_thresholds = n_thresholds;
    all.out = out.buf;
    bool fits = starts.len == buffer.len + 8 && longest.len == buffer.len && step > 0 &&
        n_thresholds >= 0 && n_thresholds != 1 && n_thresholds < NEVER &&
        out.len == all.n_series * FLEET_VALUES * 8 && scores.len == labels.len * 8;
    for (Index i = 0; fits && i < all.n_series; i++)
        fits = all.starts[i] >= 0 && all.starts[i + 1] > all.starts[i] &&
            all.starts[i + 1] <= labels.len && all.buffer[i] >= 0 && all.buffer[i] < NEVER / 2 &&
            all.longest[i] < NEVER / 2 && all.starts[i + 1] - all.starts[i] < UINT32_MAX;
    bool done = false;
    if (fits)
        done = run(run_fleet, &all);
    else
        PyErr_SetString(PyExc_ValueError, "the arrays of the series do not fit together");
    PyBuffer_Release(&labels);
    PyBuffer_Release(&scores);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&buffer);
    PyBuffer_Release(&longest);
    PyBuffer_Release(&out);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* --- module ------------------------------------------------------------------------------------ */

/* Make larger requests fail, to test what happens without memory; 0 removes the limit. */
static PyObject *limit_memory(PyObject *self, PyObject *args)
{
    (void)self;
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(args, "n", &bytes))
        return NULL;
    set_memory_limit(bytes > 0 ? (size_t)bytes : SIZE_MAX);
    return Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"instruction_set", instruction_set, METH_NOARGS, "Name of the instruction set in use."},
    {"instruction_sets", instruction_sets, METH_NOARGS, "Names of the available sets."},
    {"use", use, METH_VARARGS, "use(name): select a set; return the previous name."},
    {"widths", new_widths, METH_VARARGS, "widths(rules, lengths, reach): weights by width."},
    {"geometry", new_geometry, METH_VARARGS,
     "geometry(rules, starts, stops, n, reach): points near events."},
    {"rank", new_ranking, METH_VARARGS,
     "rank(geometry, scores, single, ranks): counts at every level."},
    {"levels", levels, METH_O, "levels(ranking): predicted, before, found."},
    {"curve_areas", curve_areas, METH_O, "curve_areas(ranking): AUC-ROC and AUC-PR."},
    {"sweep", sweep_into, METH_VARARGS,
     "sweep(widths, geometry, ranking, from, to, roc, pr): write the areas."},
    {"mean", mean, METH_VARARGS, "mean(areas)."},
    {"fleet", fleet, METH_VARARGS,
     "fleet(rules, labels, scores, starts, buffer, longest, step, thresholds, out)."},
    {"limit_memory", limit_memory, METH_VARARGS, "limit_memory(bytes): for tests."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_core", "Native core; see core.h.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__core(void)
{
    find_instruction_sets();
    return PyModule_Create(&definition);
}
