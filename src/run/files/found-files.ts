// Lists the files that a table names, each with the options that the table declares for it.

import type { PipelineSpec, SourceSpec, SourceTableSpec } from '../../core/declaration.ts';
import { memberLocation } from '../../input/decode/member-location.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { Access, Listed, Listing, Source } from '../../input/sources/contract.ts';
import { bySource, isExclusion } from '../../input/sources/registry.ts';

export interface Found {
  readonly source: Source;
  readonly file: Listed;
  readonly reading: number;
  /**
   * Glob of the wanted members of an archive. Undefined: the file is read itself, or the only
   * member of the archive.
   */
  readonly member: string | undefined;
  /** The declared locations among which the file was found. Error texts show them. */
  readonly group: string;
}

interface Group extends Pick<Found, 'member' | 'group'> {
  readonly locations: readonly string[];
}

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
  // A list with only exclusions is refused later, by the source.
  if (groups.size === 0) return [{ member: undefined, locations, group: locations.join(', ') }];
  return [...groups].map(([member, named]) => ({
    member,
    group: named.join(', '),
    locations: [...named, ...excluded],
  }));
};

export const twiceFound = (table: string, file: string, first: string, second: string): EtlError =>
  new EtlError('ETL_FILE_OPTIONS', { table, file, first, second });

interface ListingFrom extends Pick<Listing, 'workingDirectory'>, Pick<Access, 'signal'> {
  readonly varied?: PipelineSpec['varied'];
}

/**
 * Yields each file. An archive is listed for each location that names members of it. Errors:
 * ETL_FILE_OPTIONS, those of the sources.
 */
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
        if (declared.arrival.ready !== null && file.name.endsWith(declared.arrival.ready)) continue;
        const key = JSON.stringify([file.location, group.member]);
        const first = seen.get(key);
        if (first !== undefined) throw twiceFound(table, file.name, first, group.group);
        if (groups.length > 1) seen.set(key, group.group);
        yield { ...group, source, file };
      }
    }
  }
}

const filesPerBatch = 1_000;

/**
 * Groups items into arrays of `filesPerBatch`. If the listing fails, first yields the items listed so far.
 */
export async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item[], void> {
  let batch: Item[] = [];
  let failure: { readonly error: unknown } | undefined;
  try {
    for await (const item of items) {
      batch.push(item);
      if (batch.length < filesPerBatch) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    failure = { error };
  }
  if (batch.length > 0) yield batch;
  if (failure !== undefined) throw failure.error;
}

export const refuseMember = (table: string, file: string, member: string): EtlError =>
  new EtlError('ETL_SOURCE_FORMAT', {
    table,
    file,
    problem: `is not an archive, so it has no member ${member}`,
    hint: `Name only the file. If the name of a directory ends with an exclamation mark, write a question mark in its place: dir?/*.csv.`,
  });
