// Finds files that have not changed, without opening them. Of a hundred thousand listed files, only
// the new ones are opened.

import { knownVersions, type FilesOf, type KnownVersion } from '../../ledger/production/published-files.ts';
import type { Client } from '../../db/client.ts';
import type { Found } from './found-files.ts';

/**
 * Returns the loaded versions of unchanged files (`place`: index in `files`), except files that are
 * loaded again for another reason.
 */
export const versionsAsListed = async (
  client: Client,
  of: FilesOf,
  files: readonly Found[],
): Promise<readonly KnownVersion[]> => {
  // The listing shows no members of archives, so members cannot be compared here.
  const versioned = [...files.keys()].filter((place) => {
    const { source, file, member } = files[place]!;
    return source.isVersion !== undefined && file.version !== undefined && member === undefined;
  });
  if (versioned.length === 0) return [];
  const asked = versioned.map((place) => {
    const { source, file } = files[place]!;
    return { source: source.name, location: file.location, member: null, fingerprint: '' };
  });
  return (await knownVersions(client, of, asked))
    .map((version) => ({ ...version, place: versioned[version.place]! }))
    .filter((version) => {
      const { source, file } = files[version.place]!;
      const { isUnloaded, isCorrected, isPartial } = version;
      return !isUnloaded && !isCorrected && !isPartial && source.isVersion!(file.version!, version);
    });
};
