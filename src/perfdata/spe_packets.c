/* Decodes one packet at a time: a header of one or two bytes, then 1, 2, 4 or 8 bytes of payload. Bytes that cannot
 * start a packet are skipped one by one, because the buffer may have been cut anywhere. */
#include "perfdata/spe_packets.h"

#include <string.h>

enum {
    HEADER_PAD = 0x00,
    HEADER_END = 0x01,
    HEADER_TIME = 0x71,
    HEADER_EVENTS = 0x42,  /* sizes in bits 4 and 5 */
    HEADER_SOURCE = 0x43,  /* likewise */
    HEADER_CONTEXT = 0x64, /* index in bits 0 and 1 */
    HEADER_TYPE = 0x48,    /* likewise */
    HEADER_EXTENDED = 0x20,
    HEADER_ADDRESS = 0xb0, /* index in bits 0 to 2 */
    HEADER_COUNTER = 0x98, /* likewise */
};
enum { ADDRESS_PC, ADDRESS_TARGET, ADDRESS_VIRTUAL, ADDRESS_PHYSICAL, ADDRESS_PREVIOUS };
enum { COUNTER_TOTAL, COUNTER_ISSUE, COUNTER_TRANSLATION };

static const uint64_t address_bits = (UINT64_C(1) << 56) - 1, top_byte = UINT64_C(0xff) << 56;

struct packet {
    uint8_t header, index;
    size_t size; /* 0: needs more bytes; SIZE_MAX: not a packet */
    uint64_t payload;
};

static bool is_known(uint8_t header, bool extended)
{
    if ((header & 0xf8) == HEADER_ADDRESS || (header & 0xf8) == HEADER_COUNTER)
        return true;
    return !extended &&
           (header == HEADER_TIME || (header & 0xcf) == HEADER_EVENTS || (header & 0xcf) == HEADER_SOURCE ||
            (header & 0xfc) == HEADER_CONTEXT || (header & 0xfc) == HEADER_TYPE);
}

static struct packet next_packet(const uint8_t *bytes, size_t size)
{
    struct packet packet = {.header = bytes[0], .size = 1};
    if (bytes[0] == HEADER_PAD || bytes[0] == HEADER_END)
        return packet;
    size_t head = (bytes[0] & 0xfc) == HEADER_EXTENDED ? 2 : 1;
    if (size < head) {
        packet.size = 0;
        return packet;
    }
    if (head == 2) {
        packet.header = bytes[1];
        packet.index = (uint8_t)((bytes[0] & 3) << 3);
        if (bytes[1] == HEADER_PAD) { /* an alignment packet: its length depends on its position */
            packet.header = HEADER_EXTENDED;
            packet.payload = bytes[0] & 15;
            packet.size = 2;
            return packet;
        }
    }
    if (!is_known(packet.header, head == 2)) {
        packet.size = SIZE_MAX;
        return packet;
    }
    size_t length = (size_t)1 << (packet.header >> 4 & 3);
    packet.index |= packet.header & 7;
    packet.size = size < head + length ? 0 : head + length;
    for (size_t i = length; packet.size > 0 && i-- > 0;)
        packet.payload = packet.payload << 8 | bytes[head + i];
    return packet;
}

/* ---- packets into the record ---- */

/* Code addresses carry the exception level in their top byte; those of the kernel begin with ones. */
static uint64_t code_address(uint64_t payload)
{
    unsigned level = payload >> 61 & 3;
    bool kernel = payload >> 63 && (level == 1 || level == 2);
    return (payload & address_bits) | (kernel ? top_byte : 0);
}

