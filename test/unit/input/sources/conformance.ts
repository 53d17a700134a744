// Cases that every source must pass. A source is added by a line in source-conformance.test.ts.

import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Access, KnownFile, Listed, Source } from '../../../../src/input/sources/contract.ts';
import { codeOf } from '../../../../src/core/errors/errors.ts';
import { failureOf } from '../../../helpers/failure.ts';

/** A source, and where the tests put its files. */
export interface Place {
  readonly source: Source;
  /** Writes a file, or another version of it. Returns its location for a pipeline. */
  readonly put: (name: string, bytes: Buffer) => Promise<string> | string;
  readonly remove: (name: string) => Promise<void> | void;
  readonly access: (signal?: AbortSignal) => Access;
  /** Locations of a table that name a.csv, b.csv and c.csv, and a.csv twice. */
  readonly three: () => readonly string[];
  /** Number of open files or busy connections. */
  readonly opened: () => number | Promise<number>;
  /** True if `open` notices a new version of the file; false: only `look` does. */
  readonly noticesAtOpen: boolean;
}

const content = Buffer.from(Array.from({ length: 400_000 }, (_, index) => (index * 7 + (index >> 9)) % 251));

const listed = async ({ source, access }: Place, locations: readonly string[]): Promise<Listed[]> => {
  const files = [];
  const listing = { table: 't', locations, workingDirectory: process.cwd() };
  for await (const file of source.list(listing, access())) files.push(file);
  return files;
};

const lookAt = async (place: Place, location: string) => {
  const [file] = await listed(place, [location]);
  const named = { ...file!, table: 't' };
  const { head, ...state } = await place.source.look(named, place.access());
  return { file: { ...named, ...state }, head };
};

const read = async (place: Place, file: KnownFile, start: number, end: number, blockBytes?: number) => {
  const pieces: Buffer[] = [];
  const sizes: number[] = [];
  for await (const block of place.source.open(file, place.access(), start, end, blockBytes)) {
    pieces.push(Buffer.from(block));
    sizes.push(block.length);
  }
  return { bytes: Buffer.concat(pieces), sizes };
};

/** Polls, because a connection ends shortly after its reader. */
const expectNothingOpen = async (place: Place): Promise<void> => {
  await expect.poll(place.opened).toBe(0);
};

