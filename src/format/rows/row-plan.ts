// Writes what the row routine (WebAssembly) needs of a table: fields, columns, tokens, constants.

import type { ColumnSpec, Dialect, FieldRef, ReadTable } from '../../core/declaration.ts';
import { isRefusal } from '../types/contract.ts';
import { typeOf } from '../types/registry.ts';
import { createFieldReader, withChecks } from './field-reader.ts';
import type { FileFields } from '../records/file-fields.ts';
import { neededFields } from './header-check.ts';
import { columnBytes, layoutOf, type ByteKind, type FieldType, type FieldValues } from '../encoder/kinds.ts';
import { column, ruleLayout, slot } from '../encoder/layouts.ts';
import { numberBytesMax, overrun, planAt } from '../encoder/memory.ts';
import { lineToken, token } from '../encoder/token-list.ts';
import { nullMark } from '../records/raw-fields.ts';
import { hasFunction, kindOf } from './by-text.ts';
import { append, appendTokens, words, type PlanWriter } from './plan-writer.ts';
import { bytesOfValue, type RowForm } from './row-form.ts';
import { routineRules } from './rule-plan.ts';

/**
 * The routine reserves room before each row: `rowRoom`, plus `perByte` for each byte of the record.
 * So a column's value may take `valuesMax`, plus `fieldShare` for each byte of its fields. Only
 * user functions make longer values, which `putByText` checks. Proved by
 * test/unit/format/encoder/routines.test.ts, "stays within the room of its column".
 */
export interface RowPlan {
  readonly bytes: Buffer;
  readonly slotsEnd: number;
  readonly delimiterAt: number;
  readonly columnsAt: number;
  readonly columnsEnd: number;
  readonly lineAt: number;
  readonly slotFields: readonly number[];
  readonly rowRoom: number;
  readonly perByte: number;
  readonly valuesMax: readonly number[];
}

/** Most bytes of a value per byte of its field: 3 for UTF-8 from JavaScript, 2 for an escape. */
export const fieldShare = 3;

const missingValue = (spec: ColumnSpec, form: RowForm): Buffer | undefined =>
  spec.default !== undefined || spec.nullable ? bytesOfValue(spec.default ?? null, spec, form) : undefined;

const tokenValues = (spec: ColumnSpec, form: RowForm): [string, Buffer | undefined][] => {
  if (hasFunction(spec)) return [];
  const read = withChecks(spec, typeOf(spec).reader(spec.options));
  return Object.entries(spec.tokens).map(([name, text]) => {
    const value = read(text);
    return [name, isRefusal(value) ? undefined : bytesOfValue(value, spec, form)];
  });
};

const isLine = ({ lineage }: ColumnSpec): boolean => lineage === '_line';

/**
 * Returns the value if it is the same in the whole file: the file lacks a field of the column, or
 * the column uses only texts about the file. `bytes` undefined: the value is refused.
 */
const valueOfFile = (
  spec: ColumnSpec,
  fields: FileFields,
  dialect: Dialect,
  form: RowForm,
): { readonly bytes: Buffer | undefined } | undefined => {
  if (isLine(spec)) return undefined;
  const fieldIndexes = spec.headers.map(fields.indexOf);
  const isOfFile = (at: number): boolean => fields.textAt(at) !== undefined;
  const isSame =
    spec.test === undefined
      ? fieldIndexes.includes(-1) || fieldIndexes.every(isOfFile)
      : fieldIndexes.every((at) => at === -1 || isOfFile(at));
  if (!isSame) return undefined;
  try {
    const value = createFieldReader(spec, fields, dialect)([]);
    return { bytes: value !== null && isRefusal(value) ? undefined : bytesOfValue(value, spec, form) };
  } catch {
    return { bytes: undefined };
  }
};

const valueHeadMax = 24;
const numericMax = valueHeadMax + numberBytesMax / 2;

