// HTML tables. A column declares the content and the alignment of its cells.

import { html, nothing, type Html } from './html.ts';
import type { Section } from './view.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => unknown;
  readonly isNumber?: boolean | undefined;
  readonly isLong?: boolean;
  /** Hidden in a narrow window. */
  readonly isWide?: boolean;
}

const classOf = ({ isNumber, isLong, isWide }: Column<never>): string =>
  isWide ? 'wide' : isNumber ? 'number' : isLong ? 'long' : '';

interface TableOptions {
  readonly caption: string;
  readonly none?: string;
  /** Default: true, for screen readers only, because most tables have a heading above. */
  readonly isCaptionHidden?: boolean;
}

export const table = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { caption, none = 'none', isCaptionHidden = true }: TableOptions,
): Html => {
  if (rows.length === 0) return html`<p class="none">${none}</p>`;
  const head = columns.map((column) => html`<th scope="col" class="${classOf(column)}">${column.title}</th>`);
  const cells = (row: Row): Html[] =>
    columns.map((column) => html`<td class="${classOf(column)}">${column.cell(row)}</td>`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <caption class="${isCaptionHidden ? 'unseen' : ''}">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${cells(row)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
};

export const tableSection = <Row>(
  id: string,
  title: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  none?: string,
): Section => ({ id, title, body: table(columns, rows, { caption: title, none }) });

export const numbersOf = <Row>(
  id: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  caption: string,
): Html =>
  rows.length === 0
    ? nothing
    : html`<details class="numbers" id="${id}">
        <summary>Numbers: ${caption}</summary>
        ${table(columns, rows, { caption })}
      </details>`;
