// csv-parse: the one place that loads it, and knows its errors.

import { createRequire } from 'node:module';
import type * as CsvParse from 'csv-parse/sync';
import { rejectCodes } from '../model.ts';
import { onOneLine } from '../wording.ts';

/** CommonJS, which is one file; every thread would read a dozen ES modules. */
const { CsvError, parse } = createRequire(import.meta.url)('csv-parse/sync') as typeof CsvParse;

/** Why bytes are no records of the dialect. */
export interface CsvFault {
  /** csv-parse's own, such as CSV_QUOTE_NOT_CLOSED: reasons are chosen by it, never by the message. */
  readonly code: string;
  /** Place of the field from 0; undefined when the fault is not in a field. */
  readonly field: number | undefined;
}

/** The records' fields, or why the bytes have none. */
export const readCsv = (
  bytes: Buffer,
  options: CsvParse.Options,
): readonly (readonly string[])[] | CsvFault => {
  try {
    return parse(bytes, options);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const field: unknown = error.column;
    return { code: error.code, field: typeof field === 'number' ? field : undefined };
  }
};

export const isCsvFault = (read: readonly unknown[] | CsvFault): read is CsvFault => !Array.isArray(read);

/** A field as people count it, with its name in the header: `field 2 (price)`. */
export const fieldName = (header: readonly string[], field: number): string => {
  const name = header[field] ?? '';
  return `field ${field + 1}${name === '' ? '' : ` (${onOneLine(name)})`}`;
};

const reasons: Readonly<Record<string, (field: string) => string>> = {
  INVALID_OPENING_QUOTE: (field) => `there is a quote within ${field}, which does not begin with one`,
  CSV_INVALID_CLOSING_QUOTE: (field) => `text follows the closing quote of ${field}`,
  CSV_QUOTE_NOT_CLOSED: (field) => `the quote that begins ${field} is never closed`,
};

/** The fault as a reason of ours. */
export const reasonOf = ({ code, field }: CsvFault, header: readonly string[]): string =>
  field === undefined ? rejectCodes.quote : (reasons[code]?.(fieldName(header, field)) ?? rejectCodes.quote);
