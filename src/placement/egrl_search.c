/* Algorithm 2 of EGRL.
 *
 * Source: EGRL (ICLR 2021), section 3 and appendices C to E. In a generation every chromosome and the learner give a
 * placement, which is evaluated and stored; an invalid one counts as an evaluation and has the reward -error. Then the
 * population is bred, the learner makes as many updates as there were evaluations, and is copied into the population.
 *
 * Where the paper is silent: both encodings keep their numbers and their elites, so that neither dies out (Figure 2 has
 * two sub-populations); with `common` the elites are those of one ranking, and every pair of a Boltzmann chromosome and
 * an elite network seeds. A network of the population gives its most probable placement (appendix C: it explores by noise
 * in its weights), so the fitness of one that did not change is not measured again; Boltzmann chromosomes and the
 * learner draw. The posterior of a network seeds a Boltzmann child as logarithms, with the probability `seeding` in
 * the place of a crossover. Mutation of a network changes one of ten of its weights as evolutionary reinforcement learning
 * does, which EGRL extends (ERL, CERL): noise of `weights` times the weight, with the probability `leaps` of ten times it, with
 * `resets` a new value from N(0, 1). Noise of one size for all weights finds much less (docs/studies/egrl.md).
 *
 * Complexity: a run of the actor per changed network and update, an evaluation per placement. */
#include "placement/egrl_search.h"

#include "base/status.h"
#include "learn/elementary.h"
#include "placement/boltzmann.h"
#include "placement/population.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is remembered between safe points: this; fitness and whether it is known, of all chromosomes; chromosomes; the
 * best network; the learner's numbers; then the rewards and placements that are stored. */
typedef struct state {
    sx_rng rng;
    uint64_t begun, generation, stored, steps[2];
    double best; /* fitness of the best network */
} state;

enum { BOLTZMANN, NETS, ENCODINGS };
enum { LEAP = 10 }; /* deviation of strong noise on a weight, as a multiple of it */

typedef struct egrl {
    sx_run *run;
    const sx_egrl_options *o;
    const sx_placement_space *space;
    double baseline; /* the objective's value of the compiler's placement */
    sx_actor actor;
    sx_learner *learner;
    sx_population population[ENCODINGS];
    size_t n, room,
        fixed; /* chromosomes; transitions that there is room for; bytes of the state without these */
    state *s;
    float *best, *numbers, *reward;
    uint8_t *stored;
    uint8_t *points, *scratch;
    sx_outcome *outcome;
    size_t *who; /* by point: its chromosome; n: the learner's */
    const uint8_t **batch;
    float *batch_reward;
} egrl;

/* Bytes of a stored transition. */
static size_t transition_size(const egrl *e) {
    return sizeof(float) + e->space->space.point_size;
}

/* Sets the pointers into the state. */
static void lay_out(egrl *e) {
    double *fitness = (double *)(e->s + 1);
    uint64_t *known = (uint64_t *)(fitness + e->n);
    float *at = (float *)(known + e->n);
    for (int k = 0; k < ENCODINGS; k++) {
        sx_population *population = &e->population[k];
        population->fitness = fitness;
        population->known = known;
        population->now = at;
        fitness += population->n;
        known += population->n;
        at += population->n * population->length;
    }
    e->best = at;
    e->numbers = e->best + (e->population[NETS].n ? e->population[NETS].length : 0);
    if (e->learner) sx_learner_bind(e->learner, e->numbers, e->s->steps);
    e->reward = (float *)((char *)e->s + e->fixed);
    e->stored = (uint8_t *)(e->reward + e->room);
}

/* The reward of a placement: the square of its speedup, or minus its mapping error. */
static double reward_of(const egrl *e, const sx_outcome *outcome, const uint8_t *point) {
    if (outcome->reason == 0) {
        double speedup = outcome->value > 0 ? e->baseline / outcome->value : 1e3;
        return fmin(speedup * speedup, 1e6);
    }
    if (e->o->invalid < 0) return e->o->invalid;
    memcpy(e->scratch, point, e->space->space.point_size);
    return -(double)sx_placement_rectify(&e->space->space, e->scratch) / (double)e->space->total;
}

