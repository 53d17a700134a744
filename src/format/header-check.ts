// Compares the header of a file with what a table's columns and filters name.

import type { ColumnSpec, Dialect, FieldRef, FilterSpec } from '../declaration.ts';
import { EtlError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import { firstOf, inQuotes, onOneLine, plural } from '../wording.ts';
import { mainName, refKey, refText, type FileFields } from './file-fields.ts';
import type { HeaderFile } from './header.ts';

/** Where a header is; `skip` is the number of lines up to its end. */
export interface HeaderPlace extends HeaderFile {
  readonly line: number;
  readonly skip: number;
}

const fieldsOfFilter = (filter: FilterSpec): readonly FieldRef[] =>
  filter.kind === 'when' ? filter.headers : [filter.header];

/** Fields that a table's columns and filters need, each once. */
export const neededFields = (
  columns: readonly ColumnSpec[],
  filters: readonly FilterSpec[],
): readonly FieldRef[] => {
  const refs = [...columns.flatMap(({ headers }) => headers), ...filters.flatMap(fieldsOfFilter)];
  return [...new Map(refs.map((ref) => [refKey(ref), ref])).values()];
};

/** A text of one character as a pipeline file would write it. */
const inCode = (character: string): string => (character === '\t' ? String.raw`'\t'` : `'${character}'`);

/** What a header has instead of a missing name. A single field that holds another delimiter is all of them. */
const foundHint = (names: readonly string[], missing: FieldRef, skip: number): string => {
  const isNamed = names.some((name) => name !== '');
  const shown = isNamed ? `: ${firstOf(names, 8).map(onOneLine).join(', ')}` : '';
  const found = `It has ${plural(names.length, 'field')}${shown}.`;
  if (typeof missing === 'number') return found;
  const excel = /^sep=(.?)$/i.exec(names[0]!);
  if (excel !== null) {
    const between = excel[1] === '' ? '' : `, delimiter: ${inCode(excel[1]!)}`;
    return `${found} That line is Excel's, and the header follows it: csv(…, { skipLines: ${skip}${between} }).`;
  }
  const delimiter = names.length === 1 ? /[;|\t,]/.exec(names[0]!)?.[0] : undefined;
  if (delimiter !== undefined) return `${found} Probably csv(…, { delimiter: ${inCode(delimiter)} }).`;
  const near = nearest(mainName(missing), names);
  return near === undefined ? found : `Did you mean ${inQuotes(near)}? ${found}`;
};

/** The error of a field that two fields of the file may be. */
const ambiguous = (
  header: readonly string[],
  ref: FieldRef,
  [first, second]: readonly number[],
  match: Dialect['match'],
  { skip, ...at }: HeaderPlace,
): EtlError => {
  const [one, other] = [header[first!]!, header[second!]!];
  const fields = { first: first! + 1, second: second! + 1 };
  if (one === other)
    return new EtlError('ETL_HEADER_DUPLICATE', { ...at, ...fields, header: onOneLine(one), skip });
  const exactly = `name it exactly: csv(…, { match: 'exact' })`;
  const hint =
    typeof ref === 'string' && match === 'relaxed'
      ? `With match: 'relaxed' the two are the same name. Rename one of them in the file, or ${exactly}.`
      : 'A file must have only one of the names of a column. Declare a column for each, or leave one name out.';
  return new EtlError('ETL_HEADER_AMBIGUOUS', {
    ...at,
    ...fields,
    one: inQuotes(one),
    other: inQuotes(other),
    wanted: refText(ref),
    hint,
  });
};

/**
 * Checks that every needed field is in the file, once.
 *
 * Errors: ETL_HEADER_MISSING (all that are missing, with the nearest name found), ETL_HEADER_DUPLICATE, ETL_HEADER_AMBIGUOUS.
 */
export const checkHeader = (
  { header, placesOf }: FileFields,
  needed: readonly FieldRef[],
  { match, header: given }: Pick<Dialect, 'match' | 'header'>,
  at: HeaderPlace,
): void => {
  const missing = needed.filter((ref) => placesOf(ref).length === 0);
  if (missing.length > 0) {
    const { skip, ...place } = at;
    const headers = missing.map(refText).join(', ');
    throw new EtlError('ETL_HEADER_MISSING', {
      ...place,
      part: given === false ? 'first record' : 'header',
      headers,
      hint: foundHint(header, missing[0]!, skip),
    });
  }
  for (const ref of needed) {
    const places = placesOf(ref);
    if (places.length > 1) throw ambiguous(header, ref, places, match, at);
  }
};
