// The files that a table names, as their sources list them, with what the table says of each.

import type { NewFile } from '../../checkpoint/ledger.ts';
import type { SourceSpec, SourceTableSpec } from '../../declaration.ts';
import { memberLocation } from '../../decode/member-location.ts';
import { EtlError } from '../../errors.ts';
import type { Access, Listed, Listing, Source } from '../../source/contract.ts';
import { bySource } from '../../source/registry.ts';

/** A file where its source lists it. */
export interface Found {
  readonly source: Source;
  readonly file: Listed;
  readonly constants: NewFile['constants'];
  /** undefined: that of the table's format. */
  readonly encoding: string | undefined;
  /** Of the archive that the file is; undefined: the file itself, or its only one. */
  readonly member: string | undefined;
  /** The locations that have these constants, this encoding and this member. */
  readonly group: string;
}

/** Locations of which a table says the same. */
interface Group extends Pick<Found, 'constants' | 'encoding' | 'member' | 'group'> {
  readonly locations: readonly string[];
}

/** The locations by their constants, encodings and members, in declared order; what one excludes is excluded from all. */
const groupsOf = ({ locations, constants, encodings = {} }: SourceSpec): readonly Group[] => {
  const excluded = locations.filter((location) => /^!(?!\()/.test(location));
  const groups = new Map<string, Omit<Group, 'group'> & { readonly locations: string[] }>();
  for (const text of locations) {
    if (excluded.includes(text)) continue;
    const { location, member } = memberLocation(text);
    const own = constants[text] ?? {};
    const encoding = encodings[text];
    const key = JSON.stringify([own, encoding, member]);
    const group = groups.get(key) ?? { constants: own, encoding, member, locations: [] };
    group.locations.push(location);
    groups.set(key, group);
  }
  // Nothing but exclusions: their source says so.
  if (groups.size === 0)
    return [
      { constants: {}, encoding: undefined, member: undefined, locations, group: locations.join(', ') },
    ];
  return [...groups.values()].map((group) => ({
    ...group,
    group: group.locations.join(', '),
    locations: [...group.locations, ...excluded],
  }));
};

/** A file that two locations find, which say different things of it. */
export const twiceFound = (table: string, file: string, first: string, second: string): EtlError =>
  new EtlError('ETL_FILE_CONSTANTS', { table, file, first, second });

/** Lists the files of a table, each member of an archive as often as locations may find it. Errors: ETL_FILE_CONSTANTS, those of its sources. */
export async function* foundFiles(
  { name: table, source: declared }: SourceTableSpec,
  { access, ...listing }: Pick<Listing, 'workingDirectory' | 'texts'> & { readonly access: Access },
): AsyncGenerator<Found, void> {
  const groups = groupsOf(declared);
  const seen = new Map<string, string>();
  for (const { locations, ...group } of groups)
    for (const { source, locations: own } of bySource(locations))
      for await (const file of source.list({ table, locations: own, ...listing }, access)) {
        const key = JSON.stringify([file.location, group.member]);
        const first = seen.get(key);
        if (first !== undefined) throw twiceFound(table, file.name, first, group.group);
        if (groups.length > 1) seen.set(key, group.group);
        yield { ...group, source, file };
      }
}

/** What a listing gives, in lists; when it fails, what it gave before comes first. */
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

/** Members of a file that is no archive. */
export const refuseMember = (table: string, file: string, member: string): EtlError =>
  new EtlError('ETL_SOURCE_FORMAT', {
    table,
    file,
    problem: `is no archive, so that it has no member ${member}`,
    hint: `Name the file alone. A directory whose name ends in an exclamation mark is written with a question mark instead: dir?/*.csv.`,
  });
