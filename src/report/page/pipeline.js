/* The tile pipeline: what each boundary's latency is made of, and the stages of its first and last tiles. */
function tileTimeline({s, number, sum, count, colour}, b, width = 640) {
  const n = number(b.n), head = Math.min(n, 4), tail = Math.min(n - head, 2), lanes = ['load', 'compute', 'store'], lane = 16;
  const shown = [...Array(head).keys()].map(i => [i, i * b.period]).concat([...Array(tail).keys()].map(i => [n - tail + i, (head + 0.5 + i) * b.period]));
  const end = Math.max(...shown.map(t => t[1])) + b.load + b.compute + b.store, X = t => 60 + (width - 70) * t / Math.max(end, 1e-300);
  return s('svg', {viewBox: `0 0 ${width} ${3 * lane + 24}`, role: 'img', 'aria-label': `tiles of ${b.level}`},
    lanes.map((name, i) => s('text', {class: 'name', x: 0, y: lane * i + 12}, name)),
    shown.map(([tile, at]) => lanes.map((name, i) => {
      const from = at + sum(lanes.slice(0, i).map(l => b[l]));
      return s('rect', {x: X(from), y: lane * i + 2, width: Math.max(X(from + b[name]) - X(from), 0.5), height: lane - 4, fill: colour(i),
        'data-tip': `tile ${count(tile + 1)} of ${count(n)}, ${name}: ${count(b[name])} cycles`});
    })),
    tail > 0 && s('text', {class: 'name', x: X(0), y: 3 * lane + 16}, `\u2026 ${count(n - head - tail)} more, one every ${count(b.period)} cycles \u2026`));
}
function tilePipeline(kit, cost) {
  const {soft, panel, stacks, legend, objects, number, sum, count} = kit;
  const boundaries = objects(cost.boundaries).filter(b => number(b.n) > 0).reverse(), names = ['start', 'launch', 'tiles', 'exposed', 'fill and drain'];
  if (!boundaries.length) return null;
  const rows = boundaries.map(b => {
    const values = [b.start, b.launches, b.n * Math.max(b.load, b.compute, b.store), b.exposed, b.drain].map(number);
    return {name: b.level, text: `${count(sum(values))} cycles`, parts: values.map((value, i) => ({name: names[i], value, tip: `${count(value)} cycles`, colour: i}))};
  });
  return panel('Latency, tile pipeline', stacks(rows), legend(names), boundaries.map(b => [soft(`First and last tiles of ${b.level}`), tileTimeline(kit, b)]));
}
