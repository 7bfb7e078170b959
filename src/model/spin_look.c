/* See spin_look.h. */
#include "model/spin_look.h"

#include "engine/access_words.h"

#include <string.h>

/* A load-reserved begins a change. Where no store-conditional follows, as in a compare-and-swap that fails again and again, others have
 * changed the word each time: the thread has seen something new. */
static bool only_looks(const struct as_block *block, uint64_t word)
{
    uint32_t index = as_access_index(word);
    return !(as_access_kind(word) & AS_ACCESS_STORE) && index < block->n &&
           !(block->insns[index]->flags & AS_INSN_ATOMIC);
}

static bool is_look(const struct as_block_exec *exec)
{
    const struct as_block *block = exec->block;
    bool may_be = block->deciders[0] >= 0 && exec->end - exec->first == block->n && !exec->continues &&
                  !block->n_hints && exec->n_words <= AS_SPIN_WORDS;
    for (size_t i = 0; may_be && i < exec->n_words; i++)
        may_be = only_looks(block, exec->words[i]);
    return may_be;
}

bool as_spin_look_is(const struct as_spin_look *look, const struct as_block_exec *exec)
{
    return look->block == exec->block && exec->end - exec->first == exec->block->n && look->n_words == exec->n_words &&
           memcmp(look->words, exec->words, exec->n_words * sizeof *exec->words) == 0;
}

void as_spin_look_note(struct as_spin_look *look, const struct as_block_exec *exec)
{
    look->block = is_look(exec) ? exec->block : NULL;
    look->n_words = look->block ? exec->n_words : 0;
    memcpy(look->words, exec->words, look->n_words * sizeof *exec->words);
}

struct as_block_exec as_spin_look_exec(const struct as_spin_look *look)
{
    return (struct as_block_exec){
        .block = look->block, .end = look->block->n, .words = look->words, .n_words = look->n_words};
}
