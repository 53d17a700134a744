// Derives psql's script for a table from its columns: what `\copy` loads, the casts where the server cannot read the text itself, and
// keys and indexes.

import { parse } from 'csv-parse/sync';
import type { ColumnSpec, Dialect, FieldRef, SourceTableSpec } from '../src/core/declaration.ts';
import { quoteName, quoteNames, quoteText } from '../src/db/sql.ts';
import { fieldsOf } from '../src/format/records/file-fields.ts';
import { typeOf } from '../src/format/types/registry.ts';
import { bindPipeline } from '../src/pipeline/bind.ts';
import type { Pipeline } from '../src/pipeline/define-pipeline.ts';
import type { PsqlScript, Shape } from './shapes/contract.ts';

/** Says what psql has no script for. */
export class NoScript extends Error {}

/** Column of the loaded table for a field that a cast reads, or that nothing reads. */
const fieldName = (index: number): string => quoteName(`f${index + 1}`);

const sqlType = ({ type, options }: ColumnSpec): string => typeOf({ type }).sql(options);

/** What a cast does with a text; `undefined`: the server reads the text, perhaps with a DateStyle. */
interface Reading {
  readonly cast?: (text: string) => string;
  readonly dateStyle?: 'dmy' | 'mdy';
}

const timePattern = String.raw`(?:[ T](?:H?H:mm(?::ss(?:\.S+)?)?|h?h:mm(?::ss)? A|00:00(?::00)?))?(?: ?Z)?`;
const readByServer: readonly (readonly [pattern: RegExp, dateStyle?: 'dmy' | 'mdy'])[] = [
  [new RegExp(`^(?:YYYYMMDD|YYYY([-/.])M?M\\1D?D|D?D-MMM-YYYY)${timePattern}$`)],
  [new RegExp(`^D?D([-/.])M?M\\1YYYY${timePattern}$`), 'dmy'],
  [new RegExp(`^M?M([-/.])D?D\\1YYYY${timePattern}$`), 'mdy'],
  [/^(?:H?H:mm(?::ss(?:\.S+)?)?|h?h:mm(?::ss)? A)$/],
];

const patternTokens: Readonly<Record<string, string>> = {
  YYYY: 'YYYY',
  YY: 'YY',
  MMM: 'Mon',
  MM: 'MM',
  M: 'FMMM',
  DD: 'DD',
  D: 'FMDD',
  HH: 'HH24',
  H: 'FMHH24',
  hh: 'HH12',
  h: 'FMHH12',
  mm: 'MI',
  ss: 'SS',
  SSS: 'MS',
  SSSSSS: 'US',
  A: 'AM',
  Z: 'TZH:TZM',
  T: '"T"',
};

/** A format as the pattern of `to_timestamp`. */
const serverPattern = (format: string): string =>
  format.replaceAll(/([A-Za-z])\1*/g, (token) => {
    const found = patternTokens[token];
    if (found === undefined) throw new NoScript(`its format has ${token}`);
    return found;
  });

const dateReading = ({ type, options }: ColumnSpec): Reading => {
  const { format = [], zone } = options as { format?: string | readonly string[]; zone?: string };
  const [first, ...others] = [format].flat();
  const atZone = zone === undefined ? '' : ` at time zone ${quoteText(zone)}`;
  if (first === undefined)
    return zone === undefined ? {} : { cast: (text) => `(${text}::timestamp${atZone})` };
  if (others.length > 0) throw new NoScript('it has several formats');
  const found = readByServer.find(([pattern]) => pattern.test(first));
  if (found !== undefined && zone === undefined) return found[1] === undefined ? {} : { dateStyle: found[1] };
  const pattern = quoteText(serverPattern(first));
  if (atZone !== '') return { cast: (text) => `(to_timestamp(${text}, ${pattern})::timestamp${atZone})` };
  return { cast: (text) => `to_timestamp(${text}, ${pattern})::${type}` };
};

const numberReading = (column: ColumnSpec): Reading => {
  const { decimal = '.', thousands = '', percent } = column.options as Readonly<Record<string, string>>;
  if (decimal === '.' && thousands === '' && percent === undefined) return {};
  const [from, to] = decimal === ',' ? [`,${thousands}`, '.'] : [thousands, ''];
  const plain = (text: string): string =>
    from === '' ? text : `translate(${text}, ${quoteText(from)}, ${quoteText(to)})`;
  const type = sqlType(column);
  if (percent === undefined) return { cast: (text) => `${plain(text)}::${type}` };
  const factor = percent === 'share' ? ' * 0.01' : '';
  return { cast: (text) => `(rtrim(${plain(text)}, ' %')::numeric${factor})::${type}` };
};

