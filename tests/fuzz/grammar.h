/* Texts from a grammar, in which the bytes of a fuzzer choose among alternatives: it searches among texts that parsers
 * do not refuse at their first character.
 *
 * A grammar is the file fuzz/NAME.grammar. A rule is `name: items | items ...`, and may go on in lines that begin with a
 * blank. An item is the name of a rule, a text in quotes ('\n' in it begins a line with the indentation of the place,
 * '\"' and '\\' are these signs), `>` or `<`, which indent the lines that follow more or less. An alternative that begins
 * with a number is chosen as often as that many. The first rule is the whole text. Where all bytes are used, or rules
 * are nested too deep, the first alternative is taken, which must come
 * to an end. Lines that begin with # are comments. */
#ifndef SX_FUZZ_GRAMMAR_H
#define SX_FUZZ_GRAMMAR_H

#include "sextant/status.h"

#include <stddef.h>
#include <stdint.h>

/* Writes the text that bytes choose, with a zero behind it; the caller frees it. The grammar is read once; a mistake in it
 * ends the process. */
SX_OWN char *sx_grammar_text(const char *name, const uint8_t *data, size_t size);

#endif
