// Writes what the row routine (WebAssembly) needs of a table: fields, columns, tokens, constants.

import type { ColumnSpec, Dialect, FieldRef, ReadTable } from '../../core/declaration.ts';
import { isRefusal } from '../types/contract.ts';
import { typeOf } from '../types/registry.ts';
import { createFieldReader, withChecks } from './field-reader.ts';
import type { FileFields } from '../records/file-fields.ts';
import { neededFields } from './header-check.ts';
import { layoutOf, type ByteKind, type FieldType, type FieldValues } from '../encoder/kinds.ts';
import * as layout from '../assembly/layouts.ts';
import { numberBytesMax, overrun, planAt } from '../assembly/memory.ts';
import { nullMark } from '../records/raw-fields.ts';
import { hasFunction, kindOf } from './by-text.ts';
import { append, appendTokens, lengthBits, words, type PlanWriter } from './plan-writer.ts';
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
  /** Filters, tests and joined fields read the slots. */
  readonly usesSlots: boolean;
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
  bytes.writeInt32LE(number, layout.columnKind);
  for (const [name, type, offset] of fields) setField[type](writer, bytes, offset, values[name] as never);
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
    bytes.writeInt32LE(list, layout.ruleValues);
  }
  return append(writer, bytes);
};

interface PlannedColumn {
  readonly bytes: Buffer;
  readonly valueMax: number;
}

const appendSame = (writer: PlanWriter, value: Buffer | undefined): PlannedColumn => {
  const bytes = Buffer.alloc(layout.columnBytes);
  const same = Buffer.alloc(layout.tokenBytes);
  same.writeInt32LE(value === undefined ? 0 : append(writer, value), layout.tokenValueAt);
  same.writeInt32LE(value?.length ?? -1, layout.tokenValueBytes);
  bytes.writeInt32LE(-1, layout.columnPlace);
  bytes.writeInt32LE(append(writer, same), layout.columnSlots);
  return { bytes, valueMax: value?.length ?? 0 };
};

/** Appends the token of `_line`, whose value the routine changes before each row. */
const appendLineToken = (writer: PlanWriter, { isTextFormat }: RowForm): number => {
  const line = Buffer.alloc(layout.lineTokenBytes);
  const address = append(writer, line);
  line.writeInt32LE(address + layout.lineValueAt, layout.tokenValueAt);
  if (!isTextFormat) {
    line.writeInt32LE(4 + 8, layout.tokenValueBytes);
    line.writeInt32BE(8, layout.lineValueAt);
  }
  return address;
};

const lineColumn = (lineAt: number): PlannedColumn => {
  const bytes = Buffer.alloc(layout.columnBytes);
  bytes.writeInt32LE(-1, layout.columnPlace);
  bytes.writeInt32LE(lineAt, layout.columnSlots);
  return { bytes, valueMax: layout.lineValueMax };
};

