/* See whatif_apart.h. */
#include "whatif/whatif_apart.h"

#include <string.h>

enum { LINE = 64, WORD = 8 };
#define ELSEWHERE UINT64_C(0x600000000000) /* nothing of a program in QEMU lies there */
#define ROOM (UINT64_C(1) << 36)           /* for each variable */

void as_moved_take(void *context, const struct as_transfer *transfer)
{
    struct as_moved *moved = context;
    uint64_t address = transfer->line + transfer->offset, *place = as_map_put(&moved->index, address);
    if (!*place) {
        *as_vec_push(&moved->addresses) = (struct as_moved_address){.address = address, .insn = transfer->to_insn};
        *place = moved->addresses.len;
    }
    struct as_moved_address *found = &moved->addresses.data[*place - 1];
    found->cycles += transfer->cycles;
    found->false_cycles += transfer->overlaps ? 0 : transfer->cycles;
}

void as_moved_free(struct as_moved *moved)
{
    as_vec_free(&moved->addresses);
    as_map_free(&moved->index);
}

/* The variable at a place, and the space that it is in. */
static struct as_space *variable_at(const struct as_model *model, const struct as_moved_address *place,
                                    struct as_variable *variable)
{
    const struct as_engine *engine = as_model_engine(model);
    if (!as_engine_insn(engine, place->insn))
        return NULL;
    struct as_space *space = as_engine_image(engine, as_engine_insn_image(engine, place->insn))->space;
    return as_space_variable(space, place->address, variable) && variable->is_object ? space : NULL;
}

bool as_apart_find(const struct as_moved *moved, const struct as_model *model, const char *name, uint32_t number,
                   struct as_apart *apart)
{
    for (size_t i = 0; i < moved->addresses.len; i++) {
        struct as_variable variable;
        struct as_space *space = variable_at(model, &moved->addresses.data[i], &variable);
        if (!space || strcmp(variable.name, name) != 0 || !variable.size)
            continue;
        uint64_t element = as_space_element(space, variable.start);
        *apart = (struct as_apart){.start = variable.start,
                                   .size = variable.size,
                                   .part = element ? element : WORD,
                                   .to = ELSEWHERE + number * ROOM};
        return true;
    }
    return false;
}

struct sum {
    char *name;
    uint64_t cycles;
};

char *as_apart_worst(const struct as_moved *moved, const struct as_model *model, uint64_t least)
{
    AS_VEC(struct sum) sums = {0};
    char *worst = NULL;
    for (size_t i = 0; i < moved->addresses.len; i++) {
        struct as_variable variable;
        size_t at = 0;
        if (!variable_at(model, &moved->addresses.data[i], &variable))
            continue;
        while (at < sums.len && strcmp(sums.data[at].name, variable.name) != 0)
            at++;
        if (at == sums.len)
            *as_vec_push(&sums) = (struct sum){.name = as_strdup(variable.name)};
        sums.data[at].cycles += moved->addresses.data[i].false_cycles;
    }
    for (size_t i = 0; i < sums.len; i++)
        if (sums.data[i].cycles > least) {
            least = sums.data[i].cycles;
            worst = sums.data[i].name;
        }
    worst = worst ? as_strdup(worst) : NULL;
    for (size_t i = 0; i < sums.len; i++)
        free(sums.data[i].name);
    as_vec_free(&sums);
    return worst;
}

uint64_t as_apart_move(const struct as_apart *apart, uint64_t address)
{
    uint64_t offset = address - apart->start;
    if (offset >= apart->size)
        return address;
    uint64_t lines = (apart->part + LINE - 1) / LINE * LINE;
    return apart->to + offset / apart->part * lines + offset % apart->part;
}
