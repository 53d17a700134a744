// The script of all pages: live updates and interactive charts. Pages are complete without it.

export const script = `
'use strict';
(() => {
  const main = document.getElementById('main');
  const status = document.getElementById('link');
  const say = (text) => { if (status.textContent !== text) status.textContent = text; };

  /** Replaces a section's content. Keeps open details, scroll positions and the keyboard focus. */
  const replace = (old, html, hash) => {
    const open = new Set([...old.querySelectorAll('details[open]')].map(({ id }) => id));
    const scrolls = [...old.querySelectorAll('.scroll')].map(({ scrollLeft }) => scrollLeft);
    const focus = document.activeElement;
    const focusable = 'a, button, summary, input, .scroll';
    const focused = old.contains(focus) ? [...old.querySelectorAll(focusable)].indexOf(focus) : -1;
    old.innerHTML = html;
    old.dataset.hash = hash;
    drawAll(old);
    for (const details of old.querySelectorAll('details')) details.open = open.has(details.id);
    old.querySelectorAll('.scroll').forEach((each, number) => { each.scrollLeft = scrolls[number] || 0; });
    if (focused >= 0) old.querySelectorAll(focusable)[focused]?.focus({ preventScroll: true });
  };

  const show = ({ ids, changed }) => {
    for (const { id, hash, html } of changed) {
      let section = document.getElementById(id);
      if (section === null) {
        section = document.createElement('section');
        section.id = id;
        const next = ids.slice(ids.indexOf(id) + 1).map((each) => document.getElementById(each)).find(Boolean);
        main.insertBefore(section, next ?? null);
      }
      if (section.dataset.hash !== hash && !section.contains(getSelectedNode())) replace(section, html, hash);
    }
    for (const section of [...main.querySelectorAll('section')]) if (!ids.includes(section.id)) section.remove();
  };
  /** Returns the node in which text is selected: its section is not replaced. */
  const getSelectedNode = () => {
    const selection = document.getSelection();
    return selection === null || selection.isCollapsed ? null : selection.anchorNode;
  };

  /** Loads the chart library, once, for the first chart. */
  let library;
  const load = (src) => library ??= new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement('script'), { src, onload: resolve, onerror: reject });
    document.head.append(script);
  });
  const draw = async (figure) => {
    const { x, series } = JSON.parse(figure.dataset.chart);
    await load(figure.dataset.script);
    const still = figure.querySelector('svg');
    if (still === null || !figure.isConnected) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour('--dim'), grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line') } };
    const count = (value) => value == null ? '–' : Math.round(value).toLocaleString('en');
    const chart = new uPlot({
      width: figure.clientWidth, height: 200, scales: { x: { time: false } },
      axes: [{ ...axis, values: (_, ticks) => ticks.map((tick) => tick + ' s') }, { ...axis, size: 80, values: (_, ticks) => ticks.map(count) }],
      series: [{ label: 'until', value: (_, value) => value == null ? '–' : value.toFixed(1) + ' s' },
        ...series.map(({ name, colour: variable }) => ({ label: name, stroke: colour(variable), fill: colour(variable) + '44', width: 1.5, points: { show: false }, paths: uPlot.paths.stepped({ align: -1 }), value: (_, value) => count(value) }))],
    }, [x, ...series.map(({ y }) => y)], figure);
    // The picture without script stays for screen readers.
    still.classList.add('unseen');
    chart.root.setAttribute('aria-hidden', 'true');
    figure.insertBefore(chart.root, figure.firstChild);
    new ResizeObserver(() => chart.setSize({ width: figure.clientWidth, height: 200 })).observe(figure);
  };
  const drawAll = (part) => { for (const figure of part.querySelectorAll('[data-chart]')) draw(figure).catch(() => {}); };
  drawAll(main);

  const asOf = document.getElementById('as-of');
  const tick = () => {
    const now = new Date();
    asOf.dateTime = now.toISOString();
    asOf.textContent = now.toTimeString().slice(0, 8);
  };

  let source;
  let again;
  const connect = () => {
    const have = [...main.querySelectorAll('section[data-hash]')].map(({ id, dataset }) => id + '.' + dataset.hash);
    source = new EventSource(document.body.dataset.live + '&have=' + have.join());
    source.addEventListener('sections', ({ data }) => { show(JSON.parse(data)); tick(); say('live'); });
    source.addEventListener('pulse', () => { tick(); say('live'); });
    source.addEventListener('lost', () => say('the server gives no answer'));
    source.onerror = () => {
      say('no connection');
      // We reconnect ourselves: the browser would use the old address, with the hashes of the first
      // connection, and would not reconnect at all after an HTTP error.
      const wait = source.readyState === EventSource.CLOSED ? 10000 : 2000;
      source.close();
      clearTimeout(again);
      again = setTimeout(connect, wait);
    };
  };
  if (document.body.dataset.live === undefined) return;
  connect();
  // A hidden window gets no updates.
  document.addEventListener('visibilitychange', () => {
    source.close();
    clearTimeout(again);
    if (!document.hidden) connect();
  });
})();
`;
