/* All kernels, compiled once for each instruction set: SET is base, v3 or v4.
 *
 * Plain loops over contiguous arrays, which the compiler turns into vector instructions. Every set
 * gives the same bits: there are no sums across lanes, and products are never fused with sums.
 */

#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry.c"

#include "buckets.c"

#include "existence.c"
#include "ranking.c"

#include "sweep.c"

#include "fleet.c"

#define JOIN(name, set) name##set
#define NAMED(name, set) JOIN(name, set)
#define TEXT(set) #set
#define NAME_OF(set) TEXT(set)

const Kernels NAMED(kernels_, SET) = {
    .name = NAME_OF(SET),
    .make_widths = make_widths,
    .make_geometry = make_geometry,
    .rank = rank,
    .sweep = sweep,
    .curve_areas = curve_areas,
    .mean = mean,
    .fleet = fleet,
};
