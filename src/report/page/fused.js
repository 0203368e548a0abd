/* Draws the fused network of a result, with the elements and formats of the page. */
'use strict';
const fusedSections = ({h, s, colour, list, object, objects, number, word, count, scaled, energy, percent, table, stacks, legend, plot, dot, panel, cards}) => {
/* The loops of a fused group as a tree, with its layers inside. */
function loopTree(group) {
  const layers = list(group.layers).map(name => h('li', null, word(name)));
  return objects(group.loops).reduceRight((inside, loop) =>
    [h('li', null, `for ${word(loop.dimension)} in ${count(loop.bound)}`, h('ul', null, inside))], layers);
}

/* The staircase of a memory's sizes: energy by size. */
function staircase(sizes) {
  const points = sizes.map(size => [number(size.words), number(size.energy_pj)]).filter(p => p[0] > 0 && p[1] > 0).sort((a, b) => a[0] - b[0]);
  if (points.length < 2) return null;
  return panel('The best plan for each size of the memory', plot('energy against words on chip', {label: 'words', log: true, values: points.map(p => p[0])},
    {label: 'energy (pJ)', log: false, values: [0, ...points.map(p => p[1])]}, (X, Y) => [
      s('path', {class: 'line', fill: 'none', stroke: colour(0), d: points.map((p, i) => i ? `H${X(p[0])}V${Y(p[1])}` : `M${X(p[0])} ${Y(p[1])}`).join('')}),
      points.map(p => dot(X, Y, p, 0, `${count(p[0])} words\n${energy(p[1])}`))]));
}

/* The use of an exchange memory over time; its keys begin with `prefix`. */
function memoryOverTime(fused, level, capacity, prefix) {
  const uses = objects(fused.memory).map(use => {
    const words = [['stays', use[`${prefix}resident`]], ['tiles', use[`${prefix}tiles`]]].map(([name, value]) => [name, number(value) || 0]);
    return {name: word(use.layer), text: percent((words[0][1] + words[1][1]) / capacity),
      parts: words.map(([name, value], i) => ({name, value, tip: `${count(value)} words`, colour: i}))};
  });
  return panel(`${level} over time, layer by layer`, stacks(uses, capacity), legend(['stays', 'tiles']));
}

/* A fused network: groups, tensors that stay, the memory over time, the staircase. */
function fusedSection(fused) {
  const [level = 'memory', second] = Object.keys(object(fused.peak)), groups = objects(fused.groups);
  return [h('h3', null, `Fused, with tensors exchanged in ${second ? `${level} and ${second}` : level}`),
    cards([['energy', energy(fused.energy_pj)], ['unfused', energy(object(fused.unfused).energy_pj)], ['cycles', scaled(fused.cycles, '')],
      ...(fused.latency === undefined ? [] : [['latency', scaled(fused.latency, '')]]),
      ['DRAM traffic', scaled(fused.dram_bytes, 'B')], ['unfused', scaled(fused.dram_bytes_unfused, 'B')], ['gap', fused.optimal ? 'proven' : percent(fused.gap)]]),
    table(['group', 'stays', 'in', 'from', 'to', 'words', 'loops around', 'DRAM saved', 'rows kept', 'rows again'], groups.flatMap((group, g) => objects(group.tensors).map(t =>
      [g + 1, word(t.name), word(t.level), word(t.from), word(t.to), number(t.words), number(t.depth), {v: t.saved_bytes, t: scaled(t.saved_bytes, 'B')}, number(t.rows_kept) || 0, number(t.rows_again) || 0]))),
    h('div', {class: 'panels'}, panel('Loops of the groups', groups.map((group, g) => h('div', null, `group ${g + 1}: ${energy(group.energy_pj)}`, h('ul', {class: 'tree'}, loopTree(group))))),
      memoryOverTime(fused, level, number(fused.capacity), ''), second ? memoryOverTime(fused, second, number(fused.second_capacity), 'second_') : null,
      staircase(objects(fused.staircase)))];
}

return fusedSection;
};