/* Makes room for n more transitions. */
static sx_status grow_transitions(egrl *e, size_t more) {
    size_t wanted = (size_t)e->s->stored + more, size = e->space->space.point_size, old = e->room;
    if (wanted > e->o->replay) wanted = e->o->replay;
    if (wanted <= e->room) return SX_OK;
    if (wanted < 2 * e->room) wanted = 2 * e->room < e->o->replay ? 2 * e->room : e->o->replay;
    state *grown = sx_run_state_resize(e->run, e->fixed + wanted * transition_size(e));
    if (!grown) return sx_error_memory();
    e->s = grown;
    e->room = wanted;
    lay_out(e);
    memmove(e->stored, (uint8_t *)(e->reward + old), old * size);
    return SX_OK;
}

/* Stores a transition. */
static void store_transition(egrl *e, const uint8_t *point, double reward) {
    size_t at = (size_t)(e->s->stored++ % e->o->replay), size = e->space->space.point_size;
    e->reward[at] = (float)reward;
    memcpy(e->stored + at * size, point, size);
}

/* Evaluates a placement that is always valid, where populations may find nothing that is: the most probable one of the
 * policy to begin from, rectified (transfer without training), or everything in the slowest memory, the paper's first mapping
 * (Table 2). */
static sx_status evaluate_first(egrl *e) {
    sx_outcome outcome;
    memset(e->scratch, 0, e->space->space.point_size);
    if (*e->o->policy) {
        if (!sx_actor_run(&e->actor, e->actor.own)) return sx_error_memory();
        sx_actor_greedy(&e->actor, e->scratch);
        (void)sx_placement_rectify(&e->space->space, e->scratch);
    }
    (void)sx_run_evaluate(e->run, e->scratch, 1, &outcome);
    return SX_OK;
}

/* Makes the first generation. */
static sx_status make_first_generation(egrl *e) {
    const sx_egrl_options *o = e->o;
    uint64_t seed = sx_run_seed(e->run);
    sx_run_evaluate_starts(e->run, 0);
    SX_TRY(evaluate_first(e));
    e->s->rng = sx_rng_stream(seed, "ea", 0);
    for (size_t i = 0; i < o->n_boltzmann; i++)
        sx_boltzmann_draw(e->space, &e->s->rng, o->lean,
                          e->population[BOLTZMANN].now + i * e->population[BOLTZMANN].length);
    size_t length = e->population[NETS].length, bytes = length * sizeof(float);
    for (size_t i = 0; i < o->n_nets; i++) {
        float *net = e->population[NETS].now + i * length;
        if (i == 0 && *o->policy)
            memcpy(net, e->actor.own, bytes);
        else
            sx_actor_draw(&e->actor, o->lean, sx_rng_next(&e->s->rng), net);
    }
    if (o->n_nets) memcpy(e->best, e->population[NETS].now, bytes);
    e->s->best = -2;
    if (e->learner) {
        if (*o->policy)
            memcpy(e->numbers, e->actor.own, bytes);
        else
            sx_actor_draw(&e->actor, o->lean, sx_rng_next(&e->s->rng), e->numbers);
        sx_learner_draw(e->learner, seed);
    }
    e->s->begun = 1;
    return SX_OK;
}

/* Lets every chromosome and the learner give a placement; returns how many, or 0 when memory is out. */
static size_t act_on_graph(egrl *e) {
    size_t n = 0, size = e->space->space.point_size;
    for (size_t i = 0; i < e->n; i++) {
        bool net = i >= e->population[BOLTZMANN].n;
        const sx_population *population = &e->population[net];
        size_t k = net ? i - e->population[BOLTZMANN].n : i;
        if (net && population->known[k]) continue;
        const float *chromosome = population->now + k * population->length;
        if (net && !sx_actor_run(&e->actor, chromosome)) return 0;
        e->who[n] = i;
        if (net)
            sx_actor_greedy(&e->actor, e->points + n++ * size);
        else
            sx_boltzmann_place(e->space, &e->s->rng, chromosome, e->points + n++ * size);
    }
    if (e->learner && !sx_actor_run(&e->actor, e->numbers)) return 0;
    for (unsigned i = 0; i < e->o->rollouts; i++, n++) {
        if (e->o->explore > 0)
            sx_actor_disturb(&e->actor, &e->s->rng, e->o->explore, e->points + n * size);
        else
            sx_actor_sample(&e->actor, &e->s->rng, e->points + n * size);
        e->who[n] = e->n;
    }
    return n;
}

