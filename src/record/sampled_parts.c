/* See sampled_parts.h. */
#include "record/sampled_parts.h"

#include "base/search.h"
#include "record/sampled_scale.h"

#include <math.h>

/* ---- lists ---- */

double *as_group_parts_at(struct as_group_parts *parts, uint32_t id, uint32_t key)
{
    uint64_t *at = as_map_put(&parts->index, (uint64_t)id << 32 | key);
    if (*at == 0) {
        *as_vec_push(&parts->list) = (struct as_group_part){.id = id, .key = key};
        *at = parts->list.len;
    }
    return parts->list.data[*at - 1].units;
}

const double *as_group_parts_find(const struct as_group_parts *parts, uint32_t id, uint32_t key)
{
    const uint64_t *at = as_map_get(&parts->index, (uint64_t)id << 32 | key);
    return at ? parts->list.data[*at - 1].units : NULL;
}

static int by_key(const void *a, const void *b)
{
    const struct as_group_part *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

void as_group_parts_sort(struct as_group_parts *parts)
{
    as_map_free(&parts->index);
    if (parts->list.len)
        qsort(parts->list.data, parts->list.len, sizeof *parts->list.data, by_key);
}

const struct as_group_part *as_group_parts_of(const struct as_group_parts *parts, uint32_t id, size_t *n)
{
    size_t first = as_search(0, parts->list.len, i, parts->list.data[i].id < id), end = first;
    while (end < parts->list.len && parts->list.data[end].id == id)
        end++;
    *n = end - first;
    return parts->list.data + first;
}

void as_group_parts_join(struct as_group_parts *to, const struct as_group_parts *from)
{
    for (size_t i = 0; i < from->list.len; i++) {
        const struct as_group_part *part = &from->list.data[i];
        double *units = as_group_parts_at(to, part->id, part->key);
        for (int group = 0; group < AS_SAMPLED_GROUPS; group++)
            units[group] += part->units[group];
    }
}

void as_group_parts_free(struct as_group_parts *parts)
{
    as_map_free(&parts->index);
    as_vec_free(&parts->list);
}

/* ---- of a stratum ---- */

static void make_counters(struct as_stratum_parts *parts)
{
    while (parts->counters.len < (size_t)AS_SAMPLED_GROUPS * AS_SAMPLED_COUNTERS)
        *as_vec_push(&parts->counters) = 0;
}

void as_stratum_parts_count(struct as_stratum_parts *parts, uint32_t group, const struct as_counters *counters,
                            double factor)
{
    make_counters(parts);
    for (size_t i = 0; i < as_counter_count; i++)
        parts->counters.data[group * AS_SAMPLED_COUNTERS + i] +=
            factor * (double)as_counter_value(counters, &as_counter_table[i]);
}

double as_stratum_parts_counter(const struct as_stratum_parts *parts, uint32_t group, size_t counter)
{
    return parts->counters.len ? parts->counters.data[group * AS_SAMPLED_COUNTERS + counter] : 0;
}

void as_stratum_parts_join(struct as_stratum_parts *to, const struct as_stratum_parts *from)
{
    as_group_parts_join(&to->events, &from->events);
    as_group_parts_join(&to->states, &from->states);
    as_group_parts_join(&to->paths, &from->paths);
    make_counters(to);
    for (size_t i = 0; i < from->counters.len; i++)
        to->counters.data[i] += from->counters.data[i];
}

void as_stratum_parts_free(struct as_stratum_parts *parts)
{
    as_group_parts_free(&parts->events);
    as_group_parts_free(&parts->states);
    as_group_parts_free(&parts->paths);
    as_vec_free(&parts->counters);
}

/* ---- a region ---- */

static void note_all(struct as_map *seen, struct as_pics pics)
{
    for (size_t i = 0; i < pics.len; i++)
        if (pics.data[i].events)
            *as_map_put(seen, as_pics_key(&pics.data[i])) = pics.data[i].units;
    as_pics_free(&pics);
}

static void take_noted(struct as_group_parts *parts, struct as_map *seen, uint32_t group, struct as_pics noted)
{
    for (size_t i = 0; i < noted.len; i++) {
        uint64_t *before = as_map_put(seen, as_pics_key(&noted.data[i]));
        if (noted.data[i].units != *before)
            as_group_parts_at(parts, noted.data[i].id, noted.data[i].events)[group] +=
                (double)(noted.data[i].units - *before);
        *before = noted.data[i].units;
    }
    as_pics_free(&noted);
}

void as_sampled_take_parts(struct as_sampled *sampled, uint32_t group)
{
    struct as_oracle *oracle = sampled->modelled->oracle;
    struct as_stratum_parts *parts = &sampled->open.parts;
    if (sampled->open.full) {
        note_all(&sampled->seen_parts, as_oracle_pics(oracle));
        note_all(&sampled->seen_path_parts, as_oracle_path_pics(oracle));
        as_oracle_note_parts(oracle);
        return;
    }
    take_noted(&parts->events, &sampled->seen_parts, group, as_oracle_noted_parts(oracle, false));
    take_noted(&parts->paths, &sampled->seen_path_parts, group, as_oracle_noted_parts(oracle, true));
}

/* ---- a stratum in the estimate: components ---- */

/* Units of a component in the regions without a group, and times what its reads of DRAM are multiplied by. */
static double left_of(const struct as_scale *scale, const struct as_pics_entry *entry, const double *group)
{
    double left = fmax((double)entry->units - (group ? group[scale->group] : 0), 0);
    return as_scale_waits(entry) ? left * scale->reads_ratio : left;
}

/* A component in the regions without a group. */
struct part {
    const struct as_pics_entry *entry;
    const double *group; /* NULL: no group has any */
};
enum { PARTS_MAX = 256 }; /* combinations of events of one instruction; further ones are left out */

/* Units without events: what is left of the instruction's. */
static double plain_of(const struct as_scale *scale, const struct part *parts, size_t n)
{
    uint32_t id = parts->entry->id;
    double all = as_sampled_units(&scale->stratum->costs.data[id]);
    double plain = all - as_sampled_at(&scale->stratum->groups[scale->group].units, id);
    for (size_t i = 0; i < n; i++)
        plain -= fmax((double)parts[i].entry->units - (parts[i].group ? parts[i].group[scale->group] : 0), 0);
    return fmax(plain, 0);
}

static void fold_components(struct as_sampled *sampled, const struct as_scale *scale, const struct part *parts,
                            size_t n)
{
    uint32_t id = parts->entry->id;
    bool full = scale->stratum->full;
    double time = as_scale_estimate(sampled, scale, id), sum = plain_of(scale, parts, n);
    for (size_t i = 0; i < n; i++)
        sum += left_of(scale, parts[i].entry, parts[i].group);
    for (size_t i = 0; i < n && sum > 0 && (full || as_scale_factor(scale, id) > 0); i++) {
        double left = left_of(scale, parts[i].entry, parts[i].group);
        if (left > 0)
            as_group_parts_at(&sampled->replicate_parts.events, id, parts[i].entry->events)[scale->group] +=
                full ? left : time * left / sum;
    }
}

/* The components of one instruction, of which these are the entries. */
static void fold_entries(struct as_sampled *sampled, const struct as_stratum *stratum, const struct as_scales *scales,
                         const struct as_pics_entry *entries, size_t n)
{
    struct part parts[PARTS_MAX];
    size_t n_parts = 0;
    for (size_t i = 0; i < n && n_parts < PARTS_MAX; i++)
        if (entries[i].events)
            parts[n_parts++] = (struct part){
                &entries[i], as_group_parts_find(&stratum->parts.events, entries[i].id, entries[i].events)};
    for (int group = 0; group < AS_SAMPLED_GROUPS && n_parts; group++)
        fold_components(sampled, &scales->without[group], parts, n_parts);
}

static void fold_all_components(struct as_sampled *sampled, const struct as_stratum *stratum,
                                const struct as_scales *scales)
{
    const struct as_pics *pics = &stratum->pics;
    for (size_t i = 0, next; i < pics->len; i = next) {
        for (next = i + 1; next < pics->len && pics->data[next].id == pics->data[i].id; next++)
            continue;
        fold_entries(sampled, stratum, scales, &pics->data[i], next - i);
    }
}

/* ---- states ---- */

/* What a replicate's time of an instruction is in each state: what regions have, times the factor; what it is longer by waits. */
static void split(double time, double factor, const double units[AS_STATE_COUNT], struct as_oracle_row *row)
{
    double sum = 0;
    for (int state = 0; state < AS_STATE_COUNT; state++)
        sum += units[state];
    *row = (struct as_oracle_row){0};
    if (factor <= 0 || sum <= 0) {
        row->units[AS_STATE_COMPUTING] = (uint64_t)llround(fmax(time, 0));
        return;
    }
    double waits = sum - units[AS_STATE_COMPUTING], more = time / factor - sum;
    bool enough = waits > 0 && waits + more >= 0;
    for (int state = 0; state < AS_STATE_COUNT; state++) {
        double part = state == AS_STATE_COMPUTING && enough ? 0 : units[state];
        double own = factor * (units[state] + more * part / (enough ? waits : sum));
        row->units[state] = own > 0 ? (uint64_t)llround(own) : 0;
    }
}

/* What the groups of regions have of an instruction in each state; NULL: none of them has any. */
struct states {
    const double *groups[AS_STATE_COUNT];
};

static struct states find_states(const struct as_stratum *stratum, uint32_t id)
{
    struct states states;
    for (uint32_t state = 0; state < AS_STATE_COUNT; state++)
        states.groups[state] = as_group_parts_find(&stratum->parts.states, id, state);
    return states;
}

static struct as_oracle_row states_of(const struct as_sampled *sampled, const struct as_scale *scale, uint32_t id,
                                      const struct states *states)
{
    double units[AS_STATE_COUNT];
    struct as_oracle_row row;
    for (uint32_t state = 0; state < AS_STATE_COUNT; state++) {
        double group = states->groups[state] ? states->groups[state][scale->group] : 0;
        units[state] = fmax(scale->stratum->costs.data[id].units[state] - group, 0);
    }
    split(as_scale_estimate(sampled, scale, id), as_scale_factor(scale, id), units, &row);
    return row;
}

static void add_states(uint64_t *states, struct as_stack *stack, const struct as_oracle_row *row,
                       const struct as_insn *insn)
{
    for (int state = 0; state < AS_STATE_COUNT; state++)
        states[state] += row->units[state];
    as_stack_add(stack, row, insn);
}

static void fold_states(struct as_sampled *sampled, const struct as_stratum *stratum, const struct as_scales *scales,
                        uint32_t id)
{
    struct as_replicate_parts *to = &sampled->replicate_parts;
    const struct as_insn *insn = as_engine_insn(as_model_engine(sampled->modelled->model), id);
    struct states states = find_states(stratum, id);
    for (int group = 0; group < AS_SAMPLED_GROUPS && !stratum->full; group++) {
        struct as_oracle_row row = states_of(sampled, &scales->without[group], id, &states);
        add_states(to->states[group], &to->stacks[group], &row, insn);
    }
    if (stratum->full) {
        struct as_oracle_row row = states_of(sampled, &scales->without[0], id, &states);
        add_states(to->head_states, &to->head_stack, &row, insn);
    }
}

/* ---- counters ---- */

static size_t number_of(const char *name)
{
    return (size_t)(as_counter_find(name) - as_counter_table);
}

/* How often DRAM was read is known, so what follows from that has the regions' proportions to it (sampled_result.c). */
static void know_reads(const struct as_stratum *stratum, uint32_t group, double counters[AS_SAMPLED_COUNTERS])
{
    static const char *const follow[] = {"dram_row_hits", "llc_prefetches"};
    double of_regions = (double)stratum->counters.dram_reads - stratum->groups[group].reads;
    double ratio = of_regions > 0 ? (double)stratum->reads / of_regions : 0;
    for (size_t i = 0; i < sizeof follow / sizeof *follow; i++) {
        size_t at = number_of(follow[i]);
        double all = (double)as_counter_value(&stratum->counters, &as_counter_table[at]);
        counters[at] = ratio * (all - as_stratum_parts_counter(&stratum->parts, group, at));
    }
    counters[number_of("dram_reads")] = (double)stratum->reads;
    counters[number_of("llc_misses")] = (double)stratum->reads - counters[number_of("llc_prefetches")];
}

/* What all regions, or all but a group, are multiplied by. The points of a replicate stand for the whole run. */
static double factor_of(const struct as_sampled *sampled, const struct as_stratum *stratum, uint32_t group)
{
    double all = 0, own = 0;
    for (size_t id = 0; id < stratum->costs.len; id++) {
        all += stratum->costs.data[id].executions;
        own += as_sampled_at(&stratum->groups[group].executions, id);
    }
    double measured = all - (double)stratum->timed;
    if (sampled->points || stratum->full || measured <= 0 || all <= own)
        return 1;
    return (double)stratum->instructions / measured * all / (all - own);
}

/* `factor`: what regions are multiplied by. */
static void add_chance(struct as_sampled *sampled, const struct as_stratum *stratum, double factor)
{
    for (size_t i = 0; i < as_counter_count && !stratum->full && !sampled->points; i++) {
        double met = (double)as_counter_value(&stratum->counters, &as_counter_table[i]);
        sampled->replicate_parts.chance[i] += factor * factor * (met + 1);
    }
}

static void fold_counters(struct as_sampled *sampled, const struct as_stratum *stratum)
{
    add_chance(sampled, stratum, factor_of(sampled, stratum, 0));
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++) {
        double own[AS_SAMPLED_COUNTERS] = {0}, factor = factor_of(sampled, stratum, group);
        for (size_t i = 0; i < as_counter_count; i++)
            own[i] = factor * ((double)as_counter_value(&stratum->counters, &as_counter_table[i]) -
                               as_stratum_parts_counter(&stratum->parts, group, i));
        if (!stratum->full)
            know_reads(stratum, group, own);
        for (size_t i = 0; i < as_counter_count; i++)
            sampled->replicate_parts.counters[group][i] += own[i];
    }
}