const setField: {
  readonly [Type in FieldType]: (
    writer: PlanWriter,
    bytes: Buffer,
    offset: number,
    value: FieldValues[Type],
  ) => void;
} = {
  i32: (_, bytes, offset, value) => void bytes.writeInt32LE(value, offset),
  i64: (_, bytes, offset, value) => void bytes.writeBigInt64LE(value, offset),
  words: (writer, bytes, offset, value) => void bytes.writeInt32LE(append(writer, words(value)), offset),
  tokens: (writer, bytes, offset, value) => {
    const tokens = value.map(([text, byte]) => [text, Buffer.from([byte])] as const);
    bytes.writeInt32LE(appendTokens(writer, tokens), offset);
  },
};

const setKind = (writer: PlanWriter, bytes: Buffer, kind: ByteKind): void => {
  const { number, fields } = layoutOf(kind);
  const values = kind as unknown as Readonly<Record<string, unknown>>;
  bytes.writeInt32LE(number, column.kind);
  for (const { name, type, offset } of fields) setField[type](writer, bytes, offset, values[name] as never);
};

const appendRules = (writer: PlanWriter, spec: ColumnSpec): number => {
  const known = routineRules(spec);
  if (known === undefined) return 0;
  const { bytes, values } = known;
  if (values !== undefined) {
    const list = appendTokens(
      writer,
      values.map((text) => [text, undefined]),
    );
    bytes.writeInt32LE(list, ruleLayout.values);
  }
  return append(writer, bytes);
};

interface PlannedColumn {
  readonly bytes: Buffer;
  readonly valueMax: number;
}

const appendSame = (writer: PlanWriter, value: Buffer | undefined): PlannedColumn => {
  const bytes = Buffer.alloc(columnBytes);
  const same = Buffer.alloc(token.bytes);
  same.writeInt32LE(value === undefined ? 0 : append(writer, value), token.valueAt);
  same.writeInt32LE(value?.length ?? -1, token.valueBytes);
  bytes.writeInt32LE(append(writer, same), column.slots);
  return { bytes, valueMax: value?.length ?? 0 };
};

/** Appends the token of `_line`, whose value the routine changes before each row. */
const appendLineToken = (writer: PlanWriter, { isTextFormat }: RowForm): number => {
  const line = Buffer.alloc(lineToken.bytes);
  const address = append(writer, line);
  line.writeInt32LE(address + lineToken.valueAt, token.valueAt);
  if (!isTextFormat) {
    line.writeInt32LE(4 + 8, token.valueBytes);
    line.writeInt32BE(8, lineToken.valueAt);
  }
  return address;
};

const lineColumn = (lineAt: number): PlannedColumn => {
  const bytes = Buffer.alloc(columnBytes);
  bytes.writeInt32LE(lineAt, column.slots);
  return { bytes, valueMax: lineToken.valueMax };
};

const appendColumn = (
  writer: PlanWriter,
  spec: ColumnSpec,
  index: number,
  { nulls: dialectNulls, quotedNulls }: Pick<Dialect, 'nulls' | 'quotedNulls'>,
  form: RowForm,
  slotAddress: (ref: FieldRef) => number,
): PlannedColumn => {
  const bytes = Buffer.alloc(columnBytes);
  const set = (offset: number, value: number): void => void bytes.writeInt32LE(value, offset);
  // A test reads its fields by itself, so the column needs only one slot.
  const test = spec.test !== undefined;
  const addresses = spec.headers.map(slotAddress);
  const slots = test ? addresses.filter((address) => address >= planAt).slice(0, 1) : addresses;
  const missing = missingValue(spec, form);
  const kind = kindOf(spec, form.isTextFormat);
  setKind(writer, bytes, kind);
  set(column.index, index);
  set(column.hasFunction, Number(hasFunction(spec)));
  set(column.rules, appendRules(writer, spec));
  set(column.parts, slots.length);
  set(column.slots, slots.length === 1 ? slots[0]! : append(writer, words(slots)));
  const separator = Buffer.from(spec.separator);
  set(column.separator, append(writer, separator));
  set(column.separatorBytes, separator.length);
  const appendNulls = (texts: readonly string[]): number =>
    appendTokens(
      writer,
      texts.map((text) => [text, missing]),
    );
  const nulls = appendNulls(test ? [] : [...dialectNulls, ...spec.nulls]);
  const tokens = tokenValues(spec, form);
  set(column.nulls, nulls);
  set(column.quotedNulls, quotedNulls ? nulls : appendNulls(spec.nulls));
  set(column.tokens, appendTokens(writer, tokens));
  const lengths = [missing, ...tokens.map(([, value]) => value)].map((value) => value?.length ?? 0);
  const separators = fieldShare * separator.length * (slots.length - 1);
  const head = kind.kind === 'numeric' ? numericMax : valueHeadMax;
  return { bytes, valueMax: Math.max(head, ...lengths) + separators };
};