/* Takes note of what a placement is worth. */
static void learn_of(egrl *e, size_t who, double reward) {
    sx_population *nets = &e->population[NETS];
    if (who == e->n) return;
    e->population[BOLTZMANN].fitness[who] = reward; /* those of both encodings lie one after another */
    if (who < e->population[BOLTZMANN].n) return;
    size_t i = who - e->population[BOLTZMANN].n;
    nets->known[i] = 1;
    if (reward <= e->s->best) return;
    e->s->best = reward;
    memcpy(e->best, nets->now + i * nets->length, nets->length * sizeof *e->best);
}

/* Evaluates the placements of a generation; *n becomes how many were. */
static sx_status evaluate_generation(egrl *e, size_t *n) {
    size_t size = e->space->space.point_size;
    *n = sx_run_evaluate(e->run, e->points, *n, e->outcome);
    if (e->learner) SX_TRY(grow_transitions(e, *n));
    for (size_t i = 0; i < *n; i++) {
        double reward = reward_of(e, &e->outcome[i], e->points + i * size);
        learn_of(e, e->who[i], reward);
        if (e->learner) store_transition(e, e->points + i * size, reward);
    }
    return SX_OK;
}

/* The share of an encoding among the elites. */
static double elite_share(const egrl *e, int encoding) {
    size_t all = e->population[BOLTZMANN].elites + e->population[NETS].elites;
    return all ? (double)e->population[encoding].elites / (double)all : 0;
}

/* How many chromosomes of both encodings are fitter than one, or as fit and before it. */
static size_t rank_of(const egrl *e, size_t which) {
    const double *fitness =
        e->population[BOLTZMANN].fitness; /* those of both encodings lie one after another */
    size_t rank = 0;
    for (size_t i = 0; i < e->n; i++)
        rank += fitness[i] > fitness[which] || (fitness[i] == fitness[which] && i < which);
    return rank;
}

/* Shares out the elites by one ranking: how many each encoding has, all but one of its chromosomes at most. */
static void share_elites(egrl *e) {
    size_t all = (size_t)(e->o->elites * (double)e->n + 0.5), first = 0;
    for (int k = 0; k < ENCODINGS; first += e->population[k++].n) {
        sx_population *population = &e->population[k];
        population->elites = 0;
        for (size_t i = 0; i < population->n; i++) population->elites += rank_of(e, first + i) < all;
        if (population->elites >= population->n && population->n) population->elites = population->n - 1;
    }
}

/* Breeding: what children of Boltzmann chromosomes and of networks are made by. A network that meets an elite of the other
 * encoding is not crossed. */
static bool keep_child(void *user, float *child) {
    egrl *e = user;
    (void)child;
    return sx_rng_double(&e->s->rng) < elite_share(e, BOLTZMANN);
}
static bool seed_child(void *user, float *child) {
    egrl *e = user;
    const sx_population *nets = &e->population[NETS];
    const double seeding = e->o->common ? elite_share(e, NETS) : e->o->seeding;
    if (nets->n == 0 || seeding <= 0 || sx_rng_double(&e->s->rng) >= seeding) return false;
    size_t elites = nets->elites ? nets->elites : 1, which = (size_t)sx_rng_below(&e->s->rng, elites);
    if (!sx_actor_run(&e->actor, nets->now + which * nets->length)) return false;
    sx_boltzmann_seed(e->space, e->actor.probability, child);
    return true;
}
static void mutate_boltzmann(void *user, float *child) {
    egrl *e = user;
    sx_boltzmann_mutate(e->space, &e->s->rng, e->o->sigma, child);
}
/* A weight after mutation: noise in proportion to it, now and then far stronger noise or a new value. */
static double mutate_weight(egrl *e, double weight) {
    const double kind = sx_rng_double(&e->s->rng), normal = sx_normal(&e->s->rng);
    if (kind < e->o->resets) return normal;
    const double strength = kind < e->o->resets + e->o->leaps ? LEAP : e->o->weight_sigma;
    return weight + strength * fabs(weight) * normal;
}
static void mutate_net(void *user, float *child) {
    egrl *e = user;
    size_t length = e->population[NETS].length;
    for (size_t i = 0; i < 1 + length / 10; i++) {
        float *weight = child + sx_rng_below(&e->s->rng, length);
        *weight = (float)fmin(fmax(mutate_weight(e, (double)*weight), -100), 100);
    }
}

