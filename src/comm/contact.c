/* See contact.h. */
#include "comm/contact.h"

#include "base/random.h"

#define FROM UINT64_C(0xbf58476d1ce4e5b9) /* odd, and otherwise of no meaning */
#define TO UINT64_C(0x94d049bb133111eb)

/* The products do not wait for each other: this is most of what counting a transfer takes. Contacts of one hash are told apart. */
static uint64_t hash_side(const struct as_contact_side *side, uint64_t factor)
{
    uint64_t place =
        (uint64_t)side->offset << 56 ^ (uint64_t)side->size << 48 ^ (uint64_t)side->process << 32 ^ side->path;
    return side->insn * factor + place * (factor ^ AS_RANDOM_STEP);
}

static uint64_t hash_of(const struct as_contact *contact)
{
    uint64_t whose = (uint64_t)contact->process << 33 ^ (uint64_t)contact->object << 1 ^ contact->is_false;
    return as_random_hash(contact->line + whose * AS_RANDOM_STEP + hash_side(&contact->from, FROM) +
                          hash_side(&contact->to, TO));
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

static struct as_contact *find_slowly(struct as_contacts *contacts, const struct as_contact *contact, uint64_t hash)
{
    uint64_t *first = as_map_put(&contacts->index, hash);
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

/* A line that is fought over moves between the same places again and again. */
static struct as_contact *find(struct as_contacts *contacts, const struct as_contact *contact)
{
    uint64_t hash = hash_of(contact);
    uint32_t *recent = &contacts->recent[hash % AS_CONTACTS_RECENT];
    if (*recent && is_same(&contacts->list.data[*recent - 1], contact))
        return &contacts->list.data[*recent - 1];
    struct as_contact *found = find_slowly(contacts, contact, hash);
    *recent = (uint32_t)(found - contacts->list.data) + 1;
    return found;
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