/* ---- all of it ---- */

/* There can be a million entries, so what is the same for all of them, and takes a look at every instruction, is found before. */
static void fold_paths(struct as_sampled *sampled, const struct as_stratum *stratum)
{
    double factors[AS_SAMPLED_GROUPS];
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS && stratum->paths.len; group++)
        factors[group] = factor_of(sampled, stratum, group);
    for (size_t i = 0; i < stratum->paths.len; i++) {
        const struct as_pics_entry *entry = &stratum->paths.data[i];
        const double *group = as_group_parts_find(&stratum->parts.paths, entry->id, entry->events);
        for (uint32_t from = 0; from < AS_SAMPLED_GROUPS && entry->events; from++) {
            double left = (double)entry->units - (group ? group[from] : 0);
            if (left > 0)
                as_group_parts_at(&sampled->replicate_parts.paths, entry->id, entry->events)[from] +=
                    factors[from] * left;
        }
    }
}

void as_sampled_fold_parts(struct as_sampled *sampled, const struct as_stratum *stratum, const struct as_scales *scales)
{
    as_pics_sort(&((struct as_stratum *)stratum)->pics); /* strata that were joined have two of each */
    as_pics_sort(&((struct as_stratum *)stratum)->paths);
    fold_paths(sampled, stratum);
    fold_all_components(sampled, stratum, scales);
    for (uint32_t id = 0; id < stratum->costs.len; id++)
        if (as_sampled_at(&stratum->counts, id) > 0 || as_sampled_units(&stratum->costs.data[id]) > 0)
            fold_states(sampled, stratum, scales, id);
    fold_counters(sampled, stratum);
}

void as_replicate_parts_free(struct as_replicate_parts *parts)
{
    as_group_parts_free(&parts->events);
    as_group_parts_free(&parts->paths);
}
