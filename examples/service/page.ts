// The service's one page: a button a pipeline, a bar a table.

import { html, raw } from 'hono/html';

const script = `
const show = (id, text) => {
  const line = document.getElementById(id) ?? document.body.appendChild(Object.assign(document.createElement('p'), { id }));
  line.textContent = text;
};
for (const button of document.querySelectorAll('button'))
  button.onclick = async () => {
    const answer = await fetch('/pipelines/' + button.textContent, { method: 'POST' });
    const source = new EventSource((await answer.json()).events);
    const on = (type, hear) => source.addEventListener(type, (event) => hear(JSON.parse(event.data)));
    on('step', ({ step }) => show('step', step + ' …'));
    on('progress', ({ table, bytes, bytesTotal, records }) =>
      show(table, table + ': ' + Math.round((100 * bytes) / bytesTotal) + ' %, ' + records + ' records'));
    on('finished', ({ result }) => show('step', result.outcome + ' in ' + result.seconds + ' s'));
    on('failed', ({ code, message, hint }) => show('step', code + ': ' + message + ' ' + hint));
    source.addEventListener('end', () => source.close());
  };
`;

export const page = (pipelines: readonly string[]) =>
  html`<!doctype html>
    <html lang="en">
      <title>Pipelines</title>
      ${pipelines.map((name) => html`<button>${name}</button>`)}
      <script type="module">
        ${raw(script)};
      </script>
    </html>`;
