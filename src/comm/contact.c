/* See contact.h. */
#include "comm/contact.h"

#include "base/random.h"

static uint64_t hash_side(uint64_t hash, const struct as_contact_side *side)
{
    hash = as_random_hash(hash ^ side->insn ^ (uint64_t)side->process << 48);
    return as_random_hash(hash ^ (uint64_t)side->path << 16 ^ (uint64_t)side->offset << 8 ^ side->size);
}

static uint64_t hash_of(const struct as_contact *contact)
{
    uint64_t hash = as_random_hash(contact->line ^ contact->is_false ^ (uint64_t)contact->process << 48);
    hash = hash_side(hash ^ contact->object, &contact->from);
    return hash_side(hash, &contact->to);
}

static bool is_same_side(const struct as_contact_side *a, const struct as_contact_side *b)
{
    return a->insn == b->insn && a->process == b->process && a->path == b->path && a->offset == b->offset &&
           a->size == b->size;
}

static bool is_same(const struct as_contact *a, const struct as_contact *b)
{
    return a->line == b->line && a->process == b->process && a->object == b->object && a->is_false == b->is_false &&
           is_same_side(&a->from, &b->from) && is_same_side(&a->to, &b->to);
}

static uint64_t thread_bit(uint32_t thread)
{
    return UINT64_C(1) << (thread < 63 ? thread : 63);
}

static struct as_contact *find(struct as_contacts *contacts, const struct as_contact *contact)
{
    uint64_t *first = as_map_put(&contacts->index, hash_of(contact));
    for (uint64_t place = *first; place; place = contacts->next.data[place - 1])
        if (is_same(&contacts->list.data[place - 1], contact))
            return &contacts->list.data[place - 1];
    struct as_contact *added = as_vec_push(&contacts->list);
    *added = *contact;
    added->count = added->remote = added->from_threads = added->to_threads = 0;
    *as_vec_push(&contacts->next) = (uint32_t)*first;
    *first = contacts->list.len;
    return added;
}

void as_contacts_add(struct as_contacts *contacts, const struct as_contact *contact, uint32_t from, uint32_t to)
{
    struct as_contact *found = find(contacts, contact);
    found->count += contact->count;
    found->remote += contact->remote;
    found->from_threads |= thread_bit(from);
    found->to_threads |= thread_bit(to);
}

void as_contacts_home(struct as_contacts *contacts, bool (*home)(void *context, uint32_t *process, uint64_t *address),
                      void *context)
{
    for (size_t i = 0; i < contacts->list.len; i++) {
        struct as_contact *contact = &contacts->list.data[i];
        if (!contact->process)
            (void)home(context, &contact->process, &contact->line);
    }
}

void as_contacts_free(struct as_contacts *contacts)
{
    as_vec_free(&contacts->list);
    as_vec_free(&contacts->next);
    as_map_free(&contacts->index);
}
