// zip archives, which have their directory at the end.

import type { Container } from './contract.ts';
import { contentOf } from './zip-content.ts';

/** Magic numbers of a zip archive with files, and of an empty archive. */
const magics = [Buffer.from('PK\x03\x04'), Buffer.from('PK\x05\x06')];

export const zip: Container = {
  name: 'zip',
  matches: (head) => magics.some((magic) => head.subarray(0, magic.length).equals(magic)),
  members: async (archive) => (await import('./zip-directory.ts')).membersOf(archive),
  decode: contentOf,
};