const appendColumn = (
  writer: PlanWriter,
  spec: ColumnSpec,
  index: number,
  { nulls: dialectNulls, quotedNulls }: Pick<Dialect, 'nulls' | 'quotedNulls'>,
  form: RowForm,
  slotAddress: (ref: FieldRef) => number,
  placeOf: (slotAddress: number) => number,
): PlannedColumn => {
  const bytes = Buffer.alloc(layout.columnBytes);
  const set = (offset: number, value: number): void => void bytes.writeInt32LE(value, offset);
  // A test reads its fields by itself, so the column needs only one slot.
  const test = spec.test !== undefined;
  const addresses = spec.headers.map(slotAddress);
  const slots = test ? addresses.filter((address) => address >= planAt).slice(0, 1) : addresses;
  const missing = missingValue(spec, form);
  const kind = kindOf(spec, form.isTextFormat);
  setKind(writer, bytes, kind);
  set(layout.columnIndex, index);
  set(layout.columnHasFunction, Number(hasFunction(spec)));
  const rules = appendRules(writer, spec);
  set(layout.columnRules, rules);
  set(layout.columnIsChecked, Number(form.isTextFormat || rules !== 0 || hasFunction(spec)));
  set(layout.columnParts, slots.length);
  set(layout.columnPlace, slots.length === 1 ? placeOf(slots[0]!) : -1);
  set(layout.columnSlots, slots.length === 1 ? slots[0]! : append(writer, words(slots)));
  const separator = Buffer.from(spec.separator);
  set(layout.columnSeparator, append(writer, separator));
  set(layout.columnSeparatorBytes, separator.length);
  const appendNulls = (texts: readonly string[]): number =>
    appendTokens(
      writer,
      texts.map((text) => [text, missing]),
    );
  const nullTexts = test ? [] : [...dialectNulls, ...spec.nulls];
  const nulls = appendNulls(nullTexts);
  const tokens = tokenValues(spec, form);
  set(layout.columnNulls, nulls);
  set(layout.columnQuotedNulls, quotedNulls ? nulls : appendNulls(spec.nulls));
  set(layout.columnTokens, appendTokens(writer, tokens));
  set(layout.columnLengths, lengthBits([...nullTexts, ...tokens.map(([text]) => text)]));
  const lengths = [missing, ...tokens.map(([, value]) => value)].map((value) => value?.length ?? 0);
  const separators = fieldShare * separator.length * (slots.length - 1);
  const head = kind.kind === 'numeric' ? numericMax : valueHeadMax;
  return { bytes, valueMax: Math.max(head, ...lengths) + separators };
};

/** Appends a slot per field, set by the routine for each record; texts about the file are last. */
const appendSlots = (writer: PlanWriter, fieldIndexes: readonly number[], { textAt }: FileFields) => {
  const slots = Buffer.alloc(layout.slotBytes * fieldIndexes.length);
  let ofFile = 0;
  for (const [index, field] of fieldIndexes.entries()) {
    const text = textAt(field);
    if (text === undefined) slots.writeInt32LE(4 * field, layout.slotBytes * index + layout.slotPlace);
    else {
      const bytes = Buffer.from(text);
      // Column code looks for a quote in the byte before a field. 0 means that there is none.
      const start = append(writer, Buffer.concat([Buffer.of(0), bytes])) + 1;
      slots.writeInt32LE(start, layout.slotBytes * index + layout.slotStart);
      slots.writeInt32LE(start + bytes.length, layout.slotBytes * index + layout.slotEnd);
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
  const slotsEnd = planAt + layout.slotBytes * slotFields.length;
  const columnsAt = planAt + layout.slotBytes * fieldIndexes.length;
  const columnsEnd = columnsAt + layout.columnBytes * columns.length;
  const writer: PlanWriter = { parts: [], end: columnsEnd };
  const { slots, bytesOfFile } = appendSlots(writer, fieldIndexes, fields);
  const delimiterAt = append(writer, Buffer.from(format.dialect.delimiter));
  const slotAddress = (ref: FieldRef): number =>
    planAt + layout.slotBytes * fieldIndexes.indexOf(indexOf(ref));
  /** 4 times the index of a slot's field in the record; -1: a text about the file. */
  const placeOf = (address: number): number =>
    4 * (slotFields[(address - planAt) / layout.slotBytes] ?? -1 / 4);
  const lineAt = columns.some(isLine) ? appendLineToken(writer, form) : 0;
  const made = columns.map((spec, index) => {
    const value = same[index];
    if (value !== undefined) return appendSame(writer, value.bytes);
    if (isLine(spec)) return lineColumn(lineAt);
    return appendColumn(writer, spec, index, nulls, form, slotAddress, placeOf);
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
    usesSlots:
      filter.length > 0 || varying.some(({ headers, test }) => test !== undefined || headers.length > 1),
    slotFields,
    rowRoom: 2 + made.reduce((sum, { valueMax }) => sum + valueMax + ofFile + 1, 0) + overrun,
    perByte,
    valuesMax: made.map(({ valueMax }) => valueMax + ofFile),
  };
};
