/* Runs after the page has drawn itself and writes what it found into the document. */
(() => {
  const wrong = [...window.pageErrors], answer = text => document.getElementById('page').replaceChildren(Object.assign(document.createElement('pre'), {textContent: text}));
  addEventListener('error', e => answer(`WRONG: ${[...wrong, e.message].join('\n')}`));
  const expect = (truth, what) => { if (!truth) wrong.push(what); };
  const texts = (root, selector) => [...root.querySelectorAll(selector)].map(e => e.textContent);
  const page = document.getElementById('page');

  /* Every input has its section. */
  const heads = texts(page, 'h2').join('\n');
  for (const word of ['Comparison', 'grid', 'Systolic array: 16x16x16 on u250', 'Systolic array: pair on u250', 'Placement of', 'Mappers compared', 'Certificates', 'Designs', 'database'])
    expect(heads.includes(word), `no section with '${word}': ${heads}`);

  /* Warnings are below the heading of the result that they came with. */
  const warnings = texts(page, 'h2 + p.soft + p.warn');
  expect(warnings.length === 1 && /^Warning: .*tree.yaml:\d+:\d+: .*exceeds the size/.test(warnings[0]), `warnings: ${warnings}`);

  /* A fused network has its memories over time, and in which of them each tensor stays. */
  expect(texts(page, 'h3').includes('Fused, with tensors exchanged in GLB and L1'), `no fused section: ${texts(page, 'h3')}`);
  for (const level of ['GLB', 'L1']) {
    const panel = [...page.querySelectorAll('section.panel')].find(e => e.firstElementChild?.textContent === `${level} over time, layer by layer`);
    expect(panel && panel.textContent.includes('widen') && panel.querySelector('[data-tip]'), `no ${level} over time`);
    expect(texts(page, 'td').includes(level), `no tensor stays in ${level}`);
  }
  expect(page.textContent.includes('Loops of the groups'), 'no loops of the groups');

  /* Names are text. */
  const name = '<script>window.pageErrors.push("ran")</scr' + 'ipt>';
  expect(page.textContent.includes(name), 'the name with markup is not shown as text');
  expect(page.querySelectorAll('script, img, iframe, link').length === 0, 'a name became an element');
  expect(document.title.includes('<b>'), 'the title is not text');

  /* Tables sort both ways, by numbers and by text. */
  for (const table of document.querySelectorAll('table')) {
    [...table.querySelectorAll('th button')].forEach((button, i) => {
      const column = () => [...table.tBodies[0].rows].map(row => row.cells[i].textContent);
      const before = column();
      button.click();
      const up = column();
      expect(button.parentNode.getAttribute('aria-sort') === 'ascending', 'no mark at the sorted column');
      button.click();
      const down = column();
      expect(button.parentNode.getAttribute('aria-sort') === 'descending', 'no mark at the column sorted downward');
      expect([...up].sort().join() === [...before].sort().join() && down.length === before.length, 'sorting loses rows');
      const plain = up.every(t => /^[\d,]+$/.test(t)) && up.map(t => Number(t.replace(/,/g, '')));
      if (plain) {
        expect(plain.every((v, k) => k === 0 || plain[k - 1] <= v), `not ascending: ${up}`);
        expect(down.map(t => Number(t.replace(/,/g, ''))).every((v, k, all) => k === 0 || all[k - 1] >= v), `not descending: ${down}`);
        if (new Set(plain).size > 1) window.sorted = true;
      }
    });
  }
  expect(window.sorted, 'no table had numbers that differ');

  /* Hints follow the pointer and leave with it. */
  const tip = document.getElementById('tip'), dot = page.querySelector('circle[data-tip]');
  expect(dot, 'no figure has points');
  dot.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: 50, clientY: 60}));
  expect(!tip.hidden && tip.textContent === dot.getAttribute('data-tip') && tip.textContent.length > 3, 'no hint');
  page.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: 5, clientY: 5}));
  expect(tip.hidden, 'the hint stays');

  /* A link of the table opens its layer; everything is open on paper. */
  const link = page.querySelector('td a');
  link.click();
  expect(document.querySelector(link.getAttribute('href')).open, 'a link does not open its layer');
  window.dispatchEvent(new Event('beforeprint'));
  expect([...page.querySelectorAll('details')].every(d => d.open), 'paper hides layers');
  for (const title of ['Loop nest', 'Memory occupancy', 'Traffic, all instances', 'Energy', 'Convergence', 'Pareto front', 'Roofline'])
    expect(texts(page, 'h3').includes(title), `no panel '${title}'`);
  expect(page.querySelectorAll('.nest .nest').length > 2, 'loops are not nested');
  const tiles = page.querySelector('svg[aria-label="tiles of DRAM"]');
  expect(['prefill of 16 tokens after 0, batch 1', 'decode of 1 tokens after 16, batch 1'].every(t => texts(page, 'h3').includes(t)), 'no runs');
  expect(texts(page, 'th').filter(t => t === 'limited by').length > 2, 'no operators of runs');
  expect(texts(page, 'h3').includes('Latency, tile pipeline') && tiles, 'no panel of the tile pipeline');
  expect(tiles && [...tiles.querySelectorAll('rect')].every(r => Number(r.getAttribute('width')) > 0 && Number(r.getAttribute('x')) >= 0), 'tiles without a place');
  expect(/certified optimal/.test(page.textContent), 'no certificate status');

  /* Nothing is NaN or undefined, nothing is wider than a narrow window, nothing comes from elsewhere. */
  expect(!/\bNaN\b|undefined|\[object/.test(page.textContent), 'a value is missing: ' + (page.textContent.match(/.{40}(\bNaN\b|undefined|\[object).{20}/) || [''])[0]);
  for (const e of page.querySelectorAll('svg *')) for (const a of e.attributes) expect(!/NaN|Infinity/.test(a.value), `${e.tagName} has ${a.name}=${a.value}`);
  expect(document.documentElement.scrollWidth <= innerWidth, `the page is ${document.documentElement.scrollWidth} wide in a window of ${innerWidth}`);
  expect(!/(src|href)="?https?:/.test(document.documentElement.outerHTML), 'the page refers to the network');
  answer(wrong.length ? `WRONG: ${wrong.join('\n')}` : `page is right, ${getComputedStyle(document.body).backgroundColor}`);
})();
