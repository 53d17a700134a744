// What csv-parse alone reads in a damaged file, where it takes it without an error: another oracle than the product's own reading.

import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import type { Prepared } from './fuzz-files.ts';

type Texts = readonly (string | null | undefined)[];

/** The texts of each record's columns of texts, as one; undefined: csv-parse refuses the file, or the dialect has more than it knows. */
const parsedTexts = ({ scene, writing, contents }: Prepared, textsOf: (texts: Texts) => string) => {
  const { delimiter, quote } = writing;
  const bytes = contents[0]!.toString('latin1');
  // Where lines end in a carriage return alone, or in several, csv-parse sees others; a last one, of CRLF cut in two, is text to it.
  if (!scene.isSimple || contents.length > 1 || /\r\r|^[^\n]*\r(?!\n)|\r$/.test(bytes)) return undefined;
  // csv-parse takes a NUL after a quote for the end of the file, and goes on behind the quote as if it had closed its field.
  if (quote !== null && bytes.includes(`${quote}\0`)) return undefined;
  try {
    const lines = { skip_empty_lines: true, record_delimiter: ['\r\n', '\n'] };
    const options = { delimiter, quote, escape: quote, relax_column_count: true, ...lines };
    const [header = [], ...records] = parse(contents[0]!, options) as readonly (readonly string[])[];
    const names = header.map((name) => name.trim());
    const places = scene.kinds.flatMap((kind, index) =>
      kind === 'text' ? [names.indexOf(`c${index + 1}`)] : [],
    );
    return records.map((record) => textsOf(places.map((place) => record[place])));
  } catch {
    return undefined;
  }
};

/** csv-parse sees as many records, and every row. Returns whether it takes the file. */
export const expectParsed = (
  prepared: Prepared,
  records: number,
  rows: readonly (readonly (string | null)[])[],
): boolean => {
  const { scene, writing } = prepared;
  const textsOf = (texts: Texts) =>
    JSON.stringify(texts.map((text) => (writing.nulls.includes(text ?? '') ? null : (text ?? null))));
  const left = parsedTexts(prepared, textsOf);
  if (left === undefined) return false;
  expect(records, 'as many records as csv-parse sees').toBe(left.length);
  for (const row of rows) {
    const at = left.indexOf(textsOf(row.slice(1).filter((_, index) => scene.kinds[index] === 'text')));
    expect(at, `csv-parse has seen ${JSON.stringify(row)}`).toBeGreaterThanOrEqual(0);
    left.splice(at, 1);
  }
  return true;
};
