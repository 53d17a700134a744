// Listed files and members of archives, with the facts that are known without decoding them.

import type { NewFile } from '../../ledger/run/ledger.ts';
import { containerOf, decodingOfFile } from '../../input/decode/registry.ts';
import type { Access, KnownFile, Look } from '../../input/sources/contract.ts';
import { refuseMember, type Found } from './found-files.ts';
import { extname } from 'node:path';
import { exceededBound, type Bounds } from '../../input/decode/bounds.ts';
import { UnreadableArchive, type Container, type Member } from '../../input/decode/contract.ts';
import { memberName } from '../../input/decode/member-location.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { MemberPart } from '../../core/model.ts';
import { nameMatcher } from '../../input/sources/name-matcher.ts';
import { sourceNamed } from '../../input/sources/registry.ts';
import { firstOf, inQuotes, onOneLine } from '../../core/wording.ts';

interface Archive extends KnownFile {
  readonly source: string;
}

const membersShown = 8;

const shown = (members: readonly Member[]): string =>
  members.length === 0
    ? 'no files'
    : firstOf(
        members.map(({ name }) => inQuotes(name)),
        membersShown,
      ).join(', ');

const refusalOf = ({ table, name }: Archive, problem: string, hint: string): EtlError =>
  new EtlError('ETL_SOURCE_FORMAT', { table, file: name, problem, hint });

/** Returns false for files that archive programs add, such as `__MACOSX/…`. */
const isOwn = ({ name }: Member): boolean =>
  !name.startsWith('__MACOSX/') && !name.split('/').some((part) => part.startsWith('.'));

/** In a glob, one star does not match a slash: files in folders need two. */
const globFor = (members: readonly Member[]): string => {
  const { name } = members.find((one) => /\.csv$/i.test(one.name)) ?? members[0] ?? { name: '.csv' };
  return `${name.includes('/') ? '**/' : ''}*${extname(name)}`;
};

const onlyMember = (archive: Archive, members: readonly Member[]): readonly Member[] => {
  const own = members.filter(isOwn);
  if (own.length === 1) return own;
  if (members.some(({ name }) => name === '[Content_Types].xml'))
    throw refusalOf(archive, 'is a document of an office program, not CSV', 'Save its sheet as CSV.');
  const glob = onOneLine(memberName(archive.name, globFor(own)));
  const hint = `Name the member, or several members by a glob: csv('${glob}').`;
  throw refusalOf(archive, `is an archive of ${own.length} files: ${shown(own)}`, hint);
};

const namedMembers = (archive: Archive, members: readonly Member[], wanted: string): readonly Member[] => {
  const matches = nameMatcher(wanted);
  const named = members.filter(({ name }) => matches(name));
  if (named.length > 0) return named;
  const glob = memberName(archive.name, wanted);
  const deeper = `**/${wanted}`;
  const isDeeper = members.some(({ name }) => nameMatcher(deeper)(name));
  const advice = isDeeper ? `; in folders: ${memberName(archive.name, deeper)}` : '';
  const directory = `${archive.name}, which has ${shown(members)}${advice}`;
  throw new EtlError('ETL_SOURCE_NOT_FOUND', { table: archive.table, glob, directory });
};

interface ChosenMember {
  readonly member: string;
  readonly bytes: number;
  readonly part: MemberPart;
}

const refuseBomb = (
  { table, name: file }: Archive,
  members: readonly ChosenMember[],
  bounds: Bounds,
): void => {
  const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);
  const stored = sum(members.map(({ bytes }) => bytes));
  const decoded = sum(members.map(({ part }) => part.bytes));
  const exceeded = exceededBound(stored, decoded, bounds);
  if (exceeded !== undefined) throw new EtlError('ETL_SOURCE_EXPANDS', { table, file, ...exceeded });
};

/**
 * Finds the wanted members of an archive. Errors: ETL_SOURCE_NOT_FOUND, ETL_SOURCE_FORMAT (damaged,
 * encrypted, ambiguous), ETL_SOURCE_EXPANDS, those of the archive's source.
 */
const chooseMembers = async (
  { members: membersOf, name: format }: Container,
  archive: Archive,
  access: Access,
  wanted: string | undefined,
): Promise<readonly ChosenMember[]> => {
  const { open } = sourceNamed(archive.source);
  try {
    const members = await membersOf({
      bytes: archive.bytes,
      read: (start, end) => open(archive, access, start, end),
    });
    const chosen =
      wanted === undefined ? onlyMember(archive, members) : namedMembers(archive, members, wanted);
    const names = new Set<string>();
    const found: ChosenMember[] = [];
    for (const { name, bytes, refusal, locate } of chosen) {
      const named = { ...archive, name: memberName(archive.name, name) };
      if (refusal !== undefined) throw refusalOf(named, refusal.problem, refusal.hint);
      if (names.has(name)) throw refusalOf(named, 'is in its archive twice', 'Pack it again.');
      names.add(name);
      found.push({ member: name, bytes, part: await locate() });
    }
    refuseBomb(archive, found, access.declared);
    return found.toSorted((one, other) => (one.member < other.member ? -1 : 1));
  } catch (cause) {
    if (!(cause instanceof UnreadableArchive)) throw cause;
    const problem = `is not a readable ${format} archive: ${cause.message}`;
    throw refusalOf(archive, problem, 'Fetch it again, or pack it again.');
  }
};

export type StoredFile = Pick<
  NewFile,
  'table' | 'source' | 'location' | 'member' | 'part' | 'name' | 'bytes' | 'fingerprint' | 'decoding'
>;

export interface LookedAt extends Pick<Look, 'head' | 'last' | 'touched'> {
  readonly stored: StoredFile;
}

/**
 * Yields a file, or members of an archive. `head`: its first bytes. Errors: those of the source and
 * of `chooseMembers`.
 */
export async function* storedFiles(
  table: string,
  { source, file: { name, location, refusal }, member }: Pick<Found, 'source' | 'file' | 'member'>,
  access: Access,
): AsyncGenerator<LookedAt, void> {
  if (refusal !== undefined) throw refusal;
  const listed = { table, name, location };
  const { head, last, touched, bytes, fingerprint } = await source.look(listed, access);
  const file = { table, name, location, bytes, fingerprint, source: source.name };
  const container = containerOf(head);
  if (container === undefined) {
    if (member !== undefined) throw refuseMember(table, name, member);
    const decoding = decodingOfFile(head, name)?.name ?? null;
    const stored = Object.assign(file, { member: null, part: null, decoding });
    yield { stored, head, last, touched };
    return;
  }
  for (const chosen of await chooseMembers(container, file, access, member)) {
    const stored = { ...file, ...chosen, name: memberName(name, chosen.member), decoding: container.name };
    yield { stored, head, touched };
  }
}
