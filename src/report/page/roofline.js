/* Names beside dots, on the side that has room; those that would lie over an earlier name are left to the tips. */
function dotNames(s, points, X, Y, frame) {
  const placed = [];
  return points.map(p => {
    const width = 6.2 * p.name.length, right = X(p.at[0]) + 9 + width < frame.right, x = X(p.at[0]) + (right ? 9 : -9), y = Y(p.at[1]) + 4;
    const box = [right ? x : x - width, y];
    if (placed.some(([at, line, wide]) => Math.abs(line - box[1]) < 11 && at < box[0] + width && box[0] < at + wide)) return null;
    placed.push([...box, width]);
    return s('text', {class: 'name', x, y, 'text-anchor': right ? 'start' : 'end'}, p.name);
  });
}
