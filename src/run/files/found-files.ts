// The files that a table names, as their sources list them, with what the table says of each.

import type { PipelineSpec, SourceSpec, SourceTableSpec } from '../../core/declaration/declaration.ts';
import { memberLocation } from '../../input/decode/member-location.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { Access, Listed, Listing, Source } from '../../input/sources/contract.ts';
import { bySource, isExclusion } from '../../input/sources/registry.ts';

/** A file where its source lists it. */
export interface Found {
  readonly source: Source;
  readonly file: Listed;
  /** Place among the readings of its table. */
  readonly reading: number;
  /** The wanted members of an archive; undefined: the file itself, or its only member. */
  readonly member: string | undefined;
  /** For errors: the locations with this reading and these members. */
  readonly group: string;
}

/** Locations of one reading that name the same members, or none. */
interface Group extends Pick<Found, 'member' | 'group'> {
  readonly locations: readonly string[];
}

/** Groups locations by their members, in declared order. Exclusions apply to every group. */
const groupsOf = ({ locations }: SourceSpec): readonly Group[] => {
  const excluded = locations.filter(isExclusion);
  const groups = new Map<string | undefined, string[]>();
  for (const text of locations) {
    if (isExclusion(text)) continue;
    const { location, member } = memberLocation(text);
    const group = groups.get(member);
    if (group === undefined) groups.set(member, [location]);
    else group.push(location);
  }
  // Only exclusions: the source reports that.
  if (groups.size === 0) return [{ member: undefined, locations, group: locations.join(', ') }];
  return [...groups].map(([member, named]) => ({
    member,
    group: named.join(', '),
    locations: [...named, ...excluded],
  }));
};

/** The error for a file that two locations with different options find. */
export const twiceFound = (table: string, file: string, first: string, second: string): EtlError =>
  new EtlError('ETL_FILE_OPTIONS', { table, file, first, second });

/** The base of relative locations, those that parameters are part of, and a signal that ends the listing. */
interface ListingFrom extends Pick<Listing, 'workingDirectory'>, Pick<Access, 'signal'> {
  readonly varied?: PipelineSpec['varied'];
}

/** Lists the files of a table, each member of an archive as often as locations may find it. Errors: ETL_FILE_OPTIONS, those of its sources. */
export async function* foundFiles(
  { name: table, readings }: SourceTableSpec,
  { workingDirectory, varied, signal }: ListingFrom,
): AsyncGenerator<Found, void> {
  const groups = readings.flatMap(({ source: declared }, reading) =>
    groupsOf(declared).map((group) => ({ ...group, reading, declared })),
  );
  const others = new Map(
    varied?.flatMap((each) => (each.table === table ? [[each.path, each.others] as const] : [])),
  );
  const seen = new Map<string, string>();
  for (const { locations, declared, ...group } of groups) {
    const confined = declared.anywhere ? undefined : others;
    for (const { source, locations: own } of bySource(locations)) {
      const listing = { table, locations: own, workingDirectory, varied: confined };
      for await (const file of source.list(listing, { declared, signal })) {
        const key = JSON.stringify([file.location, group.member]);
        const first = seen.get(key);
        if (first !== undefined) throw twiceFound(table, file.name, first, group.group);
        if (groups.length > 1) seen.set(key, group.group);
        yield { ...group, source, file };
      }
    }
  }
}

/** Groups the items of a listing into batches. If the listing fails, its items so far come first. */
export async function* inBatches<Item>(
  items: AsyncIterable<Item>,
  size: number,
): AsyncGenerator<Item[], void> {
  let batch: Item[] = [];
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const item of items) {
      batch.push(item);
      if (batch.length < size) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    failure = { error };
  }
  if (batch.length > 0) yield batch;
  if (failure !== undefined) throw failure.error;
}

/** The error for members of a file that is not an archive. */
export const refuseMember = (table: string, file: string, member: string): EtlError =>
  new EtlError('ETL_SOURCE_FORMAT', {
    table,
    file,
    problem: `is not an archive, so it has no member ${member}`,
    hint: `Name the file alone. A directory whose name ends in an exclamation mark is written with a question mark instead: dir?/*.csv.`,
  });