/** Appends a slot per field, set by the routine for each record; texts about the file are last. */
const appendSlots = (writer: PlanWriter, fieldIndexes: readonly number[], { textAt }: FileFields) => {
  const slots = Buffer.alloc(slot.bytes * fieldIndexes.length);
  let ofFile = 0;
  for (const [index, field] of fieldIndexes.entries()) {
    const text = textAt(field);
    if (text === undefined) slots.writeInt32LE(4 * field, slot.bytes * index + slot.place);
    else {
      const bytes = Buffer.from(text);
      // Column code looks for a quote in the byte before a field. 0 means that there is none.
      const start = append(writer, Buffer.concat([Buffer.of(0), bytes])) + 1;
      slots.writeInt32LE(start, slot.bytes * index + slot.start);
      slots.writeInt32LE(start + bytes.length, slot.bytes * index + slot.end);
      ofFile += bytes.length;
    }
  }
  return { slots, bytesOfFile: ofFile };
};

export const createRowPlan = (
  { format, columns, filter }: ReadTable,
  fields: FileFields,
  form: RowForm,
): RowPlan => {
  const { header, indexOf } = fields;
  const { nulls: texts, escapes, quotedNulls } = format.dialect;
  // With `escapes`, JavaScript reads records with backslashes, so `\N` is the only escape here.
  const nulls = { nulls: escapes === null ? texts : [...texts, nullMark], quotedNulls };
  const same = columns.map((spec) => valueOfFile(spec, fields, format.dialect, form));
  const varying = columns.filter((_, index) => same[index] === undefined);
  const needed = new Set(neededFields(varying, filter).map(indexOf));
  const fieldIndexes = [...needed].filter((field) => field !== -1).sort((one, other) => one - other);
  const slotFields = fieldIndexes.filter((field) => field < header.length);
  const slotsEnd = planAt + slot.bytes * slotFields.length;
  const columnsAt = planAt + slot.bytes * fieldIndexes.length;
  const columnsEnd = columnsAt + columnBytes * columns.length;
  const writer: PlanWriter = { parts: [], end: columnsEnd };
  const { slots, bytesOfFile } = appendSlots(writer, fieldIndexes, fields);
  const delimiterAt = append(writer, Buffer.from(format.dialect.delimiter));
  const slotAddress = (ref: FieldRef): number => planAt + slot.bytes * fieldIndexes.indexOf(indexOf(ref));
  const lineAt = columns.some(isLine) ? appendLineToken(writer, form) : 0;
  const made = columns.map((spec, index) => {
    const value = same[index];
    if (value !== undefined) return appendSame(writer, value.bytes);
    if (isLine(spec)) return lineColumn(lineAt);
    return appendColumn(writer, spec, index, nulls, form, slotAddress);
  });
  const used = varying.flatMap(({ headers }) => headers.map(indexOf));
  const uses = slotFields.map((field) => used.filter((each) => each === field).length);
  const perByte = fieldShare * Math.max(1, ...uses);
  const ofFile = fieldShare * bytesOfFile;
  return {
    bytes: Buffer.concat([slots, ...made.map(({ bytes }) => bytes), ...writer.parts, Buffer.alloc(overrun)]),
    slotsEnd,
    delimiterAt,
    columnsAt,
    columnsEnd,
    lineAt,
    slotFields,
    rowRoom: 2 + made.reduce((sum, { valueMax }) => sum + valueMax + ofFile + 1, 0) + overrun,
    perByte,
    valuesMax: made.map(({ valueMax }) => valueMax + ofFile),
  };
};
