/* Draws the page from the data in it. Texts are only ever set as text, so that no name can be markup. */
'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const svgSpace = document.getElementById('ns').namespaceURI;

/* Elements: attributes that are null, undefined or false are left out; so are children. */
function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {}))
    if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(svgSpace, tag), attributes, children);
const colour = i => `var(--c${i % 8})`;

/* Values that a file may lack or have of another type. */
const list = value => Array.isArray(value) ? value : [];
const object = value => value && typeof value === 'object' ? value : {};
const objects = value => list(value).map(object), traceOf = value => list(object(value).trace).filter(Array.isArray);
const number = value => typeof value === 'number' && isFinite(value) ? value : NaN;
const word = value => ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : '\u2013';
const sum = values => values.reduce((a, b) => a + (number(b) || 0), 0);

/* Numbers for people; what is no number is a dash. */
const shown = format => (value, ...more) => number(value) === value ? format(value, ...more) : '\u2013';
const digits = shown((x, n = 4) => String(Number(x.toPrecision(n))));
const count = shown(x => Math.abs(x) >= 1e10 ? x.toExponential(3) : Math.abs(x) >= 1000 ? Math.round(x).toLocaleString('en-US') : digits(x));
const scaled = shown((x, unit) => {
  const prefixes = ['f', 'p', 'n', '\u00b5', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
  let at = 5;
  for (; Math.abs(x) >= 999.95 && at < 11; at++) x /= 1000;
  for (; x !== 0 && Math.abs(x) < 0.99995 && at > 0; at--) x *= 1000;
  return `${digits(x)} ${prefixes[at]}${unit}`.trim();
});
const energy = pj => scaled(number(pj) * 1e-12, 'J');
const percent = shown(x => x > 0 && x < 0.0005 ? '<0.1 %' : `${(100 * x).toFixed(1)} %`);
const power = shown(x => x === 0 ? '0' : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(3) : digits(x));

/* A table that sorts by a click on a heading. A cell is {v: what sorts, t: what is shown}, or a plain value. */
function table(names, rows, foot) {
  const cell = c => c !== null && typeof c === 'object' ? c : {v: c, t: typeof c === 'number' ? count(c) : c};
  const textual = names.map((_, i) => rows.length > 0 && rows.every(r => typeof cell(r[i]).v === 'string'));
  const line = row => h('tr', null, row.map((c, i) => {
    const {v, t, tip, kind} = cell(c);
    return h('td', {class: [textual[i] && 'text', kind].filter(Boolean).join(' ') || null, 'data-tip': tip},
      t === undefined ? v : t);
  }));
  const lines = rows.map(row => ({keys: row.map(c => cell(c).v), element: line(row)})), body = h('tbody', null, lines.map(l => l.element));
  const heads = names.map((name, i) => {
    const button = h('button', {type: 'button'}, name), head = h('th', {class: textual[i] && 'text', scope: 'col'}, button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
      heads.forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down < 0 ? 'descending' : 'ascending');
      const rank = v => v === undefined || v === null || v !== v ? Infinity : v;
      lines.sort((a, b) => {
        const [x, y] = [rank(a.keys[i]), rank(b.keys[i])];
        if (x === Infinity || y === Infinity) return x === y ? 0 : x === Infinity ? 1 : -1;
        return down * (typeof x === 'string' || typeof y === 'string' ? String(x).localeCompare(String(y), 'en', {numeric: true}) : x - y);
      });
      body.append(...lines.map(l => l.element));
    });
    return head;
  });
  return h('div', {class: 'scroll'}, h('table', null, h('thead', null, h('tr', null, heads)), body,
    foot && h('tfoot', null, line(foot))));
}

/* Horizontal stacks, one per row {name, parts: [{name, value, tip, colour}], text}, all to one scale. */
function stacks(rows, most) {
  const full = most || Math.max(...rows.map(r => sum(r.parts.map(p => p.value))), 1e-300);
  return rows.map(r => h('div', {class: 'row'}, h('span', {'data-tip': r.name}, r.name),
    h('span', {class: 'bar'}, r.parts.filter(p => p.value > 0).map(p =>
      h('i', {style: `width:${100 * Math.min(1, p.value / full)}%;background:${colour(p.colour)}`, 'data-tip': `${r.name}, ${p.name}: ${p.tip}`}))),
    h('span', null, r.text)));
}
const legend = names => h('div', {class: 'legend'}, names.map((name, i) => h('span', null, h('i', {style: `background:${colour(i)}`}), name)));