/** Words that the server's boolean has. */
const words = new Set(['t', 'true', 'y', 'yes', 'on', '1', 'f', 'false', 'n', 'no', 'off', '0']);
const inList = (text: string, texts: readonly string[]): string =>
  texts.length === 1
    ? `${text} = ${quoteText(texts[0]!)}`
    : `${text} in (${texts.map(quoteText).join(', ')})`;

const booleanReading = ({ options }: ColumnSpec): Reading => {
  const { true: yes, false: no = [], else: other } = options as Readonly<Record<string, readonly string[]>>;
  if (yes === undefined && no.length === 0) return {};
  const isKnown = [...(yes ?? []), ...no].every((text) => words.has(text.toLowerCase()));
  if (isKnown && other === undefined) return {};
  return { cast: (text) => (yes === undefined ? `not (${inList(text, no)})` : `(${inList(text, yes)})`) };
};

const readingOf = (column: ColumnSpec): Reading => {
  const { type } = column;
  if (type === 'boolean') return booleanReading(column);
  if (['date', 'time', 'timestamp', 'timestamptz'].includes(type)) return dateReading(column);
  return numberReading(column);
};

/** The text that COPY takes for null; with several, casts do the others. */
const nullToken = ({ nulls }: Dialect): string => (nulls.includes('') ? '' : (nulls[0] ?? '\u0002'));

/** Where the server takes a field as it is, in the column's type. */
const isPlain = (column: ColumnSpec, { nulls, trim }: Dialect, { cast }: Reading): boolean =>
  cast === undefined &&
  column.headers.length === 1 &&
  column.nulls.length === 0 &&
  Object.keys(column.tokens).length === 0 &&
  column.default === undefined &&
  trim === false &&
  (nulls.length <= 1 || !column.nullable);

const refuseFunctions = ({ lineage, map, schema }: ColumnSpec): void => {
  if (map !== undefined || schema !== undefined) throw new NoScript('it calls a function');
  if (lineage !== undefined) throw new NoScript('it says where a row is from');
};

const castOf = (
  column: ColumnSpec,
  dialect: Dialect,
  indexes: readonly number[],
  reading: Reading,
): string => {
  const type = sqlType(column);
  const isText = column.type === 'text';
  const nulls = [...new Set([...dialect.nulls, ...column.nulls])];
  const cleaned = indexes.map((index) => {
    const text = dialect.trim === false ? fieldName(index) : `btrim(${fieldName(index)}, E' \\t')`;
    const unwanted = nulls.filter((token) => dialect.trim !== false || token !== nullToken(dialect));
    return unwanted.reduce((inner, token) => `nullif(${inner}, ${quoteText(token)})`, text);
  });
  const joined = cleaned.join(column.separator === '' ? ' || ' : ` || ${quoteText(column.separator)} || `);
  const tokens = Object.entries(column.tokens)
    .map(([from, to]) => ` when ${quoteText(from)} then ${quoteText(to)}`)
    .join('');
  const text = tokens === '' ? joined : `case ${joined}${tokens} else ${joined} end`;
  const inner = text === fieldName(indexes[0]!) || /^\w+\(.*\)$/.test(text) ? text : `(${text})`;
  const value = reading.cast?.(inner) ?? (isText ? inner : `${inner}::${type}`);
  return column.default === undefined ? value : `coalesce(${value}, ${quoteText(column.default)}::${type})`;
};

/** A text as a constant of COPY's options. */
const constant = (text: string): string =>
  /^[ -~]*$/.test(text)
    ? `'${text.replaceAll("'", "''")}'`
    : `E'${[...text].map((one) => (one < ' ' ? `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}` : one)).join('')}'`;

const refuseDialect = (dialect: Dialect): void => {
  const { delimiter, skipLines, headerLines, comment, ragged, quotes, escapes, lineEnd } = dialect;
  if (delimiter.length > 1) throw new NoScript('the delimiter is longer than a character');
  if (skipLines > 0 || headerLines > 1) throw new NoScript('lines are skipped');
  if (comment !== null || ragged !== 'reject' || quotes !== 'strict' || lineEnd !== 'auto')
    throw new NoScript('COPY lacks an option of the dialect');
  if (escapes !== null && escapes !== 'postgres') throw new NoScript('COPY has other backslash escapes');
};