static void take_address(struct as_spe_record *record, const struct packet *packet)
{
    uint64_t payload = packet->payload, plain = payload & address_bits;
    switch (packet->index) {
    case ADDRESS_PC:
        record->pc = code_address(payload);
        record->exception_level = payload >> 61 & 3;
        record->non_secure = payload >> 63;
        record->has |= AS_SPE_PC;
        break;
    case ADDRESS_TARGET:
        record->target = code_address(payload);
        record->has |= AS_SPE_TARGET;
        break;
    case ADDRESS_PREVIOUS:
        record->previous = code_address(payload);
        record->has |= AS_SPE_PREVIOUS;
        break;
    case ADDRESS_VIRTUAL:
        record->address = plain | ((plain >> 52 & 15) == 15 ? top_byte : 0);
        record->address_tag = (uint8_t)(payload >> 56);
        record->has |= AS_SPE_ADDRESS;
        break;
    case ADDRESS_PHYSICAL:
        record->physical = plain;
        record->has |= AS_SPE_PHYSICAL;
        break;
    default: /* reserved */
        break;
    }
}

static void take_counter(struct as_spe_record *record, const struct packet *packet)
{
    uint16_t cycles = (uint16_t)packet->payload;
    if (packet->index == COUNTER_TOTAL) {
        record->total = cycles;
        record->has |= AS_SPE_TOTAL;
    } else if (packet->index == COUNTER_ISSUE) {
        record->issue = cycles;
        record->has |= AS_SPE_ISSUE;
    } else if (packet->index == COUNTER_TRANSLATION) {
        record->translation = cycles;
        record->has |= AS_SPE_TRANSLATION;
    }
}

static void take_type(struct as_spe_record *record, const struct packet *packet)
{
    uint8_t type = (uint8_t)packet->payload;
    record->has |= AS_SPE_TYPE;
    record->type = type;
    record->class = packet->header & 3;
    if (record->class == AS_SPE_MEMORY) {
        bool extended = (type & 0xe2) == 0x02;
        record->store = type & 1;
        record->atomic = extended && type & 4;
        record->exclusive = extended && type & 8;
        record->acquire_release = extended && type & 16;
        record->simd = (type & 0xfe) == 0x04;
        record->sve = (type & 0x0a) == 0x08;
    } else if (record->class == AS_SPE_BRANCH) {
        record->conditional = type & 1;
        record->indirect = (type & 0xfe) == 0x02;
    } else if (record->class == AS_SPE_OTHER) {
        record->sve = (type & 0x89) == 0x08;
        record->conditional = !record->sve && type & 1;
    }
}

static bool finish(struct as_spe_decoder *decoder)
{
    bool go_on = true;
    if (decoder->started) {
        decoder->records++;
        go_on = decoder->sink == NULL || decoder->sink(decoder->context, &decoder->record);
    }
    decoder->record = (struct as_spe_record){0};
    decoder->started = false;
    return go_on;
}

static bool take_packet(struct as_spe_decoder *decoder, const struct packet *packet)
{
    struct as_spe_record *record = &decoder->record;
    uint8_t header = packet->header;
    if (header == HEADER_PAD)
        return true;
    if (header == HEADER_END)
        return finish(decoder);
    decoder->started = true;
    if (header == HEADER_TIME) {
        record->time = packet->payload;
        record->has |= AS_SPE_TIME;
        return finish(decoder);
    }
    if ((header & 0xf8) == HEADER_ADDRESS)
        take_address(record, packet);
    else if ((header & 0xf8) == HEADER_COUNTER)
        take_counter(record, packet);
    else if ((header & 0xcf) == HEADER_EVENTS) {
        record->events = packet->payload;
        record->has |= AS_SPE_EVENTS;
    } else if ((header & 0xcf) == HEADER_SOURCE) {
        record->source = (uint16_t)packet->payload;
        record->has |= AS_SPE_SOURCE;
    } else if ((header & 0xfc) == HEADER_CONTEXT) {
        record->context = (uint32_t)packet->payload;
        record->context_level = (uint8_t)((header & 3) + 1);
        record->has |= AS_SPE_CONTEXT;
    } else
        take_type(record, packet);
    return true;
}

/* ---- the stream ---- */

