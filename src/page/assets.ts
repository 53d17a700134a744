// Style sheets and scripts of the page, ours and uPlot's, with ETags.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// The script of all pages: live updates and interactive charts. Pages also work without it.

const script = `
'use strict';
(() => {
  const main = document.getElementById('main');
  const status = document.getElementById('link');
  const say = (text) => { if (status.textContent !== text) status.textContent = text; };

  // Times: the visitor's zone, with UTC in a tooltip.
  const roughly = (seconds) => {
    for (const [size, unit] of [[86400, 'd'], [3600, 'h'], [60, 'min']]) if (seconds >= size) return Math.floor(seconds / size) + ' ' + unit;
    return Math.round(seconds) + ' s';
  };
  const relative = (at) => {
    const seconds = (at - Date.now()) / 1000;
    return seconds > 0 ? 'in ' + roughly(seconds) : roughly(-seconds) + ' ago';
  };
  // Sweden writes dates like ISO 8601: 2026-03-01 09:05:00.
  const exact = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' });
  const showTimes = (part) => {
    for (const time of part.querySelectorAll('time')) {
      const at = new Date(time.dateTime);
      const isAged = time.classList.contains('aged');
      const text = isAged ? relative(at) : exact.format(at);
      if (time.firstChild.data === text) continue;
      time.title = at.toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
      time.textContent = text;
      if (isAged) time.append(Object.assign(document.createElement('span'), { className: 'exact', textContent: exact.format(at) }));
    }
  };
  document.getElementById('zone').textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;
  showTimes(document);
  const showButtons = (part) => { for (const button of part.querySelectorAll('[data-copy]')) button.hidden = false; };
  showButtons(document);

  /** Keeps open details, scroll positions and the keyboard focus. */
  const replace = (old, html, hash) => {
    const open = new Set([...old.querySelectorAll('details[open]')].map(({ id }) => id));
    const scrolls = [...old.querySelectorAll('.scroll')].map(({ scrollLeft }) => scrollLeft);
    const focus = document.activeElement;
    const focusable = 'a, button, summary, input, .scroll';
    const focused = old.contains(focus) ? [...old.querySelectorAll(focusable)].indexOf(focus) : -1;
    old.innerHTML = html;
    old.dataset.hash = hash;
    showTimes(old);
    drawAll(old);
    showButtons(old);
    for (const details of old.querySelectorAll('details')) details.open = open.has(details.id);
    old.querySelectorAll('.scroll').forEach((each, number) => { each.scrollLeft = scrolls[number] || 0; });
    if (focused >= 0) old.querySelectorAll(focusable)[focused]?.focus({ preventScroll: true });
  };

  /** Sections that changed while they were in use. The server does not send them again. */
  const waiting = new Map();
  let shown = [];
  const show = ({ ids, changed }) => {
    shown = ids;
    for (const { id, hash, html } of [...waiting.values(), ...changed]) {
      waiting.delete(id);
      let section = document.getElementById(id);
      if (section === null) {
        section = document.createElement('section');
        section.id = id;
        const next = ids.slice(ids.indexOf(id) + 1).map((each) => document.getElementById(each)).find(Boolean);
        main.insertBefore(section, next ?? null);
      }
      if (isInUse(section)) waiting.set(id, { id, hash, html });
      else if (section.dataset.hash !== hash) replace(section, html, hash);
    }
    for (const section of [...main.querySelectorAll('section')]) if (!ids.includes(section.id)) section.remove();
  };
  /** A section is not replaced while its text is selected, or its search is typed. */
  const isInUse = (section) => {
    const selection = document.getSelection();
    if (selection !== null && !selection.isCollapsed && section.contains(selection.anchorNode)) return true;
    return document.activeElement?.matches('input') && section.contains(document.activeElement);
  };

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
    // Hides the chart from screen readers, and keeps the static picture for them.
    still.classList.add('unseen');
    chart.root.setAttribute('aria-hidden', 'true');
    figure.insertBefore(chart.root, figure.firstChild);
    new ResizeObserver(() => chart.setSize({ width: figure.clientWidth, height: 200 })).observe(figure);
  };
  const drawAll = (part) => { for (const figure of part.querySelectorAll('[data-chart]')) draw(figure).catch(() => {}); };
  drawAll(main);

  // Copy buttons. Without TLS, browsers have no clipboard for scripts, but copy selected text.
  const copy = async (text) => {
    if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
    const area = Object.assign(document.createElement('textarea'), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  };
  main.addEventListener('click', ({ target }) => {
    if (target.dataset.copy !== undefined) copy(target.dataset.copy).then(() => say('copied'), () => say('the browser does not allow copying'));
  });

  const asOf = document.querySelector('#as-of time');
  const tick = () => {
    asOf.dateTime = new Date().toISOString();
    showTimes(document);
  };

  let source;
  let again;
  const connect = () => {
    const have = [...main.querySelectorAll('section[data-hash]')].map(({ id, dataset }) => id + '.' + dataset.hash);
    source = new EventSource(document.body.dataset.live + '&have=' + have.join());
    source.addEventListener('sections', ({ data }) => { show(JSON.parse(data)); tick(); say('live'); });
    source.addEventListener('pulse', () => { if (waiting.size > 0) show({ ids: shown, changed: [] }); tick(); say('live'); });
    source.addEventListener('lost', () => say('the server gives no answer'));
    source.onerror = () => {
      say('no connection');
      // Reconnects itself: the browser would use old hashes, and give up after an HTTP error.
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

// The style sheet of all pages. Its colours are variables, with values for light and dark mode.

const style = `
:root {
  color-scheme: light dark;
  --bg: #f7f8f9; --panel: #ffffff; --text: #1b2126; --dim: #57626c; --line: #dfe4e8; --accent: #0f766e;
  --good: #166534; --bad: #b91c1c; --warn: #92560a; --busy: #1d4ed8;
  --good-bg: #e6f5ea; --bad-bg: #fdeaea; --warn-bg: #fdf3dc; --busy-bg: #e6edfd; --idle-bg: #edf0f2;
  --loaded: #4f9d8f; --reloaded: #d08a1d; --lost: #c93a3a; --open: #e5e9ec;
  --w0: #4c78a8; --w1: #e08a3c; --w2: #54a24b; --w3: #b279a2; --w4: #d6616b; --w5: #72b7b2; --w6: #9d755d; --w7: #9a9a5a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #12161a; --panel: #1a2026; --text: #e4e9ed; --dim: #9aa7b2; --line: #2c353d; --accent: #4fd1c0;
    --good: #6ee79a; --bad: #ff8f8f; --warn: #f3c063; --busy: #93b4ff;
    --good-bg: #14321f; --bad-bg: #401c1e; --warn-bg: #3a2c10; --busy-bg: #1a2a4c; --idle-bg: #262e35;
    --loaded: #3f8f83; --reloaded: #d99a34; --lost: #d9534f; --open: #29323a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--text); font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; }
a { color: var(--accent); text-underline-offset: 2px; }
a:focus-visible, button:focus-visible, summary:focus-visible, .scroll:focus-visible, input:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, pre, .raw { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 8px; top: 8px; background: var(--panel); padding: 6px 10px; z-index: 2; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 20px; padding: 10px 24px; background: var(--panel); border-bottom: 1px solid var(--line); }
.brand { font-weight: 700; color: var(--text); text-decoration: none; letter-spacing: .02em; }
nav { display: flex; flex-wrap: wrap; gap: 2px; flex: 1; }
nav a { padding: 4px 10px; border-radius: 6px; color: var(--dim); text-decoration: none; }
nav a:hover { color: var(--text); background: var(--idle-bg); }
nav a[aria-current] { color: var(--text); background: var(--idle-bg); font-weight: 600; }
.mode { font-size: 12px; color: var(--dim); border: 1px solid var(--line); border-radius: 99px; padding: 1px 10px; }
main { max-width: 1320px; margin: 0 auto; padding: 16px 24px 32px; outline: none; }
h1 { font-size: 20px; margin: 4px 0 12px; overflow-wrap: anywhere; }
h2 { font-size: 14px; margin: 0 0 10px; }
section { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 14px 16px; margin: 0 0 14px; }
section:has(> .choice:only-child) { background: none; border: 0; padding: 0 2px; }
.scroll { overflow-x: auto; position: relative; }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; font-size: 12px; color: var(--dim); padding: 4px 10px; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { padding: 6px 10px; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
tbody tr:last-child td { border-bottom: 0; } tbody tr:hover { background: color-mix(in srgb, var(--idle-bg) 45%, transparent); }
th:first-child, td:first-child { padding-left: 4px; } th:last-child, td:last-child { padding-right: 4px; }
.number { text-align: right; } td.long { white-space: normal; overflow-wrap: anywhere; min-width: 200px; }
.lines { white-space: pre-wrap; }
td time { color: var(--dim); font-size: 12.5px; }
.name { font-weight: 600; }
.dim, .none, figcaption, .bar-share { color: var(--dim); } .none { margin: 4px 0; }
.bad { color: var(--bad); }
.badge { display: inline-block; border-radius: 99px; padding: 0 9px; font-size: 12px; line-height: 20px; white-space: nowrap; background: var(--idle-bg); color: var(--dim); }
.badge.good { background: var(--good-bg); color: var(--good); } .badge.bad { background: var(--bad-bg); color: var(--bad); }
.badge.warn { background: var(--warn-bg); color: var(--warn); } .badge.busy { background: var(--busy-bg); color: var(--busy); }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(180px, 1fr)); gap: 10px 20px; margin: 0; }
dt { font-size: 12px; color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
.error { border-left: 3px solid var(--bad); background: var(--bad-bg); padding: 8px 12px; margin: 12px 0 0; border-radius: 0 6px 6px 0; }
.error p { margin: 2px 0; } .error pre { margin: 4px 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.choice { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 4px; margin: 0 0 10px; color: var(--dim); } .choice a { padding: 2px 8px; border-radius: 6px; text-decoration: none; color: var(--dim); }
.choice a:hover, .choice .chosen { background: var(--idle-bg); color: var(--text); } .choice .chosen { font-weight: 600; }
svg { display: block; } svg text { fill: var(--dim); font-size: 11px; }
.loaded { fill: var(--loaded); } .reloaded { fill: var(--reloaded); } .lost { fill: var(--lost); } .open { fill: var(--open); }
.w0 { fill: var(--w0); } .w1 { fill: var(--w1); } .w2 { fill: var(--w2); } .w3 { fill: var(--w3); } .w4 { fill: var(--w4); } .w5 { fill: var(--w5); } .w6 { fill: var(--w6); } .w7 { fill: var(--w7); }
.map-head { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 4px 20px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; list-style: none; padding: 0; margin: 0 0 10px; color: var(--dim); font-size: 12.5px; }
.legend li { display: flex; align-items: center; gap: 6px; }
.bar { display: grid; grid-template-columns: minmax(120px, 240px) 1fr 56px; gap: 12px; align-items: center; padding: 3px 0; }
.bar-name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 12.5px; } .bar-share { text-align: right; font-size: 12.5px; }
.bar svg { width: 100%; height: 18px; border-radius: 3px; }
.lane { display: grid; grid-template-columns: minmax(90px, 130px) 1fr; gap: 12px; align-items: center; padding: 2px 0; }
.lane svg { width: 100%; height: 14px; border-radius: 3px; background: var(--open); }
.step0 { fill: #5b7fb5; } .step1 { fill: #8a6fb0; } .step2 { fill: var(--loaded); } .step3 { fill: #8b98a3; }
.note { margin: 0 0 10px; padding: 6px 12px; background: var(--warn-bg); color: var(--warn); border-radius: 6px; }
.numbers { margin-top: 10px; } summary { cursor: pointer; color: var(--dim); font-size: 12.5px; width: fit-content; }
.chart { margin: 0; } .chart svg { width: 100%; height: 160px; border-bottom: 1px solid var(--line); } .chart path { stroke-width: 1.5; vector-effect: non-scaling-stroke; } .loaded-area { fill: color-mix(in srgb, var(--loaded) 35%, transparent); stroke: var(--loaded); } .lost-area { fill: color-mix(in srgb, var(--lost) 35%, transparent); stroke: var(--lost); }
.chart svg.unseen { width: 1px; height: 1px; border: 0; } .chart .u-legend th { border: 0; }
.chart .uplot { width: 100%; } .chart .u-legend { color: var(--dim); font-size: 12.5px; text-align: left; }
figcaption { font-size: 12.5px; margin-top: 6px; }
h3 { font-size: 13px; margin: 0 0 4px; overflow-wrap: anywhere; } h3 .dim { font-weight: 400; }
.reject { padding: 10px 0; border-bottom: 1px solid var(--line); } .reject:first-of-type { padding-top: 0; }
.reject ul { margin: 0 0 6px; padding-left: 18px; } .reject li { overflow-wrap: anywhere; }
.reject .scroll, .reject pre { background: var(--bg); border-radius: 6px; padding: 2px 8px; margin: 0; } .reject pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 6px 8px; }
.reject table { width: auto; } .reject td { white-space: pre; font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
mark { background: var(--bad-bg); color: var(--bad); font-weight: 600; border-radius: 3px; padding: 1px 4px; outline: 1px solid var(--bad); }
caption { text-align: left; color: var(--dim); font-size: 12.5px; padding: 0 4px 6px; }
.actions { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 10px; } .actions .button, td .button { margin: 0 6px 0 0; }
.why { color: var(--dim); } .exact { margin-left: 8px; color: var(--dim); } td .exact { display: block; margin: 0; }
#pipelines td.long { min-width: 290px; } #pipelines td.long a { white-space: nowrap; } wbr { display: none; } section > p:first-child { margin-top: 0; }
.log .scroll { max-height: 280px; overflow: auto; } .log .long { width: 100%; } .error + h2 { margin-top: 14px; }
.head { margin: 0; } .button { margin-left: 12px; padding: 3px 12px; border: 1px solid var(--line); border-radius: 6px; color: var(--text); text-decoration: none; }
.search { display: block; margin: 0 0 10px; } .choice .search { margin: 0 0 0 auto; } input { font: inherit; padding: 3px 8px; border: 1px solid var(--line); border-radius: 6px; background: var(--bg); color: var(--text); }
footer { overflow-wrap: anywhere; display: flex; flex-wrap: wrap; gap: 4px 24px; padding: 12px 24px; color: var(--dim); font-size: 12px; border-top: 1px solid var(--line); }
form { display: inline; } button { font: inherit; padding: 3px 12px; border: 1px solid var(--line); border-radius: 6px; background: var(--panel); color: var(--text); cursor: pointer; } button:hover { background: var(--idle-bg); }
@media (max-width: 640px) {
  header, main, footer { padding-left: 12px; padding-right: 12px; } section { padding: 10px 12px; }
  nav { order: 1; flex: 1 0 100%; flex-wrap: nowrap; overflow-x: auto; margin: 0 -6px; } nav a { padding: 4px 6px; font-size: 12.5px; } nav a:first-child { display: none; } .brand { flex: 1; }
  .wide, td .exact { display: none; } th, td { padding-left: 5px; padding-right: 5px; } #pipelines td.long, .log td.long { min-width: 110px; } #pipelines td.long a, #pipelines time { white-space: normal; overflow-wrap: anywhere; } wbr { display: inline; } .why { font-size: 12.5px; overflow: hidden; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; } #pipelines .badge { white-space: normal; border-radius: 10px; } .choice .search { margin: 6px 0 0; } .search input { width: 10em; } td .name { white-space: normal; overflow-wrap: break-word; }
  .facts { grid-template-columns: repeat(auto-fill, minmax(120px, 1fr)); }
  .bar { grid-template-columns: 1fr 48px; } .bar .bar-name { grid-column: 1 / -1; }
}
@media (prefers-reduced-motion: no-preference) { .badge.busy span { animation: pulse 1.6s ease-in-out infinite; } @keyframes pulse { 50% { opacity: .25; } } }
`;

interface Asset {
  readonly type: string;
  readonly text: string;
  readonly etag: string;
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0f766e"/><path d="M3 4h10M3 8h7M3 12h4" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>`;

// Reads uPlot's files as text, because its package has no module that a browser could import.
const require = createRequire(import.meta.url);
const chartStyle = readFileSync(require.resolve('uplot/dist/uPlot.min.css'), 'utf8');
const chartScript = readFileSync(require.resolve('uplot/dist/uPlot.iife.min.js'), 'utf8');

const asset = (name: string, type: string, text: string): readonly [string, Asset] => {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  return [name, { type, text, etag }];
};

export const assets: ReadonlyMap<string, Asset> = new Map([
  asset('page.css', 'text/css; charset=utf-8', `${chartStyle}\n${style}`),
  asset('page.js', 'text/javascript; charset=utf-8', script),
  asset('chart.js', 'text/javascript; charset=utf-8', chartScript),
  asset('icon.svg', 'image/svg+xml', icon),
]);
