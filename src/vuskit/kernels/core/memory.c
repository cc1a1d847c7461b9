/* Memory that is freed as a whole. */

#include "core.h"

#include <stdlib.h>

enum { ALIGNMENT = 64, SMALLEST = 1 << 15 };

struct Chunk {
    Chunk *next;
    size_t size, used;
    char *data;
};

static size_t limit = SIZE_MAX; /* for tests of what happens without memory */

void set_memory_limit(size_t bytes) { limit = bytes; }

static Chunk *new_chunk(Arena *arena, size_t size)
{
    /* Later chunks are larger, so that few are needed. */
    if (size < SMALLEST)
        size = SMALLEST;
    if (arena->chunks && size < 2 * arena->chunks->size && arena->chunks->size < (1 << 20))
        size = 2 * arena->chunks->size;
    Chunk *chunk = size < limit ? malloc(sizeof(Chunk) + ALIGNMENT + size) : NULL;
    if (!chunk)
        longjmp(*arena->escape, OUT_OF_MEMORY);
    uintptr_t data = (uintptr_t)(chunk + 1);
    chunk->data = (char *)((data + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    chunk->size = size;
    chunk->used = 0;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

/* Return uninitialized memory, aligned to a cache line. */
void *arena_take(Arena *arena, size_t size)
{
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    Chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < size)
        chunk = new_chunk(arena, size);
    void *memory = chunk->data + chunk->used;
    chunk->used += size;
    return memory;
}

static void free_chunks(Chunk *chunk)
{
    while (chunk) {
        Chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void arena_free(Arena *arena)
{
    free_chunks(arena->chunks);
    arena->chunks = NULL;
}

/* Make the memory available again, and keep the newest chunk, which is usually the largest. */
void arena_reset(Arena *arena)
{
    if (arena->chunks) {
        free_chunks(arena->chunks->next);
        arena->chunks->next = NULL;
        arena->chunks->used = 0;
    }
}