/* Decodes one packet at `bytes`; `used` gets its length, 0 if it is incomplete. */
static bool step(struct as_spe_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t offset, size_t *used)
{
    struct packet packet = next_packet(bytes, size);
    *used = packet.size;
    if (packet.size == 0)
        return true;
    if (packet.size == SIZE_MAX) {
        *used = 1;
        decoder->bad_bytes++;
        decoder->record.damaged = true;
        return true;
    }
    if (packet.header == HEADER_EXTENDED) {
        uint64_t alignment = UINT64_C(2) << packet.payload, behind = offset + packet.size;
        decoder->skip = (alignment - behind % alignment) % alignment;
        return true;
    }
    return take_packet(decoder, &packet);
}

/* Decodes as much as possible of the bytes that are kept. */
static bool drain_rest(struct as_spe_decoder *decoder, uint64_t offset)
{
    for (size_t used = 1; decoder->rest_size > 0; decoder->rest_size -= used, offset += used) {
        if (decoder->skip > 0) {
            used = 1;
            decoder->skip--;
        } else if (!step(decoder, decoder->rest, decoder->rest_size, offset, &used))
            return false;
        if (used == 0)
            return true;
        memmove(decoder->rest, decoder->rest + used, decoder->rest_size - used);
    }
    return true;
}

/* Completes a packet that the preceding piece left unfinished, byte by byte; at most once per piece. */
static bool finish_rest(struct as_spe_decoder *decoder, const uint8_t **bytes, const uint8_t *end, uint64_t *offset)
{
    while (decoder->rest_size > 0 && *bytes < end) {
        decoder->rest[decoder->rest_size++] = *(*bytes)++;
        ++*offset;
        if (!drain_rest(decoder, *offset - decoder->rest_size))
            return false;
    }
    return true;
}

bool as_spe_feed(struct as_spe_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t offset)
{
    const uint8_t *end = bytes + size;
    if (!finish_rest(decoder, &bytes, end, &offset))
        return false;
    while (bytes < end) {
        size_t left = (size_t)(end - bytes), used = left;
        if (decoder->skip > 0) {
            used = decoder->skip < left ? (size_t)decoder->skip : left;
            decoder->skip -= used;
        } else if (!step(decoder, bytes, left, offset, &used))
            return false;
        if (used == 0) {
            memcpy(decoder->rest, bytes, left);
            decoder->rest_size = left;
            return true;
        }
        bytes += used;
        offset += used;
    }
    return true;
}

/* ---- words ---- */

void as_spe_events_text(uint64_t events, struct as_str *text)
{
    static const char *const names[32] = {
        "exception",     "retired",     "L1D access",           "L1D miss",          "TLB access",
        "TLB walk",      "not taken",   "mispredicted",         "last level access", "last level miss",
        "remote",        "misaligned",  [16] = "transactional", "partial predicate", "empty predicate",
        "L2D access",    "L2D miss",    "modified elsewhere",   "recently fetched",  "snooped",
        "streaming SVE", "shared unit",
    };
    for (unsigned i = 0; i < 32; i++)
        as_str_add_word(text, events >> i & 1 && names[i] != NULL, names[i]);
}

void as_spe_type_text(const struct as_spe_record *record, struct as_str *text)
{
    if (record->class == AS_SPE_MEMORY)
        as_str_add_word(text, true, record->store ? "store" : "load");
    else if (record->class == AS_SPE_BRANCH)
        as_str_add_word(text, true, "branch");
    else
        as_str_add_word(text, true, record->conditional ? "conditional select" : "other");
    as_str_add_word(text, record->class == AS_SPE_BRANCH && record->conditional, "conditional");
    as_str_add_word(text, record->indirect, "indirect");
    as_str_add_word(text, record->atomic, "atomic");
    as_str_add_word(text, record->exclusive, "exclusive");
    as_str_add_word(text, record->acquire_release, "acquire-release");
    as_str_add_word(text, record->simd, "SIMD");
    as_str_add_word(text, record->sve, "SVE");
}

const char *as_spe_source_name(uint16_t source)
{
    static const char *const names[16] = {
        [0x0] = "L1",           [0x8] = "L2",           [0x9] = "peer core",   [0xa] = "local cluster",
        [0xb] = "system cache", [0xc] = "peer cluster", [0xd] = "remote chip", [0xe] = "DRAM"};
    return source < 16 && names[source] != NULL ? names[source] : "";
}
