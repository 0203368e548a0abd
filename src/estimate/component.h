/* Hardware components and what they cost: energies, area, leakage, time, each with its source and an error band. */
#ifndef SX_ESTIMATE_COMPONENT_H
#define SX_ESTIMATE_COMPONENT_H

#include "base/status.h"
#include "estimate/cacti.h"
#include "sextant/problem.h"

/* Whose rules count. SX_ESTIMATOR_PRESET: accelergy-0.4 where a file states a process node, else timeloop. */
typedef enum sx_estimator {
    SX_ESTIMATOR_PRESET,
    SX_ESTIMATOR_TIMELOOP,
    SX_ESTIMATOR_ACCELERGY_04,
    SX_ESTIMATOR_ACCELERGY_03,
    SX_ESTIMATOR_PUBLISHED,
} sx_estimator;

/* The name of an estimator, and the estimator of a name; an error that lists them where there is none. */
const char *sx_estimator_name(sx_estimator estimator);
SX_MUST_USE sx_status sx_estimator_find(const char *name, sx_estimator *out);

typedef enum sx_component_kind {
    SX_COMPONENT_SRAM,
    SX_COMPONENT_REGFILE,
    SX_COMPONENT_DRAM,
    SX_COMPONENT_MAC,
    SX_COMPONENT_MULTIPLIER,
    SX_COMPONENT_ADDER,
    SX_COMPONENT_REGISTER,
    SX_COMPONENT_WIRE,   /* a millimetre */
    SX_COMPONENT_ROUTER, /* one hop */
    SX_N_COMPONENT_KINDS,
} sx_component_kind;

enum { SX_COMPONENT_TEXT = 24 };

/* A component by its attributes; 0 where a number is not stated. */
typedef struct sx_component {
    sx_component_kind kind;
    bool generates;      /* with an address generator of its own, as smartbuffers have */
    bool primitive;      /* a class of the plug-ins, not one composed of several */
    bool neurosim;       /* that generator's adder is NeuroSim's, not Aladdin's */
    bool floating;       /* floating point */
    bool dummy;          /* its class costs nothing: dummy_storage, free_mac */
    bool unknown;        /* no rule knows its class or its size */
    double node;         /* nm */
    double width, depth; /* bits of an access, words */
    double banks, ports; /* ports: those that read, write or both */
    double multiplier_width, adder_width;
    double exponent, mantissa; /* bits; the mantissa with its hidden one */
    double cycle_seconds;
    char dram[SX_COMPONENT_TEXT]; /* such as LPDDR4; "": not stated */
} sx_component;

/* The kind of a component of that class (of Accelergy's, by a part of its name), and what classes of that kind have by an
 * estimator's rules; false where it is none. Of a class with "dummy" in its name, or that begins with "free_", no action
 * costs anything. */
bool sx_component_classify(const char *class, sx_estimator estimator, sx_component *out);

/* Whether a class says nothing of what a component is made of: "storage", "compute" and those that cost nothing. */
bool sx_component_is_generic(const char *class);

/* The names of known classes, which others may be misspelt forms of; *n is their number. */
const char *const *sx_component_classes(size_t *n);

/* The name of a kind, such as "SRAM". */
const char *sx_component_kind_name(sx_component_kind kind);

enum { SX_RULE_SIZE = 256 };

/* Energies in pJ per access of `width` bits (compute units: per operation in `read`), leakage in pJ per cycle, below 0 where
 * not known; area in um^2, access time in ns, 0 where not known. The true figures are expected between `low` and `high` times
 * them. */
typedef struct sx_estimate {
    double read, write, update, leak, area, access;
    double low, high;
    double leak_low, leak_high; /* the same of leakage */
    bool unpriced;              /* no rule knows its energies, which are 0 */
    const char *source;
    char rule[SX_RULE_SIZE];
} sx_estimate;

/* Estimates a component by an estimator's rules; what it lacks is as they presume, and the rule says so. */
void sx_estimate_component(const sx_component *component, sx_estimator estimator, sx_estimate *out);

/* A component of an architecture with its estimate; `class` is that of its file, or its kind. */
typedef struct sx_estimated_component {
    char name[SX_NAME_SIZE], class[SX_NAME_SIZE];
    uint64_t count;
    sx_component component;
    sx_estimate estimate;
} sx_estimated_component;

/* Adds a remark to the rule of an estimate. */
void sx_estimate_say(sx_estimate *estimate, const char *format, ...) SX_PRINTF(2, 3);

/* Widens the error band by a factor each way. */
void sx_estimate_widen(sx_estimate *estimate, double factor);

/* The estimators of single kinds, by which sx_estimate_component works; all begin from zeros but `source`. */
void sx_estimate_sram_04(const sx_component *component, sx_estimate *out);
void sx_estimate_sram_03(const sx_component *component, sx_estimate *out);
void sx_estimate_sram_published(const sx_component *component, sx_estimate *out);
void sx_estimate_dram(const sx_component *component, sx_estimator estimator, sx_estimate *out);
void sx_estimate_regfile(const sx_component *component, sx_estimator estimator, sx_estimate *out);
void sx_estimate_logic(const sx_component *component, sx_estimator estimator, sx_estimate *out);

/* What an SRAM of one bank and port costs at 45 nm, as accelergy-0.4 scales small ones: pJ, mW and um^2. It is monotone in
 * width and depth, for searches over sizes. */
void sx_sram_by_size(double width, double depth, sx_sram_figures *out);

/* A figure with six digits, which are the same on every machine. */
double sx_round_figure(double value);

/* The ratio of energies of logic at a node to those at 45 nm, by Stillmaker and Baas (2017) at 0.8 V. */
double sx_logic_scale(double node);

/* The energy of an adder of the address generator of a memory with that many words, pJ. */
double sx_address_adder(const sx_component *component, double words);

#endif