const copyOptions = (dialect: Dialect, encoding: string, forced: readonly string[]): string => {
  const { delimiter, quote, escape, escapes, header } = dialect;
  const isText = escapes === 'postgres';
  const options = [
    isText ? 'format text' : 'format csv',
    ...(header === true ? ['header'] : []),
    ...(delimiter === (isText ? '\t' : ',') ? [] : [`delimiter ${constant(delimiter)}`]),
    ...(isText ? [] : [`null ${constant(nullToken(dialect))}`]),
    // A byte that no file has, where quotes are data.
    ...(isText || quote === '"' ? [] : [`quote ${constant(quote ?? '\u0001')}`]),
    ...(quote === null || escape === null || escape === quote ? [] : [`escape ${constant(escape)}`]),
    ...(forced.length > 0 && quote !== null && !isText ? [`force_null (${forced.join(', ')})`] : []),
    ...(encoding === 'utf-8' ? [] : [`encoding '${encoding}'`]),
  ];
  return options.filter((option) => option !== "null ''").join(', ');
};

const finishOf = ({ primaryKey, indexes }: SourceTableSpec): readonly string[] => [
  ...(primaryKey.length > 0 ? [`alter table $ add primary key (${quoteNames(primaryKey)})`] : []),
  ...indexes.map(
    ({ unique, using, columns, include, where }) =>
      `create ${unique ? 'unique ' : ''}index on $ using ${using} (${quoteNames(columns)})` +
      `${include.length > 0 ? ` include (${quoteNames(include)})` : ''}${where === undefined ? '' : ` where ${where}`}`,
  ),
];

/** @param header names of the fields of a file. Throws NoScript. */
export const deriveScript = (table: SourceTableSpec, header: readonly string[]): PsqlScript => {
  const [reading, ...otherReadings] = table.readings;
  const { format } = reading!;
  const { dialect, encoding } = format;
  if (otherReadings.length > 0) throw new NoScript('files of several kinds');
  if (table.filter.length > 0) throw new NoScript('a filter');
  refuseDialect(dialect);
  if (!/^(?:utf-8|windows-\d+)$/.test(encoding)) throw new NoScript(`the encoding ${encoding}`);
  const fields = fieldsOf({ header, name: '', constants: {} }, dialect);
  const indexOf = (ref: FieldRef): number => {
    const index = fields.indexOf(ref);
    if (index < 0) throw new NoScript('a field is missing');
    return index;
  };
  const columns = table.columns.map((column) => {
    try {
      refuseFunctions(column);
      const own = readingOf(column);
      return { column, own, indexes: column.headers.map(indexOf), isPlain: isPlain(column, dialect, own) };
    } catch (error) {
      throw error instanceof NoScript ? new NoScript(`column ${column.name}: ${error.message}`) : error;
    }
  });
  const styles = new Set(columns.flatMap(({ own }) => own.dateStyle ?? []));
  if (styles.size > 1) throw new NoScript('dates with the day first, and with the month first');
  const uses = header.map((_, index) => columns.filter(({ indexes }) => indexes.includes(index)));
  const typed = uses.map((own) => (own.length === 1 && own[0]!.isPlain ? own[0]!.column : undefined));
  const loaded = header.map((_, index) => {
    const column = typed[index];
    return column === undefined ? `${fieldName(index)} text` : `${quoteName(column.name)} ${sqlType(column)}`;
  });
  const forced = header.flatMap((_, index) => {
    const isNullable = dialect.quotedNulls && uses[index]!.some(({ column }) => column.nullable);
    const column = typed[index];
    return isNullable ? [column === undefined ? fieldName(index) : quoteName(column.name)] : [];
  });
  const casts = columns.map(({ column, own, indexes }) =>
    typed.includes(column)
      ? quoteName(column.name)
      : `${castOf(column, dialect, indexes, own)} as ${quoteName(column.name)}`,
  );
  return {
    ...(styles.size > 0 && { settings: `set datestyle = iso, ${[...styles].join('')}` }),
    copy: copyOptions(dialect, encoding, forced),
    loaded: loaded.join(', '),
    ...(typed.includes(undefined) && { casts: casts.join(', ') }),
    finish: finishOf(table),
  };
};

/** The first table of a pipeline that files fill. */
export const specOf = (pipeline: Pipeline): SourceTableSpec => {
  const { tables } = bindPipeline(pipeline, { directory: process.cwd() });
  return tables.find((table): table is SourceTableSpec => table.kind === 'source')!;
};

/** Names of a file's fields, by its dialect or its first record. */
export const headerOf = (table: SourceTableSpec, beginning: string): readonly string[] => {
  const { header, delimiter, quote } = table.readings[0]!.format.dialect;
  if (typeof header === 'object') return header;
  const [first = []] = parse(beginning, { delimiter, quote, to: 1, bom: true });
  return header ? first : first.map(() => '');
};

/** The script of a shape, and how many fields its records have. */
export const scriptOf = ({ pipeline, files, script }: Shape): { script: PsqlScript; fields: number } => {
  const table = specOf(pipeline);
  const header = headerOf(table, files.headerLine);
  return { script: script ?? deriveScript(table, header), fields: header.length };
};