export const describeSource = (name: string, make: () => Place): void => {
  describe(`the source ${name}`, () => {
    const place = make();
    let location: string;
    beforeAll(async () => {
      location = await place.put('whole.csv', content);
      for (const file of ['b.csv', 'a.csv', 'c.csv']) await place.put(file, Buffer.from(file));
    });

    it('lists in a fixed order, each file once, by what finds it again', async () => {
      const files = await listed(place, place.three());
      expect(files.map(({ name: shown }) => shown.slice(-5))).toEqual(['a.csv', 'b.csv', 'c.csv']);
      expect(await listed(place, place.three())).toEqual(files);
      for (const file of files) {
        const known = { ...file, table: 't' };
        expect((await place.source.look(known, place.access())).head.toString()).toBe(file.name.slice(-5));
      }
    });

    it('looks: size, first bytes, and a fingerprint that stays', async () => {
      const { file, head } = await lookAt(place, location);
      expect(file.bytes).toBe(content.length);
      expect(head.length).toBeGreaterThanOrEqual(1024);
      expect(content.subarray(0, head.length).equals(head)).toBe(true);
      expect((await lookAt(place, location)).file).toEqual(file);
      await expectNothingOpen(place);
    });

    it('looks at an empty file', async () => {
      const { file, head } = await lookAt(place, await place.put('empty.csv', Buffer.alloc(0)));
      expect([file.bytes, head.length]).toEqual([0, 0]);
      expect((await read(place, file, 0, Infinity)).bytes.length).toBe(0);
    });

    it.each([
      [0, Infinity, undefined],
      [0, Infinity, 65_536],
      [0, 1, undefined],
      [1, 65_537, 1000],
      [123_456, 234_567, 100_000],
      [content.length - 1, Infinity, undefined],
      [content.length, Infinity, undefined],
      [content.length + 10, Infinity, undefined],
      [content.length - 5, content.length + 10, undefined],
    ])('gives the bytes from %d to %d in blocks of %s at most', async (start, end, blockBytes) => {
      const { file } = await lookAt(place, location);
      const { bytes, sizes } = await read(place, file, start, end, blockBytes);
      expect(bytes.equals(content.subarray(start, end))).toBe(true);
      expect(Math.max(0, ...sizes)).toBeLessThanOrEqual(blockBytes ?? 1024 * 1024);
      expect(sizes).not.toContain(0);
      await expectNothingOpen(place);
    });

    it('has another fingerprint when the file has other bytes of the same size', async () => {
      const other = Buffer.from(content);
      other[0]! ^= 1;
      const changing = await place.put('changing.csv', content);
      const { file } = await lookAt(place, changing);
      await place.put('changing.csv', other);
      expect((await lookAt(place, changing)).file.fingerprint).not.toBe(file.fingerprint);
      const refusals = [0, 100_000].map((start) =>
        read(place, file, start, Infinity).then(() => undefined, codeOf),
      );
      const code = place.noticesAtOpen ? 'ETL_SOURCE_CHANGED' : undefined;
      expect(await Promise.all(refusals)).toEqual([code, code]);
      await expectNothingOpen(place);
    });

    it('knows a version by its listing, where that tells, and no other', async () => {
      const { isVersion } = place.source;
      const version = async () => (await listed(place, place.three()))[0]!.version;
      expect((await version()) === undefined).toBe(isVersion === undefined);
      if (isVersion === undefined) return;
      const [first] = await listed(place, place.three());
      const { fingerprint } = await place.source.look({ ...first!, table: 't' }, place.access());
      const seen = { fingerprint, seenAt: new Date(Date.now() + 60_000) };
      expect(isVersion(first!.version!, seen)).toBe(true);
      await place.put('a.csv', Buffer.from('b.csv'));
      const other = (await version())!;
      await place.put('a.csv', Buffer.from('a.csv'));
      expect(isVersion(other, seen)).toBe(false);
    });

    it('says that a file is gone', async () => {
      const { file } = await lookAt(place, await place.put('gone.csv', content));
      await place.remove('gone.csv');
      const gone: unknown = await place.source.look(file, place.access()).catch((error: unknown) => error);
      expect(['ENOENT', 'ETL_SOURCE_GONE']).toContain(codeOf(gone));
      const { code, details } = await failureOf(read(place, file, 0, Infinity));
      expect(['ETL_SOURCE_UNREADABLE', 'ETL_SOURCE_GONE']).toContain(code);
      expect(details).toMatchObject({ table: 't', file: file.name });
      await expectNothingOpen(place);
    });

    it('closes the file when nobody reads on', async () => {
      const { file } = await lookAt(place, location);
      for await (const _ of place.source.open(file, place.access(), 10, Infinity, 1000)) break;
      const unread = place.source.open(file, place.access(), 10, Infinity, 1000)[Symbol.asyncIterator]();
      await unread.return?.();
      await expect.poll(place.opened).toBe(0);
    });

    it('ends in mid-read when it is aborted, or reads no more than it has', async () => {
      const { file } = await lookAt(place, location);
      const leaving = new AbortController();
      const reading = (async () => {
        for await (const _ of place.source.open(file, place.access(leaving.signal), 0, Infinity, 1000)) {
          leaving.abort(new Error('left'));
          await sleep(5);
        }
      })();
      expect(await reading.catch((error: unknown) => (error as Error).message)).toBe(
        place.source.isSeekable ? undefined : 'left',
      );
      await expectNothingOpen(place);
    });
  });
};
