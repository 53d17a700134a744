// Exports rejects as CSV (RFC 4180) for a spreadsheet; the first columns say what is wrong.

import { csvRecord } from '../../format/records/record-fields.ts';
import type { RejectRow } from './list-rejects.ts';
import { fieldsOfReject, isCut, type RecordShape } from './reject-records.ts';

/** Exported with as many leading underscores as needed to differ from the file's fields. */
export const reasonColumns = ['run', 'table', 'file', 'line', 'byte', 'reason', 'record'] as const;

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

export const uncorrected = (rejects: readonly RejectRow[]): readonly RejectRow[] =>
  rejects.filter(({ isCorrected }) => !isCorrected);

interface ExportedLine {
  readonly line: string;
  /** True if the fields cannot be separated, or were not stored. */
  readonly raw: boolean;
  /** True if only the beginning of the record was stored. */
  readonly cut: boolean;
}

/** Writes a reject as a CSV line. Fields that cannot be separated are empty; see `_record`. */
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
