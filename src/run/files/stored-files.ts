// A listed file, or the members of an archive, as they are stored: what is known without their
// content.

import type { NewFile } from '../../ledger/run/ledger.ts';
import { memberName } from '../../input/decode/member-location.ts';
import { containerOf, decodingOfFile } from '../../input/decode/registry.ts';
import type { Access } from '../../input/sources/contract.ts';
import { chooseMembers } from './archive-members.ts';
import { refuseMember, type Found } from './found-files.ts';

export type StoredFile = Pick<
  NewFile,
  'table' | 'source' | 'location' | 'member' | 'part' | 'name' | 'bytes' | 'fingerprint' | 'decoding'
>;

/**
 * Yields each file or member with the first bytes of the file or archive. Errors: those of the
 * source and of `chooseMembers`.
 */
export async function* storedFiles(
  table: string,
  { source, file: { name, location }, member }: Pick<Found, 'source' | 'file' | 'member'>,
  access: Access,
): AsyncGenerator<{ readonly stored: StoredFile; readonly head: Buffer }, void> {
  const listed = { table, name, location };
  const { head, ...state } = await source.look(listed, access);
  const file = { ...listed, ...state, source: source.name };
  const container = containerOf(head);
  if (container === undefined) {
    if (member !== undefined) throw refuseMember(table, name, member);
    const decoding = decodingOfFile(head, name)?.name ?? null;
    yield { stored: { ...file, member: null, part: null, decoding }, head };
    return;
  }
  for (const chosen of await chooseMembers(container, file, access, member)) {
    const stored = { ...file, ...chosen, name: memberName(name, chosen.member), decoding: container.name };
    yield { stored, head };
  }
}
