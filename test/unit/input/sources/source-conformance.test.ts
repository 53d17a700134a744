// Every source passes the same cases: local files, and HTTP servers of several kinds.

import { readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { http } from '../../../../src/input/sources/http/http.ts';
import { localFiles } from '../../../../src/input/sources/local-files.ts';
import { useFiles } from '../../../helpers/files.ts';
import { useHttpFiles, type Serving } from '../../../helpers/http-files.ts';
import { accessWith } from '../../../helpers/source-access.ts';
import { describeSource, type Place } from './conformance.ts';

const linkOf = (fd: string): string => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
};

const local = (): Place => {
  const files = useFiles();
  return {
    source: localFiles,
    put: (name, bytes) => files.write(name, bytes),
    remove: (name) => rmSync(join(files.directory, name)),
    access: (signal) => accessWith({}, signal),
    three: () => [
      join(files.directory, '[ab].csv'),
      join(files.directory, 'c.csv'),
      join(files.directory, 'a.csv'),
    ],
    opened: () => readdirSync('/proc/self/fd').filter((fd) => linkOf(fd).startsWith(files.directory)).length,
    noticesAtOpen: false,
  };
};

/** An HTTP server. Idle connections that are kept for later requests do not count as open. */
const served = (how: (bytes: Buffer) => Partial<Serving>) => (): Place => {
  const server = useHttpFiles();
  return {
    source: http,
    put: (name, bytes) => server.put(`/${name}`, { ...how(bytes), bytes }),
    remove: (name) => server.remove(`/${name}`),
    access: (signal) => accessWith({ allowPrivate: true }, signal),
    three: () => [server.url('/{a,b}.csv'), server.url('/c.csv'), server.url('/a.csv')],
    opened: server.busy,
    noticesAtOpen: true,
  };
};

/** A server without ETags, with another date for each version. */
const dated = (bytes: Buffer): Partial<Serving> => ({
  etag: null,
  modified: new Date(1_700_000_000_000 + 60_000 * (bytes[0] ?? 0)).toUTCString(),
});

describeSource('of local files', local);
describeSource(
  'HTTP, with a strong ETag',
  served(() => ({})),
);
describeSource(
  'HTTP, with an ETag and without ranges',
  served(() => ({ ranges: false })),
);
describeSource(
  'HTTP, that ignores If-Range',
  served(() => ({ ranges: 'always' })),
);
describeSource('HTTP, with a date', served(dated));
describeSource(
  'HTTP, with neither ETag nor date',
  served(() => ({ etag: null })),
);
describeSource(
  'HTTP, with a weak ETag',
  served(() => ({ etag: 'W/"1"' })),
);

it('a local file that was changed just before it was looked at may look the same afterwards: its listing tells nothing', async () => {
  const files = useFiles();
  const location = files.write('a.csv', 'a');
  const file = { location, name: location, table: 't' };
  const { fingerprint } = await localFiles.look(file, accessWith());
  const [size, mtimeNs] = fingerprint.split(':');
  const seenAfterMs = (ms: number) =>
    localFiles.isVersion!(`${size}:${mtimeNs}`, {
      fingerprint,
      seenAt: new Date(Number(mtimeNs) / 1e6 + ms),
    });
  expect([1_500, 2_500].map(seenAfterMs)).toEqual([false, true]);
});
