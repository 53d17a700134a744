// Text of `etl preview`: a line per record, or per column if records do not fit.

import { optionsText } from '../../core/dialect.ts';
import type { PreviewFile } from '../../tools/preview.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { alignRows, clip, textWidth, visibleText } from '../layout.ts';
import type { Paint } from '../paint.ts';

/** Longest value, in terminal cells. */
const valueMax = 32;

const numeric = /^(?:smallint|integer|bigint|real|double|numeric)/;

/** Quotes the empty text and the text `null`, to tell them from a null value. */
const cellText = (value: string | null, paint: Paint): string => {
  if (value === null) return paint('dim', 'null');
  return value === '' || value === 'null' ? `"${value}"` : clip(visibleText(value), valueMax);
};

const acrossLines = ({ columns, rows }: PreviewFile, paint: Paint): readonly string[] => {
  const lines = alignRows(
    [
      ['line', ...columns.map(({ name }) => visibleText(name))],
      ['', ...columns.map(({ type, nullable }) => (nullable ? `${type}?` : type))],
      ...rows.map(({ line, values }) => [
        formatCount(line),
        ...values.map((value) => cellText(value, paint)),
      ]),
    ],
    ['right', ...columns.map(({ type }) => (numeric.test(type) ? ('right' as const) : ('left' as const)))],
  );
  return lines.map((line, index) => (index < 2 ? paint('dim', line) : line));
};

const downLines = ({ columns, rows }: PreviewFile, width: number, paint: Paint): readonly string[] => {
  let lines: readonly string[] = [];
  for (let count = 1; count <= Math.max(1, rows.length); count += 1) {
    const shown = rows.slice(0, count);
    const more = alignRows(
      [
        ['', '', ...shown.map(({ line }) => `line ${formatCount(line)}`)],
        ...columns.map(({ name, type, nullable }, index) => [
          visibleText(name),
          paint('dim', nullable ? `${type}?` : type),
          ...shown.map(({ values }) => cellText(values[index]!, paint)),
        ]),
      ],
      ['left', 'left', ...shown.map(() => 'left' as const)],
    );
    if (count > 1 && more.some((line) => textWidth(line) > width)) break;
    lines = more;
  }
  return lines.map((line) => clip(line, width));
};

const rejectLines = ({ rejects }: PreviewFile, paint: Paint): readonly string[] =>
  rejects.map(({ position, column, reason, others }) => {
    const where = column === null || column === undefined ? '' : ` ${visibleText(column)}:`;
    const more = others === undefined ? '' : ` (and ${plural(others.count, 'other fault')})`;
    return `${paint('red', 'reject')} line ${formatCount(position.line)}:${where} ${visibleText(reason)}${more}`;
  });

const countsText = ({ rows, rejects, filtered, isWhole }: PreviewFile): string => {
  const parts = [
    plural(rows.length, 'row'),
    plural(rejects.length, 'reject'),
    ...(filtered > 0 ? [`${formatCount(filtered)} filtered`] : []),
  ];
  return `${parts.join(', ')} ${isWhole ? 'in all' : 'so far'}`;
};

/** Returns the preview of a file. A `?` after a column's type means that the column may be null. */
export const previewLines = (file: PreviewFile, width: number, paint: Paint): readonly string[] => {
  const { table, file: name, encoding, decoding, dialect } = file;
  const own = visibleText(optionsText(dialect ?? {}));
  const written = [decoding, encoding === 'utf-8' ? null : encoding, own || null].filter(
    (part) => part !== null,
  );
  const title = `${paint('bold', visibleText(table))}  ${visibleText(name)}${written.length === 0 ? '' : ` (${written.join(', ')})`}`;
  const across = acrossLines(file, paint);
  const isFit = across.every((line) => textWidth(line) <= width);
  return [
    title,
    ...(isFit ? across : downLines(file, width, paint)),
    ...rejectLines(file, paint),
    countsText(file),
  ];
};