/* A plot: axes {label, log, values} for x and y, and marks drawn by a function of the two scales. */
function plot(title, x, y, draw) {
  const width = 520, height = 300, left = 72, right = 14, top = 12, bottom = 44;
  const scale = (axis, from, to) => {
    const values = axis.values.filter(v => v === v && (!axis.log || v > 0));
    let low = Math.min(...values), high = Math.max(...values);
    if (!values.length) [low, high] = axis.log ? [1, 10] : [0, 1];
    if (axis.zero) low = 0;
    if (low === high) [low, high] = axis.log ? [low / 2, high * 2] : [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
    const f = axis.log ? Math.log10 : v => v, pad = 0.05 * (f(high) - f(low)), a = axis.zero ? 0 : f(low) - pad, b = f(high) + pad;
    const at = Object.assign(v => from + (to - from) * (f(v) - a) / (b - a), {ticks: []});
    const step = 10 ** Math.floor(Math.log10((b - a) / 2)), by = (b - a) / step > 10 ? 5 * step : (b - a) / step > 5 ? 2 * step : step;
    if (axis.log && b - a > 1) for (let e = Math.ceil(a); e <= b; e += Math.ceil((b - a) / 6)) at.ticks.push(10 ** e);
    else if (axis.log) for (let e = Math.floor(a); e <= b; e++) for (const m of [1, 2, 3, 5, 7]) at.ticks.push(m * 10 ** e);
    else for (let v = Math.ceil(a / by) * by; v <= b + 1e-9 * by; v += by) at.ticks.push(Math.abs(v) < by / 1e6 ? 0 : v);
    return Object.assign(at, {ticks: at.ticks.filter(v => f(v) >= a && f(v) <= b)});
  };
  const X = scale(x, left, width - right), Y = scale(y, height - bottom, top);
  const raised = n => [...String(n)].map(d => d === '-' ? '\u207b' : '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079'[d]).join('');
  const label = v => {
    if (v === 0 || (Math.abs(v) < 1e4 && Math.abs(v) >= 1e-3)) return digits(v);
    const [mantissa, exponent] = v.toExponential(3).split('e');
    return `${Number(mantissa) === 1 ? '' : Number(mantissa) + '\u00d7'}10${raised(Number(exponent))}`;
  };
  return s('svg', {class: 'plot', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title},
    X.ticks.map(v => [s('line', {class: 'grid', x1: X(v), x2: X(v), y1: top, y2: height - bottom}),
      s('text', {x: X(v), y: height - bottom + 16, 'text-anchor': 'middle'}, label(v))]),
    Y.ticks.map(v => [s('line', {class: 'grid', x1: left, x2: width - right, y1: Y(v), y2: Y(v)}),
      s('text', {x: left - 6, y: Y(v) + 4, 'text-anchor': 'end'}, label(v))]),
    s('path', {class: 'frame', d: `M${left} ${top}V${height - bottom}H${width - right}`}),
    s('text', {x: (left + width - right) / 2, y: height - 8, 'text-anchor': 'middle'}, x.label),
    s('text', {transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle'}, y.label),
    draw(X, Y, {left, right: width - right, top, bottom: height - bottom}));
}
const dot = (X, Y, p, i, tip, radius = 5) => s('circle', {class: 'dot', cx: X(p[0]), cy: Y(p[1]), r: radius, fill: colour(i), 'data-tip': tip, tabindex: 0});

/* The best so far: steps from one [evaluations, seconds, value] to the next, up to the last evaluation. */
function steps(X, Y, trace, end, i, name) {
  const points = trace.filter(p => p[0] > 0 && number(p[2]) === p[2]);
  if (!points.length) return null;
  const d = points.map((p, k) => k ? `H${X(p[0])}V${Y(p[2])}` : `M${X(p[0])} ${Y(p[2])}`).join('') + `H${X(Math.max(end, points[points.length - 1][0]))}`;
  return [s('path', {class: 'curve', d, stroke: colour(i)}), points.map(p => dot(X, Y, [p[0], p[2]], i,
    `${name}${power(p[2])} after ${count(p[0])} evaluations`, 3))];
}
const soft = (...children) => h('p', {class: 'soft'}, children), cell = (value, format) => ({v: number(value), t: format(number(value))});
const panel = (title, ...children) => h('section', {class: 'panel'}, h('h3', null, title), children);
const cards = pairs => h('div', {class: 'cards'}, pairs.filter(p => p && p[1] !== '\u2013').map(([name, value]) =>
  h('div', {class: 'card'}, h('b', null, value), h('span', null, name))));

/* A mapper without its settings, which the hint has. */
const mapperOf = text => h('span', {'data-tip': text}, String(text).split(':')[0]);

/* The certificates that were checked, from inputs of `verify`. */
const checked = data.inputs.filter(i => i.kind === 'verify').flatMap(i => list(object(i.result).results));
function certificate(layer) {
  const best = object(layer.best);
  return checked.find(c => String(c.problem).split('/').pop() === String(layer.problem).split('/').pop() &&
    Math.abs(c.value - best.objective) <= 1e-9 * Math.abs(c.value));
}
function proof(layer) {
  const c = certificate(layer), value = object(layer.best).objective, gap = value / layer.lower_bound - 1, any = object(layer.any_tiles),
    beside = layer.proven_tiles === 'divide';
  if (c && c.holds) return {v: c.optimal ? -2 : gap, t: c.optimal ? 'certified optimal' : `certified, gap ${percent(gap)}`, kind: 'good',
    tip: `${c.file}: the certificate holds`};
  if (c && c.complete) return {v: 9, t: 'certificate fails', kind: 'bad', tip: String(c.why || c.file)};
  if (layer.optimal) return {v: -1, t: beside ? 'optimal among tiles that divide' : 'proven optimal', kind: 'good', tip:
    beside ? any.lower_bound > 0 ? `with remainders at most ${percent(value / any.lower_bound - 1)} better` : 'remainders were not searched' : 'no mapping in the space is better'};
  if (layer.lower_bound > 0) return {v: gap, t: `gap ${percent(gap)}`, kind: 'warn', tip: `lower bound ${power(layer.lower_bound)}`};
  return layer.front_proven ? {v: -1, t: 'front proven', kind: 'good'} : {v: 8, t: 'front_proven' in layer ? 'front not proven' : 'no bound', kind: 'soft'};
}

/* The distinct layers of a result of `map`, with how often each runs and what its mapping costs. */
function layersOf(input) {
  const all = list(object(input.result).results), rows = [];
  all.forEach((layer, i) => {
    const first = layer.same_as === undefined ? null : rows.find(r => r.layer.problem === layer.same_as);
    if (first) first.times += number(layer.count) || 0;
    else rows.push({layer, times: number(layer.count) || 0, detail: input.details[i], best: object(layer.best)});
  });
  return rows;
}
const nameOf = (network, rows) => rows.length !== 1 || rows[0].problem === network ? network : `${network}/${word(rows[0].problem).split('/').pop()}`;
const titleOf = input => `${nameOf(word(input.result.network), objects(input.result.results))} on ${word(object(object(input.result.architecture).arch).name)}`;
const clockOf = input => number(object(object(object(input.result).total).figures).clock_hz);

/* The loops as nested boxes, a box for each level. */
function nest(input, detail) {
  const levels = [...input.levels].reverse(), tensors = detail.cost.levels;
  const inner = at => {
    if (at === levels.length) return h('div', {class: 'nest', style: `color:${colour(0)};border-left-color:${colour(0)}`},
      h('div', {class: 'loop'}, h('b', null, input.compute), h('em', null, ' multiply-accumulate')));
    const level = levels[at], index = levels.length - 1 - at;
    const kept = tensors[index].tensors.filter(t => t.kept).map(t => t.name);
    const loops = detail.loops.filter(l => l.level === level.name).map(l => h('div', {class: 'loop'},
      l.axis ? h('span', {class: 'axis', 'data-tip': `spread over ${l.factor} instances along ${l.axis}`}, `par-for`) : h('em', null, 'for'),
      ` ${l.dim} `, h('em', null, 'in'), ` [0:${l.factor})`, l.last !== l.factor && h('em', null, `, last ${l.last}`), l.axis && h('em', null, ` (${l.axis})`)));
    if (level.fanout && !loops.length) return inner(at + 1);
    return h('div', {class: 'nest', style: `color:${colour(index + 1)};border-left-color:${colour(index + 1)}`},
      h('div', {class: 'loop'}, h('b', null, level.name), h('em', null, kept.length ? ` keeps ${kept.join(', ')}` : level.fanout ? '' : ' bypassed')),
      loops, inner(at + 1));
  };
  return h('div', {class: 'nesting'}, inner(0));
}

/* What each level holds, moves and spends. */
function memories(input, detail) {
  const levels = detail.cost.levels.map((l, i) => ({...l, ...input.levels[i]})).reverse().filter(l => !l.fanout);
  const parts = (l, of, shown) => l.tensors.map((t, i) => ({name: t.name, value: of(t), tip: shown(of(t)), colour: i}));
  const names = detail.cost.levels[0].tensors.map(t => t.name);
  const held = levels.filter(l => l.capacity > 0).map(l => {
    const words = t => t.utilized_words ?? t.utilized_capacity, used = sum(l.tensors.map(words));
    return {name: l.name, text: `${percent(used / l.capacity)} of ${scaled(l.capacity * l.bits / 8, 'B')}`,
      parts: parts(l, t => words(t) / l.capacity, v => `${count(v * l.capacity)} words, ${percent(v)}`)};
  });
  const bytes = (l, t) => (t.total_reads + t.total_fills + t.total_updates) * (t.bits ?? l.bits) / 8;
  const moved = levels.map(l => ({name: l.name, text: scaled(sum(l.tensors.map(t => bytes(l, t))), 'B'),
    parts: l.tensors.map((t, i) => ({name: t.name, value: bytes(l, t), colour: i, tip: `${scaled(bytes(l, t), 'B')}: ${count(t.total_reads)} reads, ` +
      `${count(t.total_fills)} fills, ${count(t.total_updates)} updates`}))}));
  const cost = detail.cost, networks = sum(cost.networks.map(n => n.energy_pj)), other = names.length;
  const spent = levels.map(l => ({name: l.name, text: `${energy(l.energy_pj)}, ${percent(l.energy_pj / cost.energy_pj)}`,
    parts: [...parts(l, t => t.energy_pj, energy), {name: 'leakage', value: l.leakage_pj, tip: energy(l.leakage_pj), colour: other}]}));
  for (const [name, value] of [[input.compute, cost.compute_energy_pj], ['networks', networks]])
    if (value > 0) spent.push({name, text: `${energy(value)}, ${percent(value / cost.energy_pj)}`, parts: [{name, value, tip: energy(value), colour: other}]});
  return [panel('Memory occupancy', stacks(held, 1), legend(names)), panel('Traffic, all instances', stacks(moved), legend(names)),
    panel('Energy', stacks(spent), legend([...names, 'computes, leakage, networks']))];
}

/* Convergence with the bound, and the front. */
function convergence(layer) {
  const trace = traceOf(layer), bound = number(layer.lower_bound), end = number(layer.evaluations);
  if (trace.length < 2) return null;
  const values = [...trace.map(p => p[2]), bound];
  return panel('Convergence', plot('best objective over evaluations', {label: 'evaluations', log: true, values: [...trace.map(p => p[0]), end]},
    {label: layer.objective, log: true, values}, (X, Y, frame) => [
      bound > 0 && [s('path', {class: 'bound', d: `M${frame.left} ${Y(bound)}H${frame.right}`, 'data-tip': `lower bound ${power(bound)}`}),
        s('text', {class: 'name', x: frame.right, y: Y(bound) - 5, 'text-anchor': 'end'}, layer.optimal ? 'lower bound = optimum' :
          `lower bound, gap ${percent(object(layer.best).objective / bound - 1)}`)],
      steps(X, Y, trace, end, 0, '')]));
}
function front(layer) {
  const points = list(layer.pareto).map(p => object(p.best));
  if (!points.length) return null;
  const best = object(layer.best), at = p => [p.cycles, p.energy_pj / 1e6];
  return panel('Pareto front', plot('energy over cycles', {label: 'cycles', values: points.map(p => p.cycles)},
    {label: 'energy (\u00b5J)', values: points.map(p => p.energy_pj / 1e6)}, (X, Y) => [
      s('path', {class: 'curve', stroke: colour(0), d: [...points].sort((a, b) => a.cycles - b.cycles).map(at).map(([x, y], i) =>
        i ? `H${X(x)}V${Y(y)}` : `M${X(x)} ${Y(y)}`).join('')}),
      points.map(p => dot(X, Y, at(p), p.cycles === best.cycles && p.energy_pj === best.energy_pj ? 1 : 0,
        `${count(p.cycles)} cycles\n${energy(p.energy_pj)}\nEDP ${power(p.edp)}`))]));
}

function layerDetails(input, id, row) {
  const {layer, detail, best} = row, p = proof(layer), figures = object(layer.figures);
  const bytes = list(figures.tensors).map((t, i) => `${i ? ', ' : ': '}${t.name} ${scaled(t.dram_bytes, 'B')} of ${t.bits}-bit words`);
  return h('details', {id},
    h('summary', null, h('b', null, layer.problem), h('span', null, `${count(best.cycles)} cycles, ${energy(best.energy_pj)}`),
      h('span', {class: p.kind}, p.t), layer.diagnosis && h('span', {class: 'bad'}, 'no mapping')),
    h('div', null, h('p', {class: 'mono soft'}, layer.einsum), layer.diagnosis && h('p', null, layer.diagnosis),
      detail && h('p', null, detail.cost.limited_by ? `Bandwidth bound at ${detail.cost.limited_by}.` : 'Compute bound.',
        ` ${percent(best.utilization)} of the compute units in use; ${scaled(figures.dram_bytes, 'B')} to and from DRAM`, bytes, '.'),
      soft(`${count(layer.evaluations)} evaluations by `, mapperOf(layer.mapper), `, seed ${layer.seed}.`),
      h('div', {class: 'columns'}, detail && [panel('Loop nest', nest(input, detail)), memories(input, detail), tilePipeline({s, soft, panel, stacks, legend, objects, number, sum, count, colour}, detail.cost)], convergence(layer), front(layer)),
      !detail && layer.best && soft('The model gives another cost for this mapping than the file has: no details.')));
}

/* Each layer below the peak of the compute units and the bandwidth of the DRAM. */
function roofline(input, rows) {
  const clock = clockOf(input), rate = clock ? 2e-12 * clock : 1, unit = clock ? 'TOPS' : 'MACs/cycle';
  const peak = input.peak * rate, slope = number(input.bandwidth) * rate, ridge = peak / slope;
  const points = rows.filter(r => r.detail).map(({layer, detail}) => ({name: layer.problem,
    at: [detail.macs / detail.cost.figures.dram_bytes, detail.macs / detail.cost.cycles * rate]}));
  return panel('Roofline', plot('roofline',
    {label: 'MACs per byte of DRAM traffic', log: true, values: [...points.map(p => p.at[0]), ridge, ridge / 3]},
    {label: unit, log: true, values: [...points.map(p => p.at[1]), peak, peak / 3]}, (X, Y, frame) => [
      s('path', {class: 'roof', d: (ridge > 0 ? `M${X(ridge / 3)} ${Y(peak / 3)}L${X(ridge)} ${Y(peak)}` : `M${frame.left} ${Y(peak)}`) + `H${frame.right}`}),
      s('text', {class: 'name', x: frame.left + 6, y: Y(peak) + 15}, `peak ${digits(peak)} ${unit}`),
      points.map((p, i) => dot(X, Y, p.at, i, `${p.name}\n${digits(p.at[0])} MACs/B\n${digits(p.at[1])} ${unit}`)), dotNames(s, points, X, Y, frame)]));
}

function mapSection(input, section) {
  const result = input.result, rows = layersOf(input), total = object(result.total), repeat = object(result.repeat);
  const figures = object(total.figures), clock = clockOf(input), cycles = sum(rows.map(r => r.times * r.best.cycles));
  const title = titleOf(input), id = i => `layer-${section}-${i}`, names = [input.compute, ...input.levels.map(l => l.name), 'networks'];
  const link = (row, i) => {
    const a = h('a', {href: `#${id(i)}`}, row.layer.problem);
    a.addEventListener('click', () => { document.getElementById(id(i)).open = true; });
    return a;
  };
  const energies = rows.filter(r => r.detail).map(({layer, detail: {cost}}) => {
    const values = [cost.compute_energy_pj, ...cost.levels.map(l => l.energy_pj), sum(cost.networks.map(n => n.energy_pj))];
    return {name: layer.problem, text: energy(cost.energy_pj), parts: values.map((value, i) =>
      ({name: names[i], value, tip: `${energy(value)}, ${percent(value / cost.energy_pj)}`, colour: i}))};
  });
  const share = r => r.times * r.best.cycles / cycles, macs = r => r.detail ? r.detail.macs : NaN;
  return [(data.inputs.length > 1 || title !== data.title) && h('h2', null, title),
    soft(`${input.file}: mapper `, mapperOf(repeat.mapper), `, objective ${repeat.objective}, seed ${repeat.seed}, Sextant ${repeat.version}. `,
      `Energies: ${result.energy_source || 'of the architecture'}.`, !result.complete && ' The search was interrupted.'),
    cards([clock === clock ? [`time at ${scaled(clock, 'Hz')}`, scaled(figures.seconds, 's')] : ['cycles', scaled(total.cycles, '')],
      ['energy', energy(total.energy_pj)], ['EDP (pJ\u00b7cycles)', power(total.energy_pj * total.cycles)], ['power', scaled(figures.watts, 'W')],
      [`TOPS of ${digits(figures.peak_tops)}`, digits(figures.tops)], ['energy per MAC', energy(figures.pj_per_mac)],
      ['TOPS/W', power(figures.tops_per_watt)], ['DRAM traffic', scaled(figures.dram_bytes, 'B')],
      ['area (mm\u00b2)', digits(figures.area_mm2)], ...objectiveCards({power, percent}, rows, total, word(repeat.objective))]),
    table(['layer', 'times', 'MACs', 'cycles', 'energy', 'EDP', '\u00d7 minimum', 'utilisation', 'limited by', 'proof', 'share of cycles'],
      rows.map((r, i) => [{v: word(r.layer.problem), t: link(r, i)}, r.times, cell(macs(r), v => scaled(v, '')), number(r.best.cycles),
        cell(r.best.energy_pj, energy), cell(r.best.edp, power), cell(r.best.objective / r.layer.minimum, shown(v => v.toFixed(2))),
        cell(r.best.utilization, percent), r.detail ? r.detail.cost.limited_by || 'compute' : '\u2013', proof(r.layer),
        {v: share(r), kind: 'share', tip: percent(share(r)),
          t: h('span', {class: 'bar'}, h('i', {style: `width:${100 * share(r)}%;background:${colour(0)}`}))}]),
      ['all', sum(rows.map(r => r.times)), scaled(sum(rows.map(r => r.times * macs(r))), ''), number(total.cycles), energy(total.energy_pj),
        power(total.energy_pj * total.cycles), '', percent(total.utilization), '', '', '']),
    energies.length > 0 && h('div', {class: 'panels'}, panel('Energy by layer, once each', stacks(energies), legend(names)), roofline(input, rows)),
    input.fused && fusedSections({h, s, colour, list, object, objects, number, word, count, scaled, energy, percent, table, stacks, legend, plot, dot, panel, cards})(object(input.fused)), runSections({h, object, objects, number, word, count, digits, scaled, energy, percent, table, cards})(input), rows.map((r, i) => layerDetails(input, id(i), r))];
}

/* Several results of `map`, layer by layer and in total, each against the first. */
function comparison(maps) {
  const names = maps.map((m, i) => `${i + 1}: ${titleOf(m)}`), plain = l => word(l.problem).split('/').pop();
  const layers = [...new Set(maps.flatMap(m => objects(m.result.results).map(plain)))];
  const best = (m, name) => object(object(objects(m.result.results).find(l => plain(l) === name)).best);
  const alike = m => layers.every(name => 'cycles' in best(m, name) === 'cycles' in best(maps[0], name));
  const rows = [...layers.map(name => [name, m => best(m, name)]), ['all', m => object(m.result.total), alike]];
  const measures = [['cycles', x => number(x.cycles), count], ['energy', x => number(x.energy_pj), energy],
    ['EDP', x => number(x.energy_pj) * number(x.cycles), power]];
  const ratio = (value, base) => shown(x => `${x.toFixed(3)}\u00d7 result 1`)(value / base);
  const against = (value, base) => value < base * (1 - 1e-9) ? 'good' : value > base * (1 + 1e-9) ? 'bad' : null;
  const bars = ([title, of, format]) => panel(title, stacks(maps.map((m, i) => {
    const value = of(object(m.result.total));
    return {name: names[i], text: format(value), parts: [{name: title, value, tip: ratio(value, of(object(maps[0].result.total))), colour: i}]};
  })));
  return [h('h2', null, 'Comparison'),
    soft(names.map((n, i) => [`${i ? '; ' : ''}${n} (${maps[i].file}, `, mapperOf(object(maps[i].result.repeat).mapper), ')']),
      '. Green is better than result 1, red worse.'),
    h('div', {class: 'panels'}, measures.map(bars)),
    table(['layer', ...measures.flatMap(([title]) => maps.map((_, i) => `${title} ${i + 1}`))], rows.map(([name, at, fair = () => true]) => [name,
      ...measures.flatMap(([, of, format]) => maps.map((m, i) => ({...cell(of(at(m)), format),
        tip: i > 0 && ratio(of(at(m)), of(at(maps[0]))), kind: i > 0 && fair(m) && against(of(at(m)), of(at(maps[0])))})))]))];
}

/* The answers of other commands. */
function curves(title, label, series) {
  const values = k => series.flatMap(c => c.trace.map(p => p[k]));
  return series.some(c => c.trace.length > 1) && panel(title, plot(title, {label: 'evaluations', log: true, values: values(0)},
    {label, log: true, values: values(2)}, (X, Y) => series.map((c, i) => steps(X, Y, c.trace, 0, i, `${c.name}: `))),
    legend(series.map(c => c.name)));
}
const intro = (title, ...text) => [h('h2', null, title), soft(text)], pairs = (value, format) => Object.entries(object(value)).map(([k, v]) => `${k} ${format(v)}`).join(', ');
const sections = {
  systolic({file, result: r}) {
    const rows = objects(r.results), name = x => rows.every(y => y.problem === x.problem) ? word(x.design) : `${word(x.problem)} ${word(x.design)}`, rate = x => `${count(x)} GOP/s`;
    const resource = (value, share) => cell(value, v => `${count(v)} (${percent(share)})`);
    return [intro(`Systolic array: ${word(r.problem ?? r.network)} on ${word(r.device)}`, `${file}: ${word(r.type)}, method ${word(r.method)}, seed ${word(r.seed)}.`),
      table(['problem', 'design', 'dataflow', 'array', 'latency (cycles)', 'GOP/s', 'roofline', 'DSP', 'BRAM', 'proof'], rows.map(x =>
        [word(x.problem), word(x.design), word(x.dataflow), [...list(x.array), x.lanes].map(word).join(' \u00d7 '), number(x.latency_cycles),
          number(x.throughput_gops), number(x.roofline_gops), resource(x.dsp, x.dsp_share), resource(x.bram18k, x.bram_share),
          proof({...x, best: {objective: x.objective}})])),
      h('div', {class: 'panels'}, panel('Throughput against the roofline', stacks(rows.map(x => ({name: name(x), text: rate(x.throughput_gops), parts: [
        {name: 'achieved', value: number(x.throughput_gops), tip: rate(x.throughput_gops), colour: 0},
        {name: 'roofline', value: x.roofline_gops - x.throughput_gops, tip: rate(x.roofline_gops), colour: 7}]}))), legend(['achieved'])),
      curves('Convergence', 'objective', rows.map(x => ({name: name(x), trace: traceOf(x)}))))];
  },
  place({file, result: r}) {
    const chip = objects(r.memories), swatch = name => h('i', {class: 'swatch',
      style: `background:${colour(Math.max(0, chip.findIndex(m => m.name === name)))}`});
    const where = name => ({v: word(name), t: [typeof name === 'string' && swatch(name), word(name)]});
    return [intro(`Placement of ${word(r.graph)} on ${word(r.chip)}`, `${file}: method ${word(r.method)}, seed ${word(r.seed)}.`),
      cards([['latency', scaled(r.latency_seconds, 's')], ['times the compiler\u2019s speed', digits(r.speedup)], ['energy', energy(r.energy_pj)],
        ['proof', proof({...r, best: {objective: r.objective_value}}).t]]),
      h('div', {class: 'panels'}, panel('Memory occupancy at the peak', stacks(chip.map((m, i) => ({name: word(m.name),
        text: `${percent(m.peak_bytes / m.capacity_bytes)} of ${scaled(m.capacity_bytes, 'B')}`,
        parts: [{name: `at ${word(m.peak_node)}`, value: m.peak_bytes / m.capacity_bytes, tip: scaled(m.peak_bytes, 'B'), colour: i}]})), 1),
        legend(chip.map(m => word(m.name)))), curves('Convergence', word(r.objective), [{name: word(r.method), trace: traceOf(r)}])),
      table(['node', 'operation', 'weights (bytes)', 'weights in', 'output (bytes)', 'output in', 'time', 'limited by'], objects(r.nodes).map(n =>
        [word(n.name), word(n.operation), number(n.weight_bytes), where(n.weights), number(n.output_bytes), where(n.output),
          cell(n.seconds, v => scaled(v, 's')), word(n.limited_by)]))];
  },
  compare({file, result: r}) {
    const rows = objects(r.rows), {seed} = object(rows[0]), problems = [...new Set(rows.map(x => word(x.problem)))];
    return [intro(`Mappers compared on ${word(r.arch || r.device || r.chip)}`, `${file}: objective ${word(r.objective)}; normalised by ${word(r.normalised_by)}.`),
      table(['mapper', 'problem', 'runs', 'median', 'mean', 'best', 'worst', 'normalised', 'evaluations'], objects(r.summary).map(x =>
        [word(x.mapper), word(x.problem), number(x.runs), ...['median', 'mean', 'best', 'worst', 'normalised'].map(k => cell(x[k], power)),
          number(x.evaluations)])),
      h('div', {class: 'panels'}, problems.map(problem => curves(`Convergence of the first seed, ${problem}`, word(r.objective),
        rows.filter(x => x.seed === seed && word(x.problem) === problem).map(x => ({name: word(x.mapper), trace: traceOf(x)})))))];
  },
  codesign: ({file, result}) => [intro('Designs', file), table(['settings', 'area (mm\u00b2)', 'objective', 'fate'], objects(result.designs).map(d =>
    [pairs(d.settings, word), number(d.area_um2) / 1e6, cell(d.objective, power), word(d.fate)]))],
  verify: ({file, result}) => [intro('Certificates', file), table(['file', 'problem', 'value', 'lower bound', 'verdict'], objects(result.results).map(c =>
    [word(c.file), word(c.problem), cell(c.value, power), cell(c.lower_bound, power), {v: word(c.holds), kind: c.holds ? 'good' : 'bad',
      t: c.holds ? 'holds' : c.complete ? `does not hold: ${word(c.why)}` : 'not checked completely'}]))],
  points: ({file, result}) => [intro(`Best of the database: ${word(result.kind)}`, `${file}, objective ${word(result.objective)}`),
    table(['space', 'value', 'navigator', 'metrics', 'evaluations', 'proof'], objects(result.rows).map(p =>
      [word(p.name), cell(p.value, power), word(p.navigator), pairs(p.metrics, power), number(p.evaluations), p.optimal ? 'proven optimal' : '\u2013']))],
};

/* A section with the warnings that came with its result, below heading and introduction. */
const warned = (result, [heading, text, ...rest]) => [heading, text, objects(object(result).warnings).map(w =>
  h('p', {class: 'warn'}, `Warning: ${w.place === undefined ? '' : `${word(w.place)}: `}${word(w.message)}`)), rest];

/* Hints at the pointer, or at what has the focus. */
function hint(event) {
  const tip = document.getElementById('tip'), target = event.target.closest ? event.target.closest('[data-tip]') : null;
  tip.hidden = !target;
  if (!target) return;
  tip.textContent = target.getAttribute('data-tip');
  const box = target.getBoundingClientRect(), x = event.clientX || box.left + box.width / 2, y = event.clientY || box.bottom;
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 12 : y + 18}px`;
}
for (const event of ['mousemove', 'focusin', 'scroll']) document.addEventListener(event, hint);

/* The page; on paper every layer is open. */
let opened = [];
addEventListener('beforeprint', () => (opened = [...document.querySelectorAll('details:not([open])')]).forEach(d => { d.open = true; }));
addEventListener('afterprint', () => opened.forEach(d => { d.open = false; }));
const maps = data.inputs.filter(i => i.kind === 'map'), inputs = data.inputs.length > 1 ? `${data.inputs.length} inputs; ` : '';
fill(document.getElementById('page'), null, [h('h1', null, data.title), soft(`${inputs}Sextant ${data.version}`), maps.length > 1 && comparison(maps),
  data.inputs.map((input, i) => warned(input.result, (input.kind === 'map' ? mapSection(input, i) : sections[input.kind](input)).flat()))]);
if (location.hash === '') [...document.querySelectorAll('details')].slice(0, 1).forEach(d => { d.open = true; });
})();
