// Groups the files of `etl init` into tables, and decides types and keys by all their records.

import type { Dialect } from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { RejectCode } from '../../core/model.ts';
import { inQuotes, plural } from '../../core/wording.ts';
import { chooseKey } from './choose-key.ts';
import type { Decision } from './contract.ts';
import { decideColumn } from './decide.ts';
import type { GivenDialect } from './delimiter.ts';
import type { DraftFile } from './draft-files.ts';
import type { EncodingCandidate } from './encoding.ts';
import { groupedBy } from './grouped.ts';
import { headerRepeats } from './header.ts';
import { keysFound } from './keys.ts';
import type { FaultSeen, TableEvidence } from './observe.ts';
import { mannerOf, readRecords } from './read-records.ts';
import { checkRules, keyDeclared, typesDeclared, type ColumnRules } from './rules.ts';
import { patternOf } from './table-names.ts';

export interface ReadFile {
  readonly name: string;
  readonly location: string;
  readonly encoding: EncodingCandidate;
  readonly dialect: Dialect;
}

export interface TableDraft {
  readonly files: readonly ReadFile[];
  readonly dialect: Dialect;
  /** Names of fields; '' for a field without a name. */
  readonly header: readonly string[];
  readonly decisions: readonly Decision[];
  readonly repeats: number;
  readonly key: readonly number[] | undefined;
  /** True if there are too many records to prove a primary key. */
  readonly isKeyUnknown: boolean;
  readonly records: number;
  readonly bytes: number;
  /** Records that are rejected whatever types the columns have. */
  readonly faults: readonly {
    readonly code: RejectCode;
    readonly count: number;
    readonly first: FaultSeen;
  }[];
  readonly remarks: readonly string[];
}

/**
 * True if blanks around the fields of some columns stand in the way of their types, and no text has
 * blanks around it, so that it loses nothing if every field is trimmed.
 */
const mayTrim = ({ columns }: TableEvidence, decisions: readonly Decision[]): boolean => {
  const withBlanks = decisions.filter(
    (_, index) => columns[index]!.padded !== undefined || columns[index]!.blanks.size > 0,
  );
  return withBlanks.length > 0 && withBlanks.every(({ type }) => type !== 'text');
};

/**
 * Returns the declared key, or the key that was found. Errors: ETL_USAGE for a declared column that
 * has missing values.
 */
const keyOf = (
  rules: ColumnRules,
  header: readonly string[],
  decisions: readonly Decision[],
  found: readonly number[] | undefined,
): readonly number[] | undefined => {
  if (rules.key === undefined) {
    const mayBeInKey = (index: number): boolean =>
      decisions[index]!.isOneToOne && decisions[index]!.missing === 0;
    return found?.every(mayBeInKey) === true ? found : undefined;
  }
  const key = keyDeclared(rules, header);
  const gap = key?.find((index) => decisions[index]!.missing > 0);
  if (gap === undefined) return key?.length === 0 ? undefined : key;
  throw new EtlError('ETL_USAGE', {
    problem: `--key: ${plural(decisions[gap]!.missing, 'record')} without a value in the column ${inQuotes(header[gap]!)}`,
    hint: 'A primary key needs a value in every record. Nothing was written.',
  });
};

const remarksOf = (firsts: readonly DraftFile[]): readonly string[] =>
  firsts.length === 1
    ? firsts[0]!.remarks
    : firsts.flatMap(({ stored, remarks }) => remarks.map((remark) => `${stored.name}: ${remark}`));

const cutRemark = 'a file ends inside a quoted field: it may be cut off';

const tableDraft = async (
  files: readonly DraftFile[],
  given: GivenDialect,
  rules: ColumnRules,
  signal: AbortSignal | undefined,
): Promise<TableDraft> => {
  const firsts = [...groupedBy(files, mannerOf).values()].map((group) => group[0]!);
  const asDeclared = (dialect: Dialect): Dialect =>
    rules.trim === undefined ? dialect : { ...dialect, trim: rules.trim };
  const dialects = new Map(firsts.map((file) => [mannerOf(file), asDeclared(file.dialect)]));
  const trial = { dialects, encodings: new Map(), nulls: rules.nulls };
  const best = await readRecords(files, trial, given, signal);
  const { evidence, header, bytes, encodings } = best;
  const { columns, records, faults, keys } = evidence;
  const repeats = headerRepeats(columns, header);
  const declared = typesDeclared(rules, header);
  const decide = (isTrimmed: boolean): readonly Decision[] =>
    columns.map((column, index) =>
      decideColumn(column, header[index]!, {
        isRepeated: repeats > 0,
        isTrimmed,
        declared: declared[index],
        areNullsDeclared: rules.nulls !== undefined,
        pivot: rules.pivot,
      }),
    );
  const isTrimmed =
    [...best.dialects.values()].some(({ trim }) => trim === true) ||
    (rules.trim === undefined && mayTrim(evidence, decide(true)));
  const decisions = decide(isTrimmed);
  const dialectOf = (file: DraftFile): Dialect => ({
    ...best.dialects.get(mannerOf(file))!,
    trim: isTrimmed,
  });
  const foundKey = chooseKey(keysFound(keys), columns, header, records);
  return {
    files: files.map((file) => {
      const { stored, location, encoding } = file;
      const own = encodings.get(stored.name) ?? encoding;
      return { name: stored.name, location, encoding: own, dialect: dialectOf(file) };
    }),
    dialect: dialectOf(files[0]!),
    header,
    decisions,
    repeats,
    key: keyOf(rules, header, decisions, foundKey),
    isKeyUnknown: keys.isLost && rules.key === undefined,
    records,
    bytes,
    faults: [...faults].map(([code, { count, first: one }]) => ({ code, count, first: one })),
    remarks: [...remarksOf(firsts), ...(best.cut > 0 ? [cutRemark] : [])],
  };
};

/**
 * Returns the same text for files of one table: with the same header. Without a header: with the
 * same number of fields, and names that differ only in numbers (sales-2023.csv, sales-2024.csv).
 */
const shapeOf = (file: DraftFile): string => {
  const { stored, dialect, header } = file;
  const isNamed = dialect.header === true && header.some((name) => name !== '');
  return JSON.stringify(isNamed ? header : [mannerOf(file), header.length, patternOf(stored.name)]);
};

const groupFiles = (files: readonly DraftFile[]): readonly (readonly DraftFile[])[] => [
  ...groupedBy(files, shapeOf).values(),
];

export const draftTables = async (
  files: readonly DraftFile[],
  given: GivenDialect,
  rules: ColumnRules,
  signal: AbortSignal | undefined,
): Promise<readonly TableDraft[]> => {
  checkRules(
    rules,
    files.map(({ header }) => header),
  );
  const drafts: TableDraft[] = [];
  for (const group of groupFiles(files)) drafts.push(await tableDraft(group, given, rules, signal));
  return drafts;
};