/* Breeds both encodings: networks first, whose elites then seed the others. */
static void breed_populations(egrl *e) {
    sx_breeding b = {.rng = &e->s->rng,
                     .tournament = e->o->tournament,
                     .mutation = e->o->mutation,
                     .user = e,
                     .seed = e->o->common ? keep_child : NULL,
                     .mutate = mutate_net};
    if (e->o->common) share_elites(e);
    if (e->population[NETS].n) sx_population_breed(&e->population[NETS], &b);
    b.mutate = mutate_boltzmann;
    b.seed = seed_child;
    if (e->population[BOLTZMANN].n) sx_population_breed(&e->population[BOLTZMANN], &b);
}

/* Updates of the learner, each by a batch of stored transitions. */
static sx_status update_learner(egrl *e, size_t evaluations) {
    size_t have = (size_t)(e->s->stored < e->o->replay ? e->s->stored : e->o->replay);
    uint64_t n = (uint64_t)ceil((double)evaluations * e->o->updates);
    for (uint64_t k = 0; k < n && have > 0 && !sx_run_stopped(e->run); k++) {
        for (size_t i = 0; i < e->o->learner.batch; i++) {
            size_t at = (size_t)sx_rng_below(&e->s->rng, have);
            e->batch[i] = e->stored + at * e->space->space.point_size;
            e->batch_reward[i] = (float)(e->o->scale * (double)e->reward[at]);
        }
        if (!sx_learner_update(e->learner, &e->s->rng, e->batch, e->batch_reward)) return sx_error_memory();
    }
    return SX_OK;
}

/* Copies the learner over the last child of the networks. */
static void migrate_learner(egrl *e) {
    const sx_population *nets = &e->population[NETS];
    if (!nets->n || !e->o->migration || e->s->generation % e->o->migration) return;
    memcpy(nets->now + (nets->n - 1) * nets->length, e->numbers, nets->length * sizeof *nets->now);
    nets->known[nets->n - 1] = 0;
}

/* One generation. */
static sx_status run_generation(egrl *e) {
    size_t n = act_on_graph(e);
    if (n == 0) return sx_error_memory();
    SX_TRY(evaluate_generation(e, &n));
    if (sx_run_stopped(e->run)) return SX_OK;
    breed_populations(e);
    e->s->generation++;
    if (!e->learner) return SX_OK;
    SX_TRY(update_learner(e, n));
    migrate_learner(e);
    return SX_OK;
}

/* Whether all numbers are within bounds that a search keeps. */
static bool all_within(const float *x, size_t n, double most) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)x[i]) <= most)) return false;
    return true;
}

/* Whether a state out of a checkpoint can be one. */
static bool state_sound(const egrl *e) {
    const state *s = e->s;
    uint64_t have = s->stored < e->o->replay ? s->stored : e->o->replay;
    const sx_population *population = e->population;
    if (!s->begun) return s->stored == 0;
    if (!sx_rng_holds(&s->rng) || !isfinite(s->best) || have > e->room) return false;
    if (s->steps[0] >> 40 || s->steps[1] >> 40) return false;
    for (size_t i = 0; i < e->n; i++)
        if (!isfinite(population[0].fitness[i]) || population[0].known[i] > 1) return false;
    for (size_t i = 0; i < population[BOLTZMANN].n; i++)
        if (!sx_boltzmann_holds(e->space, population[BOLTZMANN].now + i * population[BOLTZMANN].length))
            return false;
    const float *nets = population[NETS].now, *end = (const float *)((const char *)s + e->fixed);
    if (!all_within(nets, (size_t)(end - nets), 1e30) || !all_within(e->reward, (size_t)have, 1e6))
        return false;
    return sx_run_holds(e->run, e->stored, (size_t)have);
}

