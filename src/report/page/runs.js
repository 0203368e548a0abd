/* Shows the runs of a network: totals, what they come to on the machine, and their operators. */
'use strict';
const runSections = ({h, object, objects, number, word, count, digits, scaled, energy, percent, table, cards}) => {
const bytes = value => ({v: number(value), t: scaled(value, 'B')});

/* Operators with their times, and what limits each. */
function timedOperators(serving) {
  return table(['operator', 'times', 'time', 'share', 'limited by', 'bytes', 'FLOP/B', 'energy'], objects(serving.operators).map(o => {
    const time = object(o.time), share = number(o.times) * number(time.seconds) / number(serving.seconds), flops = 2 * number(o.macs) / number(o.bytes);
    return [word(o.name), number(o.times), {v: number(time.seconds), t: scaled(time.seconds, 's')}, {v: share, t: percent(share)}, word(time.limit),
      bytes(o.bytes), {v: flops, t: flops > 0 ? digits(flops) : ''}, {v: number(o.energy_pj), t: energy(o.energy_pj)}];
  }));
}

/* Vector operators on a vector unit, in cycles. */
function vectorOperators(vector) {
  return vector.unit === true && table(['vector operator', 'count', 'operations', 'cycles', 'energy'], objects(vector.operators).map(o =>
    [word(o.name), number(o.count), number(o.operations), number(o.cycles), {v: number(o.energy_pj), t: energy(o.energy_pj)}]));
}

/* One run. */
function runSection(run) {
  const totals = object(run.totals), serving = object(run.serving), vector = object(run.vector);
  const tokens = number(totals.tokens) > 0 ? ` of ${count(totals.tokens)} tokens after ${count(totals.context)}` : '';
  return [h('h3', null, `${word(totals.phase)}${tokens}, batch ${count(totals.batch)}`),
    cards([[totals.phase === 'decode' ? 'time per token' : totals.phase === 'prefill' ? 'time to the first token' : 'time of a run', scaled(serving.seconds, 's')],
      [tokens ? 'tokens/s' : 'inputs/s', digits(serving.tokens_per_second)], [tokens ? 'energy per token' : 'energy per input', scaled(serving.joules_per_token, 'J')],
      ['chips', number(serving.chips) > 1 ? count(serving.chips) : '\u2013'], ['parameters', scaled(totals.params, '')], ['MACs', scaled(totals.macs, '')],
      ['weights', scaled(totals.weights_bytes, 'B')], ['weights read', scaled(totals.weights_read_bytes, 'B')], ['caches', scaled(totals.kv_cache_bytes, 'B')],
      ['cache of a token', scaled(serving.kv_bytes_per_token, 'B')], ['fits', word(serving.fits)], ['largest batch', count(serving.largest_batch)],
      vector.unit === true ? ['cycles of vector operators', scaled(vector.cycles, '')] : ['vector operators, not in the totals', count(totals.vector_ops)]]),
    serving.operators ? timedOperators(serving) : vectorOperators(vector)];
}

return input => (input.runs ? objects(input.runs) : input.totals ? [input] : []).map(runSection);
};

/* What was minimised, a sum over the layers or a figure of the network, and what is proven of it. */
const objectiveCards = ({power, percent}, rows, total, name) => {
  const own = total.objective_of === 'network', n = rows.filter(r => own ? r.layer.front_proven : r.layer.optimal).length;
  return [[own ? 'fronts proven' : 'proven optimal', `${n} of ${rows.length}`],
    ...total.objective > 0 ? [[own ? name : `sum of the layers' ${name}`, power(total.objective)]] : [],
    ...total.lower_bound > 0 ? [[own ? `gap of ${name}` : 'gap of the sum', total.gap > 0 ? percent(total.gap) : 'proven']] : []];
};
