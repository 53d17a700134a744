// What the flags of `etl init` say about columns: types, null tokens, the primary key, blanks.

import { EtlError } from '../../core/errors/errors.ts';
import { inQuotes } from '../../core/wording.ts';
import { isTypeName, columnTypes, type ColumnTypeName } from '../../format/types/registry.ts';
import type { DeclaredType } from './contract.ts';
import { columnNames } from './header.ts';

/** `column=type`, as in `born=date(DD.MM.YYYY)`; the column is named by its field or its SQL name. */
interface TypeRule extends DeclaredType {
  readonly column: string;
  readonly text: string;
}

export interface ColumnRules {
  readonly types: readonly TypeRule[];
  /** Texts that mean "no value" in every column, instead of the words that init knows. */
  readonly nulls?: ReadonlySet<string> | undefined;
  /** Columns of the primary key; none: no primary key. */
  readonly key?: readonly string[] | undefined;
  /** The first year of two digits that is in the 1900s. */
  readonly pivot?: number | undefined;
  /** undefined: blanks are removed if no text has blanks around it. */
  readonly trim?: boolean | undefined;
}

export const noRules: ColumnRules = { types: [] };

type Options = Readonly<Record<string, unknown>>;

/** Reads `1.234,56`: the separators of numbers as an example; `12,2`: precision and scale. */
const numberOptions = (argument: string): Options | undefined => {
  const size = /^(\d+)(?:,\s*(\d+))?$/.exec(argument);
  if (size !== null)
    return { precision: Number(size[1]), ...(size[2] === undefined ? {} : { scale: Number(size[2]) }) };
  const [, thousands, decimal] = /^\d{1,3}([^\d])\d{3}(?:([.,])\d+)?$/.exec(argument) ?? [];
  return thousands === undefined ? undefined : { thousands, ...(decimal === ',' ? { decimal } : {}) };
};

const optionsOf = (type: ColumnTypeName, argument: string): Options | undefined => {
  if (type === 'varchar') return { length: Number(argument) };
  if (type === 'bytea') return { encoding: argument };
  if ('precision' in columnTypes[type].options || 'thousands' in columnTypes[type].options)
    return numberOptions(argument);
  if (!('format' in columnTypes[type].options)) return undefined;
  const formats = argument.split('|');
  return { format: formats.length === 1 ? argument : formats };
};

const wrong = (text: string, problem: string): EtlError =>
  new EtlError('ETL_USAGE', {
    problem: `--type ${text}: ${problem}`,
    hint: 'docs/reference/columns.md has the types and their options.',
  });

/** Reads `column=type` or `column=type(…)`. Errors: ETL_USAGE. */
export const readTypeRule = (text: string): TypeRule => {
  const [, column = '', name = '', argument] = /^(.+)=([a-z]+)(?:\((.+)\))?$/s.exec(text) ?? [];
  if (!isTypeName(name) || name === 'of')
    throw wrong(text, 'it is not of the form column=type, such as id=text or born=date(DD.MM.YYYY)');
  const options = argument === undefined ? undefined : optionsOf(name, argument);
  if (argument !== undefined && options === undefined)
    throw wrong(text, `${name} does not take (${argument})`);
  const problem = columnTypes[name].optionsProblem?.((options ?? {}) as never);
  if (problem !== undefined) throw wrong(text, problem);
  return { column, type: name, options, text };
};

const unknown = (flag: string, column: string): EtlError =>
  new EtlError('ETL_USAGE', {
    problem: `${flag}: no file has the column ${inQuotes(column)}`,
    hint: 'Name the field as the header does, or the column as the pipeline does.',
  });

/** Throws ETL_USAGE if no table has a column that a rule names. */
export const checkRules = (rules: ColumnRules, headers: readonly (readonly string[])[]): void => {
  const known = new Set(headers.flatMap((header) => [...header, ...columnNames(header)]));
  for (const { column, text } of rules.types) if (!known.has(column)) throw unknown(`--type ${text}`, column);
  for (const column of rules.key ?? []) if (!known.has(column)) throw unknown('--key', column);
};

/** Returns the declared type of each column of a table. */
export const typesDeclared = (
  { types }: ColumnRules,
  header: readonly string[],
): readonly (DeclaredType | undefined)[] => {
  const names = columnNames(header);
  return header.map((field, index) =>
    types.findLast(({ column }) => column === field || column === names[index]),
  );
};

/** Returns the declared key of a table; undefined if none is declared, or the table lacks a column. */
export const keyDeclared = (
  { key }: ColumnRules,
  header: readonly string[],
): readonly number[] | undefined => {
  const names = columnNames(header);
  const found = key?.map((column) => {
    const index = header.indexOf(column);
    return index === -1 ? names.indexOf(column) : index;
  });
  return found?.includes(-1) === true ? undefined : found;
};
