// The flags of `etl init` that say what columns become.

import type { ColumnRules } from '../tools/init/rules.ts';
import { choice, flag, repeatable } from './inputs.ts';
import { parseNames, type Parser } from './parsers.ts';

const parseText: Parser<string> = (text) => ({ value: text });

const parseKey: Parser<readonly string[]> = (text, nowMs) =>
  text === '' ? { value: [] } : parseNames(text, nowMs);

export const columnFlags = {
  types: repeatable(
    '--type <column=type>',
    'type of a column, as in id=text, born=date(DD.MM.YYYY), price=numeric(1.234,56)',
    parseText,
  ),
  nulls: repeatable(
    '--null <text>',
    'text that means "no value", instead of NA, NULL and the like',
    parseText,
  ),
  key: flag('--key <columns>', "columns of the primary key; '' for none", parseKey),
  trim: choice('--trim <yes|no>', 'whether blanks around every field are removed', ['yes', 'no']),
};

export interface ColumnFlags {
  readonly types: readonly string[];
  readonly nulls: readonly string[];
  readonly key: readonly string[] | undefined;
  readonly trim: 'yes' | 'no' | undefined;
}

/** Errors: ETL_USAGE for a type that does not exist, or with wrong options. */
export const columnRules = async ({ types, nulls, key, trim }: ColumnFlags): Promise<ColumnRules> => {
  const { readTypeRule } = await import('../tools/init/rules.ts');
  return {
    types: types.map(readTypeRule),
    nulls: nulls.length === 0 ? undefined : new Set(nulls),
    key,
    trim: trim && trim === 'yes',
  };
};
