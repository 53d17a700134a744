// The documentation of an error code: its section of docs/reference/errors.md.

import { readFile } from 'node:fs/promises';
import { catalogue, EtlError } from '../../core/errors/errors.ts';
import { isKnownCode } from '../../report/run-words.ts';
import { html, spansOf, type Html } from '../parts/html.ts';
import { calmMs, type MakeView } from '../parts/view.ts';

/** An installation may lack the documentation. */
const reference = new URL('../../../docs/reference/errors.md', import.meta.url);

/** Shows only the text of Markdown's links. */
const blockOf = (block: string): Html =>
  block.startsWith('    ')
    ? html`<pre class="lines">${block.replaceAll(/^ {4}/gm, '')}</pre>`
    : html`<p>${spansOf(block.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))}</p>`;

export const errorView: MakeView = async ({ parts: [code = ''] }) => {
  if (!isKnownCode(code)) throw new EtlError('ETL_USAGE', { problem: `there is no error ${code}`, hint: '' });
  const text = await readFile(reference, 'utf8').catch(() => '');
  const { message, hint } = catalogue[code];
  const [, section = `    ${message}\n    ${hint}`] =
    new RegExp(`\n### ${code}\n([^]*?)\n(?=### |<!-- end)`).exec(text) ?? [];
  const blocks = section.split('\n\n').filter((block) => block.trim() !== '');
  return {
    title: `Error ${code}`,
    place: '',
    freshMs: calmMs,
    sections: [
      {
        id: 'error',
        body: html`<p class="dim">
            Its message and hint, in which <code>{names}</code> are filled in, and what it means.
          </p>
          ${blocks.map(blockOf)}`,
      },
    ],
  };
};
