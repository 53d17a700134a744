// Judges records in JavaScript: each becomes the values of a row, faults, or is filtered.

import type { ReadTable } from '../../core/declaration.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import type { Fault, Position, Reject } from '../../core/model.ts';
import { plural } from '../../core/wording.ts';
import { isRefusal } from '../types/contract.ts';
import { createFieldReader } from './field-reader.ts';
import { fieldsOf, type DecodedFile, type FileFields } from '../records/file-fields.ts';
import { countLines } from '../records/grammar.ts';
import { rawText } from '../records/raw-text.ts';
import type { RecordBlock } from '../records/record-blocks.ts';
import { createRecordFilter } from './record-filter.ts';
import {
  createRecordParser,
  faultOf,
  isFaulty,
  recordBytes,
  type Faulty,
  type ParsedRecord,
} from '../records/record-parser.ts';

/** Most faults of a record: shifted fields fail in every column, and rejects wait in memory. */
export const faultsKeptMax = 20;

export const filtered = Symbol('filtered');

export type Judgement = readonly (string | null)[] | Faulty | typeof filtered;

/** Records parsed at once: few, so that the garbage collector frees them while they are young. */
const recordsAtOnce = 256;

interface Judge {
  /** Checks the number of fields, then filters, then every column. */
  readonly fields: (fields: readonly (string | undefined)[], line: number) => Judgement;
  readonly rest: (record: Faulty) => Faulty;
}

/** Returns the column that is a copy of history's `at`: each fault would be reported twice. */
const copyOf = ({ publish }: ReadTable): string | undefined =>
  typeof publish === 'object' && publish.mode === 'history' && publish.at !== undefined
    ? publish.from
    : undefined;

const createJudge = (table: ReadTable, ofFile: FileFields): Judge => {
  const { dialect } = table.format;
  const wanted = ofFile.header.length;
  const counted = dialect.header === false ? 'first record' : 'header';
  const keep = createRecordFilter(table.filter, ofFile, dialect);
  const readers = table.columns.map((column) => createFieldReader(column, ofFile, dialect));
  const copied = copyOf(table);
  const isCountFine = (count: number): boolean =>
    count === wanted || (count < wanted ? dialect.ragged === 'pad' : dialect.ragged === 'cut');
  const countFault = (count: number): Faulty =>
    faultOf('field_count', `the record has ${plural(count, 'field')}, the ${counted} ${wanted}`);
  const judgeFields: Judge['fields'] = (fields, line) => {
    if (!isCountFine(fields.length)) return countFault(fields.length);
    if (!keep(fields)) return filtered;
    const values: (string | null)[] = [];
    const faults: Fault[] = [];
    for (let index = 0; index < readers.length; index += 1) {
      const value = readers[index]!(fields, line);
      if (value === null || !isRefusal(value)) values.push(value);
      else if (table.columns[index]!.name !== copied)
        faults.push({ ...value, column: table.columns[index]!.name });
    }
    return faults.length === 0 ? values : { faults };
  };
  return {
    fields: judgeFields,
    rest: ({ faults, fields }) => {
      if (fields === undefined) return { faults };
      if (!isCountFine(fields.length)) return { faults: [...faults, ...countFault(fields.length).faults] };
      const others = table.columns.flatMap(({ name, headers }, index): Fault[] => {
        const isText = headers
          .map(ofFile.indexOf)
          .every((field) => field >= fields.length || fields[field] !== undefined);
        const value = isText ? readers[index]!(fields) : null;
        return value !== null && isRefusal(value) && name !== copied ? [{ ...value, column: name }] : [];
      });
      return { faults: [...faults, ...others] };
    },
  };
};

const positionOf = ({ spans, position }: RecordBlock, index: number): Position => ({
  byte: position.byte + spans.starts[index]!,
  line: position.line + spans.lines[index]!,
  record: position.record + index,
});

export const recordAt = (
  block: RecordBlock,
  index: number,
): Pick<Reject, 'position' | 'lastLine' | 'raw'> => {
  const bytes = recordBytes(block, index);
  const position = positionOf(block, index);
  const lastLine = position.line + countLines(bytes, 0, bytes.length, block.spans.newline);
  return { position, lastLine, raw: rawText(bytes) };
};

export const rejectOf = (block: RecordBlock, index: number, { faults }: Faulty): Reject => {
  const [first, ...others] = faults;
  return {
    ...first!,
    ...(others.length > 0
      ? { others: { count: others.length, kept: others.slice(0, faultsKeptMax - 1) } }
      : {}),
    ...recordAt(block, index),
  };
};

export type RecordJudge = (
  block: RecordBlock,
  from: number,
  to: number,
  take: (judgement: Judgement, index: number) => void,
) => void;

/** Errors of the created function: ETL_USER_FUNCTION. Bad data becomes faults. */
export const createRecordJudge = (table: ReadTable, file: DecodedFile): RecordJudge => {
  const fields = fieldsOf(file, table.format.dialect);
  const parseRecords = createRecordParser(table, fields, file.lineEnd);
  const judge = createJudge(table, fields);
  const judgeRecord = (record: ParsedRecord, block: RecordBlock, index: number): Judgement => {
    const line = block.position.line + block.spans.lines[index]!;
    try {
      return isFaulty(record) ? judge.rest(record) : judge.fields(record, line);
    } catch (cause) {
      const details = { table: table.name, file: file.name, line, problem: messageOf(cause) };
      throw new EtlError('ETL_USER_FUNCTION', details, { cause });
    }
  };
  return (block, from, to, take) => {
    for (let first = from; first < to; first += recordsAtOnce) {
      const last = Math.min(first + recordsAtOnce, to);
      const records = parseRecords(block, first, last);
      for (let index = first; index < last; index += 1)
        take(judgeRecord(records[index - first]!, block, index), index);
    }
  };
};
