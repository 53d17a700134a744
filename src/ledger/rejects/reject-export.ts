// Rejected records as a CSV that a person corrects in a spreadsheet: RFC 4180, with columns that say what is wrong in front.

import { csvRecord } from '../../format/records/record-fields.ts';
import type { RejectRow } from './list-rejects.ts';
import { fieldsOfReject, isCut, type RecordShape } from './reject-records.ts';

/** What the columns in front hold; their names begin with as many underscores as it takes to be no field of the file. */
export const reasonColumns = ['run', 'table', 'file', 'line', 'byte', 'reason', 'record'] as const;

/** Those names for files with such a header. */
export const reasonNames = (header: readonly string[]): readonly string[] => {
  let before = '_';
  while (reasonColumns.some((name) => header.includes(before + name))) before += '_';
  return reasonColumns.map((name) => before + name);
};

export const headOf = ({ header }: RecordShape): string =>
  csvRecord([...reasonNames(header), ...header], '\r\n');

const reasonsOf = ({ faults, more, ...first }: RejectRow): string => {
  const known = [first, ...more].map(({ column, reason }) =>
    column === null ? reason : `${column}: ${reason}`,
  );
  const unseen = faults - known.length;
  return [...known, ...(unseen > 0 ? [`and ${unseen} more`] : [])].join('; ');
};

/** Those that are still to be corrected: a CSV for a person to work through has no others. */
export const uncorrected = (rejects: readonly RejectRow[]): readonly RejectRow[] =>
  rejects.filter(({ isCorrected }) => !isCorrected);

interface ExportedLine {
  readonly line: string;
  /** Its fields cannot be told apart, or were not kept. */
  readonly raw: boolean;
  /** Only the beginning of the record was kept. */
  readonly cut: boolean;
}

/** A reject as a record of that CSV. Where its fields cannot be told apart, they are empty, and `_record` is its text. */
export const exportLine = (reject: RejectRow, shape: RecordShape): ExportedLine => {
  const { formats, readings } = shape;
  const dialect = formats.dialects[readings[reject.file] ?? 0]!;
  const fields = fieldsOfReject(reject, shape.header, dialect);
  const { run, table, file, line, byte, raw } = reject;
  const reason = reasonsOf(reject);
  const values = fields === undefined ? [raw, ...shape.header.map(() => '')] : ['', ...fields];
  return {
    line: csvRecord([run, table, file, line, byte, reason, ...values], '\r\n'),
    raw: fields === undefined,
    cut: isCut(reject),
  };
};
