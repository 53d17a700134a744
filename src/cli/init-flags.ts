// The flags of `etl init` that say how files are read, and what columns become.

import type { ColumnRules } from '../tools/init/rules.ts';
import { encodingOfLabel, type EncodingName } from '../input/encodings/labels.ts';
import type { GivenReading } from '../tools/init/draft-files.ts';
import { choice, countFlag, flag, repeatable } from './inputs.ts';
import { parseBoolean, parseNames, type Parser } from './parsers.ts';

const parseEncoding: Parser<EncodingName> = (text) => {
  const value = encodingOfLabel(text);
  return value === undefined
    ? { problem: `'${text}' is not an encoding such as windows-1250 or shift_jis` }
    : { value };
};

const escapes: Readonly<Record<string, string>> = { t: '\t', '0': '\0' };

/** Parses a text in which \\t and \\x01 are characters. */
const parseDelimiter: Parser<string> = (text) => {
  const value = text.replace(/\\(?:([t0])|x([\da-f]{2}))/gi, (_, letter?: string, code?: string) =>
    letter === undefined ? String.fromCharCode(Number.parseInt(code!, 16)) : escapes[letter.toLowerCase()]!,
  );
  return value === '' ? { problem: 'a delimiter has at least one character' } : { value };
};

/** Parses one ASCII character, or `none`. */
const parseQuote: Parser<string | null> = (text) => {
  if (text === 'none') return { value: null };
  return /^[\x20-\x7e]$/.test(text)
    ? { value: text }
    : { problem: `'${text}' is not one character, or none` };
};

const parseEscape: Parser<string> = (text) =>
  /^[\x20-\x7e]$/.test(text) ? { value: text } : { problem: `'${text}' is not one character` };

const headerLinesMax = 10;

export const readingFlags = {
  encoding: flag('--encoding <name>', 'encoding of files without a byte order mark', parseEncoding),
  delimiter: flag('--delimiter <text>', 'delimiter of all files, such as ; or \\t or \\x01', parseDelimiter),
  quote: flag('--quote <character>', 'quote of all files; none: quotes are data', parseQuote),
  escape: flag('--escape <character>', 'character before a quote inside quotes', parseEscape),
  header: flag('--header', 'the first record of each file is its header', parseBoolean),
  noHeader: flag('--no-header', 'the files have no header', parseBoolean),
  headerLines: countFlag('--header-lines <n>', 'number of lines of the header', headerLinesMax),
};

export interface ReadingFlags extends Omit<GivenReading, 'isHeader'> {
  readonly header: boolean | undefined;
  readonly noHeader: boolean | undefined;
}

/** `--header` and `--no-header` are one option of the command line, but have a variable each. */
export const givenReading = ({
  header,
  noHeader,
  encoding,
  delimiter,
  quote,
  escape,
  headerLines,
}: ReadingFlags): GivenReading => {
  const isHeader = header ?? (noHeader === true ? false : undefined);
  return { encoding, delimiter, quote, escape, headerLines, isHeader };
};

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
  pivot: countFlag('--pivot <year>', 'first year of two digits that is in the 1900s; default: 69', 99),
  trim: choice('--trim <yes|no>', 'whether blanks around every field are removed', ['yes', 'no']),
};

export interface ColumnFlags {
  readonly types: readonly string[];
  readonly nulls: readonly string[];
  readonly key: readonly string[] | undefined;
  readonly pivot: number | undefined;
  readonly trim: 'yes' | 'no' | undefined;
}

/** Errors: ETL_USAGE for a type that does not exist, or with wrong options. */
export const columnRules = async ({ types, nulls, key, pivot, trim }: ColumnFlags): Promise<ColumnRules> => {
  const { readTypeRule } = await import('../tools/init/rules.ts');
  return {
    types: types.map(readTypeRule),
    nulls: nulls.length === 0 ? undefined : new Set(nulls),
    key,
    pivot,
    trim: trim && trim === 'yes',
  };
};