/* Makes the state, or takes over that of a checkpoint. */
static sx_status prepare_state(egrl *e, bool *resumed) {
    size_t floats = e->learner ? sx_learner_size(e->learner) : 0;
    for (int k = 0; k < ENCODINGS; k++) floats += e->population[k].n * e->population[k].length;
    if (e->population[NETS].n) floats += e->population[NETS].length;
    e->fixed =
        sizeof *e->s + e->n * (sizeof(double) + sizeof(uint64_t)) + (floats + floats % 2) * sizeof(float);
    size_t size = e->fixed;
    e->s = sx_run_state_sized(e->run, &size, resumed);
    if (!e->s) return sx_error_memory();
    if (size < e->fixed || (size - e->fixed) % transition_size(e)) return sx_run_damaged(e->run);
    e->room = (size - e->fixed) / transition_size(e);
    lay_out(e);
    return !*resumed || state_sound(e) ? SX_OK : sx_run_damaged(e->run);
}

/* Makes networks, learner and room for the work. */
static sx_status prepare_search(egrl *e, bool *resumed) {
    const sx_egrl_options *o = e->o;
    size_t points = e->n + o->rollouts, size = e->space->space.point_size;
    e->population[BOLTZMANN] = (sx_population){.n = o->n_boltzmann, .length = sx_boltzmann_length(e->space)};
    if (o->n_nets || o->rollouts) {
        if (*o->policy)
            SX_TRY(sx_actor_read(e->space, o->policy, &e->actor));
        else
            SX_TRY(sx_actor_init(e->space, o->channels, o->depth, &e->actor));
        e->population[NETS] = (sx_population){.n = o->n_nets, .length = e->actor.net->n_parameters};
    }
    if (o->rollouts) SX_TRY(sx_learner_new(&o->learner, &e->actor, &e->learner));
    for (int k = 0; k < ENCODINGS; k++) {
        e->population[k].elites = (size_t)(o->elites * (double)e->population[k].n + 0.5);
        if (e->population[k].elites >= e->population[k].n && e->population[k].n)
            e->population[k].elites = e->population[k].n - 1;
        SX_TRY(sx_population_init(&e->population[k]));
    }
    e->points = malloc(points * size + 1);
    e->scratch = malloc(size + 1);
    e->outcome = malloc((points + 1) * sizeof *e->outcome);
    e->who = malloc((points + 1) * sizeof *e->who);
    e->batch = malloc((o->learner.batch + 1) * sizeof *e->batch);
    e->batch_reward = malloc((o->learner.batch + 1) * sizeof *e->batch_reward);
    if (!e->points || !e->scratch || !e->outcome || !e->who || !e->batch || !e->batch_reward)
        return sx_error_memory();
    return prepare_state(e, resumed);
}

static void free_egrl(egrl *e) {
    for (int k = 0; k < ENCODINGS; k++) sx_population_fini(&e->population[k]);
    sx_learner_free(e->learner);
    sx_actor_fini(&e->actor);
    free(e->points);
    free(e->scratch);
    free(e->outcome);
    free(e->who);
    free(e->batch);
    free(e->batch_reward);
}

sx_status sx_egrl_search(sx_run *run, const sx_egrl_options *options) {
    const sx_placement_space *space = sx_placement_space_of(sx_run_space(run));
    const sx_metrics compiled = {{[SX_PLACE_ENERGY] = sx_place_energy(space, space->compiled),
                                  [SX_PLACE_LATENCY] = (double)space->baseline / SX_FEMTO}};
    egrl e = {.run = run,
              .o = options,
              .space = space,
              .baseline = sx_goal_value(sx_run_goal(run), &compiled),
              .n = options->n_boltzmann + options->n_nets};
    bool resumed;
    sx_status status = prepare_search(&e, &resumed);
    while (!status && sx_run_continue(run)) {
        if (!e.s->begun) status = make_first_generation(&e);
        if (!status && !sx_run_stopped(run)) status = run_generation(&e);
    }
    if (!status && *options->save && e.s->begun)
        status = sx_actor_write(&e.actor, options->n_nets ? e.best : e.numbers, options->save);
    free_egrl(&e);
    return status;
}
