#include "fuzz/message.h"

#include <string.h>

enum { MAX_DEPTH = 64 };
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

int sx_tree_add(sx_tree *tree, const sx_tree_field *field) {
    if (tree->n == SX_MAX_FIELDS) return SX_NO_FIELD;
    tree->field[tree->n] = *field;
    return tree->n++;
}

/* Reads the fields of a message into one that is there. */
static bool read_fields(sx_tree *tree, int message, sx_bytes bytes, sx_type_of *type_of, int depth) {
    sx_wire wire = sx_wire_of(bytes);
    sx_field field;
    int last = SX_NO_FIELD;
    if (depth == MAX_DEPTH) return false;
    while (sx_wire_next(&wire, &field)) {
        const uint8_t owner = tree->field[message].type;
        const int added =
            sx_tree_add(tree, &(sx_tree_field){.number = field.number,
                                               .owner = owner,
                                               .wire = field.is_bytes     ? BYTES
                                                       : field.is_fixed32 ? FIXED32
                                                       : field.is_fixed64 ? FIXED64
                                                                          : VARINT,
                                               .type = field.is_bytes ? type_of(owner, field.number) : 0,
                                               .value = field.value,
                                               .bytes = field.bytes,
                                               .first = SX_NO_FIELD,
                                               .next = SX_NO_FIELD});
        if (added == SX_NO_FIELD) return false;
        if (last == SX_NO_FIELD)
            tree->field[message].first = added;
        else
            tree->field[last].next = added;
        last = added;
        if (tree->field[added].type && !read_fields(tree, added, field.bytes, type_of, depth + 1))
            return false;
    }
    return !wire.broken;
}

int sx_tree_read(sx_tree *tree, sx_bytes message, uint8_t type, sx_type_of *type_of) {
    const int root = sx_tree_add(
        tree, &(sx_tree_field){.type = type, .wire = BYTES, .first = SX_NO_FIELD, .next = SX_NO_FIELD});
    return root != SX_NO_FIELD && read_fields(tree, root, message, type_of, 0) ? root : SX_NO_FIELD;
}

int sx_tree_copy(sx_tree *tree, int from) {
    sx_tree_field copy = tree->field[from];
    copy.first = copy.next = SX_NO_FIELD;
    const int to = sx_tree_add(tree, &copy);
    int last = SX_NO_FIELD;
    for (int f = tree->field[from].first; f != SX_NO_FIELD && to != SX_NO_FIELD; f = tree->field[f].next) {
        const int part = sx_tree_copy(tree, f);
        if (part == SX_NO_FIELD) return SX_NO_FIELD;
        if (last == SX_NO_FIELD)
            tree->field[to].first = part;
        else
            tree->field[last].next = part;
        last = part;
    }
    return to;
}

void sx_tree_insert(sx_tree *tree, int message, int field, int place) {
    int *link = &tree->field[message].first;
    while (*link != SX_NO_FIELD && place-- != 0) link = &tree->field[*link].next;
    tree->field[field].next = *link;
    *link = field;
}

void sx_tree_remove(sx_tree *tree, int message, int field) {
    int *link = &tree->field[message].first;
    while (*link != SX_NO_FIELD && *link != field) link = &tree->field[*link].next;
    if (*link == SX_NO_FIELD) return;
    *link = tree->field[field].next;
    tree->field[field].next = SX_NO_FIELD;
}

int sx_tree_owner(const sx_tree *tree, int field) {
    for (int m = 0; m < tree->n; m++)
        for (int f = tree->field[m].first; f != SX_NO_FIELD; f = tree->field[f].next)
            if (f == field) return m;
    return SX_NO_FIELD;
}

/* Room that is filled from its end; `at` is NULL once there is none left. */
typedef struct backward {
    unsigned char *begin, *at;
} backward;

static void write_back(backward *b, const void *bytes, size_t size) {
    if (!b->at || (size_t)(b->at - b->begin) < size) {
        b->at = NULL;
        return;
    }
    b->at -= size;
    if (size) memcpy(b->at, bytes, size);
}

static void write_varint(backward *b, uint64_t value) {
    unsigned char bytes[10];
    size_t n = 0;
    for (; value > 127; value >>= 7) bytes[n++] = (unsigned char)(value | 128);
    bytes[n++] = (unsigned char)value;
    write_back(b, bytes, n);
}

/* Writes a number of some bytes, the lowest first. */
static void write_fixed(backward *b, uint64_t value, size_t n) {
    unsigned char bytes[8];
    for (size_t i = 0; i < n; i++) bytes[i] = (unsigned char)(value >> 8 * i);
    write_back(b, bytes, n);
}

/* Writes the fields from one on, the last one first. */
static void write_fields(const sx_tree *tree, int field, backward *b) {
    if (field == SX_NO_FIELD || !b->at) return;
    const sx_tree_field *f = &tree->field[field];
    write_fields(tree, f->next, b);
    const unsigned char *end = b->at;
    if (f->type)
        write_fields(tree, f->first, b);
    else if (f->wire == BYTES)
        write_back(b, f->bytes.data, f->bytes.size);
    if (f->wire == BYTES)
        write_varint(b, b->at ? (uint64_t)(end - b->at) : 0);
    else if (f->wire == VARINT)
        write_varint(b, f->value);
    else
        write_fixed(b, f->value, f->wire == FIXED32 ? 4 : 8);
    write_varint(b, (uint64_t)f->number << 3 | f->wire);
}

size_t sx_tree_write(const sx_tree *tree, int message, unsigned char *out, size_t room) {
    backward b = {out, out + room};
    write_fields(tree, tree->field[message].first, &b);
    if (!b.at) return 0;
    const size_t size = (size_t)(out + room - b.at);
    memmove(out, b.at, size);
    return size;
}
