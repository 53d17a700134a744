// The one script: replaces sections by newer ones as they come. Pages are complete without it.

export const script = `
'use strict';
(() => {
  const main = document.getElementById('main');
  const status = document.getElementById('link');
  const say = (text) => { if (status.textContent !== text) status.textContent = text; };

  /** What a person has opened, and where the keyboard is, stays through a replacement. */
  const replace = (old, html, hash) => {
    const open = new Set([...old.querySelectorAll('details[open]')].map(({ id }) => id));
    const scrolls = [...old.querySelectorAll('.scroll')].map(({ scrollLeft }) => scrollLeft);
    const focus = document.activeElement;
    const focusable = 'a, button, summary, input, select, .scroll';
    const place = old.contains(focus) ? [...old.querySelectorAll(focusable)].indexOf(focus) : -1;
    old.innerHTML = html;
    old.dataset.hash = hash;
    for (const details of old.querySelectorAll('details')) details.open = open.has(details.id);
    old.querySelectorAll('.scroll').forEach((each, number) => { each.scrollLeft = scrolls[number] || 0; });
    if (place >= 0) old.querySelectorAll(focusable)[place]?.focus({ preventScroll: true });
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
  /** A text that somebody is marking is not taken away. */
  const getSelectedNode = () => {
    const selection = document.getSelection();
    return selection === null || selection.isCollapsed ? null : selection.anchorNode;
  };

  const asOf = document.getElementById('as-of');
  const tick = () => {
    const now = new Date();
    asOf.dateTime = now.toISOString();
    asOf.textContent = now.toTimeString().slice(0, 8);
  };

  let source;
  const connect = () => {
    source = new EventSource(document.body.dataset.live);
    source.addEventListener('sections', ({ data }) => { show(JSON.parse(data)); tick(); say('live'); });
    source.addEventListener('pulse', () => { tick(); say('live'); });
    source.addEventListener('lost', () => say('the server gives no answer'));
    source.onerror = () => {
      say('no connection');
      // A refusal is not tried again by itself.
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 10000);
    };
  };
  if (document.body.dataset.live === undefined) return;
  connect();
  // A window that nobody sees needs no updates.
  document.addEventListener('visibilitychange', () => {
    source.close();
    if (!document.hidden) connect();
  });
})();
`;
