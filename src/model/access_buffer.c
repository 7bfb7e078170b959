/* See access_buffer.h. */
#include "model/access_buffer.h"

/* ---- from words to accesses ---- */

static size_t make_made(const uint64_t *words, size_t n, struct as_data_access *to)
{
    memcpy(to, words, n * sizeof *words);
    return n / 2;
}

/* Makes pieces from `first` to before `end`; the words of the first are at `*word`. */
static size_t make_pieces(struct as_access_buffer *buffer, size_t first, size_t end, size_t *word, size_t n)
{
    for (size_t i = first; i < end; i++) {
        const struct as_access_piece *piece = &buffer->pieces[i];
        const uint64_t *words = buffer->words + *word;
        n += piece->blocks  ? as_access_words_make_all(piece->blocks, words, piece->n, buffer->accesses + n)
             : piece->codes ? as_access_words_make(piece->codes, words, piece->n, buffer->accesses + n)
                            : make_made(words, piece->n, buffer->accesses + n);
        *word += piece->n;
    }
    return n;
}

/* Leaves out turns without accesses. */
static void make_accesses(struct as_access_buffer *buffer)
{
    size_t word = 0, n = 0, turns = 0;
    for (size_t i = 0; i < buffer->turns.len; i++) {
        struct as_access_turn turn = buffer->turns.data[i];
        size_t end = i + 1 < buffer->turns.len ? buffer->turn_pieces.data[i + 1] : buffer->n_pieces;
        turn.first = (uint32_t)n;
        n = make_pieces(buffer, buffer->turn_pieces.data[i], end, &word, n);
        turn.end = (uint32_t)n;
        if (turn.end == turn.first)
            continue;
        buffer->times.data[turns] = buffer->times.data[i];
        buffer->turns.data[turns++] = turn;
    }
    buffer->batch.n = n;
    buffer->batch.n_turns = turns;
}

/* ---- the kind ---- */

static struct as_buffer *make(size_t records)
{
    struct as_access_buffer *buffer = as_alloc(sizeof *buffer);
    buffer->words = as_alloc_array(records, sizeof *buffer->words);
    buffer->pieces = as_alloc_array(records, sizeof *buffer->pieces);
    buffer->accesses = as_alloc_array(records, sizeof *buffer->accesses);
    pthread_mutex_init(&buffer->mutex, NULL);
    return (struct as_buffer *)buffer;
}

static void deliver(struct as_buffer *base, const struct as_observer *ops, void *self)
{
    struct as_access_buffer *buffer = (struct as_access_buffer *)base;
    if (!ops->accesses)
        return;
    pthread_mutex_lock(&buffer->mutex);
    if (!buffer->made)
        make_accesses(buffer);
    buffer->made = true;
    pthread_mutex_unlock(&buffer->mutex);
    if (buffer->batch.n)
        ops->accesses(self, &buffer->batch);
}

static void release(struct as_buffer *base)
{
    struct as_access_buffer *buffer = (struct as_access_buffer *)base;
    pthread_mutex_destroy(&buffer->mutex);
    as_vec_free(&buffer->turns);
    as_vec_free(&buffer->times);
    as_vec_free(&buffer->ended);
    as_vec_free(&buffer->turn_pieces);
    free(buffer->words);
    free(buffer->pieces);
    free(buffer->accesses);
    free(buffer);
}

const struct as_buffer_kind as_access_buffers = {.make = make, .deliver = deliver, .free = release};

struct as_access_buffer *as_access_buffer_take(struct as_fanout *fanout)
{
    struct as_access_buffer *buffer = (struct as_access_buffer *)as_fanout_take(fanout);
    as_vec_clear(&buffer->turns);
    as_vec_clear(&buffer->times);
    as_vec_clear(&buffer->ended);
    as_vec_clear(&buffer->turn_pieces);
    buffer->n_words = buffer->n_pieces = 0;
    buffer->made = false;
    return buffer;
}

void as_access_buffer_publish(struct as_fanout *fanout, struct as_access_buffer *buffer)
{
    if (buffer->n_words == 0) {
        as_fanout_give_back(fanout, (struct as_buffer *)buffer);
        return;
    }
    buffer->batch = (struct as_access_batch){.size = sizeof buffer->batch,
                                             .number = as_fanout_published(fanout),
                                             .accesses = buffer->accesses,
                                             .turns = buffer->turns.data,
                                             .times = buffer->times.data,
                                             .n_ended = buffer->ended.len,
                                             .ended = buffer->ended.data};
    as_fanout_publish(fanout, (struct as_buffer *)buffer);
}

void as_access_buffer_begin_turn(struct as_access_buffer *buffer, const struct as_thread *thread, uint64_t executed,
                                 uint64_t clock)
{
    *as_vec_push(&buffer->turns) =
        (struct as_access_turn){.thread = thread->number, .process = thread->process, .executed = executed};
    *as_vec_push(&buffer->times) =
        (struct as_access_time){.clock = clock, .end = clock, .image = thread->image ? thread->image->number : 0};
    *as_vec_push(&buffer->turn_pieces) = buffer->n_pieces;
}

void as_access_buffer_end_turn(struct as_access_buffer *buffer, uint64_t clock)
{
    buffer->times.data[buffer->times.len - 1].end = clock;
}

void as_access_buffer_add_words(struct as_access_buffer *buffer, const struct as_exec_words *words)
{
    memcpy(buffer->words + buffer->n_words, words->words, words->n * sizeof *words->words);
    buffer->pieces[buffer->n_pieces++] = (struct as_access_piece){.blocks = words->blocks, .n = (uint32_t)words->n};
    buffer->n_words += words->n;
}

void as_access_buffer_add_made(struct as_access_buffer *buffer, const struct as_data_access *access)
{
    uint64_t words[2];
    _Static_assert(sizeof words == sizeof *access, "an access is two words");
    memcpy(words, access, sizeof words);
    as_access_buffer_add(buffer, NULL, words, 2);
}
