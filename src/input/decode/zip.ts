// zip: archives with a directory at their end.

import type { Container } from './contract.ts';
import { contentOf } from './zip-content.ts';

/** The beginning of a member; an archive without one begins with the end of its directory. */
const magics = [Buffer.from('PK\x03\x04'), Buffer.from('PK\x05\x06')];

export const zip: Container = {
  name: 'zip',
  matches: (head) => magics.some((magic) => head.subarray(0, magic.length).equals(magic)),
  members: async (archive) => (await import('./zip-directory.ts')).membersOf(archive),
  decode: contentOf,
};
