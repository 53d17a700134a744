// Cases for every archive format: members in pieces of any size, offsets of damage, missing
// members.

import { describe, expect, it } from 'vitest';
import { CorruptBytes, UnreadableArchive, type ArchiveBytes } from '../../../../src/input/decode/contract.ts';
import { containerOf, containers } from '../../../../src/input/decode/registry.ts';
import { zipFile, type ZipMember } from '../../../helpers/zip-file.ts';

type Content = Pick<ZipMember, 'name' | 'content'>;

const failureOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => new Error('nothing failed'),
    (error: Error) => error,
  );

/** Packs files into an archive, by format. */
const packers: Readonly<Record<string, (members: readonly Content[]) => Buffer>> = { zip: zipFile };

const archiveOf = (bytes: Buffer, pieceBytes = 1000): ArchiveBytes => ({
  bytes: bytes.length,
  read: async function* (start, end) {
    for (let at = start; at < Math.min(end, bytes.length); at += pieceBytes) {
      const piece = Buffer.from(bytes.subarray(at, Math.min(at + pieceBytes, end)));
      yield piece;
      // Overwrites the piece, as a source does that reuses its memory.
      piece.fill(0xff);
    }
  },
});

const content = Buffer.from(Array.from({ length: 20_000 }, (_, line) => `${line},${line * line}\n`).join(''));

describe.each(containers)('$name', ({ name, matches, members, decode }) => {
  const pack = packers[name]!;
  const unpack = async (archive: Buffer, pieceBytes?: number): Promise<Record<string, string>> => {
    const bytes = archiveOf(archive, pieceBytes);
    const unpacked: Record<string, string> = {};
    for (const member of await members(bytes)) {
      const part = await member.locate();
      const pieces = [];
      for await (const piece of decode(bytes.read(part.start, part.end), part))
        pieces.push(Buffer.from(piece));
      unpacked[member.name] = Buffer.concat(pieces).toString();
    }
    return unpacked;
  };
  const files = [
    { name: 'b.csv', content },
    { name: 'dir/ä.csv', content: 'a,b\n' },
    { name: 'empty.csv', content: '' },
  ];
  const packed = pack(files);
  const expected = Object.fromEntries(files.map((file) => [file.name, String(file.content)]));

  it('is known by its first bytes, and a CSV file is not of it', () => {
    expect(matches(packed)).toBe(true);
    expect(matches(pack([]))).toBe(true);
    expect(containerOf(packed)?.name).toBe(name);
    expect(containerOf(content)).toBeUndefined();
    expect(containerOf(Buffer.alloc(0))).toBeUndefined();
  });

  it.each([7, 1000, 1e6])('gives the files that were packed, in pieces of %i', async (pieceBytes) => {
    expect(await unpack(packed, pieceBytes)).toEqual(expected);
    expect(await unpack(pack([]))).toEqual({});
  });

  it('that is cut off anywhere cannot be read', async () => {
    const short = pack([{ name: 'a.csv', content: 'a,b\n1,2\n' }]);
    for (let bytes = 4; bytes < short.length; bytes += 1)
      expect(await failureOf(unpack(short.subarray(0, bytes)))).toBeInstanceOf(UnreadableArchive);
  });

  it('a byte that was changed is found, or changes no content', async () => {
    const short = pack([{ name: 'a.csv', content: content.subarray(0, 200) }]);
    for (let at = 0; at < short.length; at += 1) {
      const damaged = Buffer.from(short);
      damaged[at]! ^= 0x55;
      const outcome = await unpack(damaged).catch((error: unknown) => error);
      const isFound = outcome instanceof CorruptBytes || outcome instanceof UnreadableArchive;
      const isRight = Object.values(outcome as object).some(
        (text) => text === String(content.subarray(0, 200)),
      );
      const isEmpty = Object.keys(outcome as object).length === 0;
      expect({ at, isFine: isFound || isRight || isEmpty }).toEqual({ at, isFine: true });
    }
  });

  it('an error of the source is given as it is', async () => {
    const broken = Object.assign(new Error('gone'), { code: 'EIO' });
    const archive: ArchiveBytes = {
      bytes: packed.length,
      read: async function* () {
        yield packed.subarray(0, 1);
        throw broken;
      },
    };
    expect(await failureOf(members(archive))).toBe(broken);
  });

  it('closes its source when nobody reads on', async () => {
    const bytes = archiveOf(packed);
    const [member] = await members(bytes);
    const part = await member!.locate();
    let isClosed = false;
    async function* watched(): AsyncGenerator<Buffer, void> {
      try {
        yield* bytes.read(part.start, part.end);
      } finally {
        isClosed = true;
      }
    }
    for await (const _ of decode(watched(), part)) break;
    expect(isClosed).toBe(true);
  });
});

describe('zip', () => {
  const [zip] = containers;
  const unpackOne = async (member: ZipMember): Promise<string> => {
    const bytes = archiveOf(zipFile([{ name: 'first', content: 'x' }, member]));
    const found = (await zip!.members(bytes))[1]!;
    const part = await found.locate();
    const pieces = [];
    for await (const piece of zip!.decode(bytes.read(part.start, part.end), part))
      pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces).toString();
  };

  it.each<{ name: string; member: Partial<ZipMember> }>([
    { name: 'stored', member: { method: 0 } },
    { name: 'with sizes after its data', member: { flags: 8 } },
    { name: 'in ZIP64', member: { isZip64: true } },
  ])('a member $name', async ({ member }) => {
    expect(await unpackOne({ name: 'a.csv', content: 'a,b\n1,2\n', ...member })).toBe('a,b\n1,2\n');
  });

  it.each<{ name: string; member: Partial<ZipMember>; problem: string }>([
    { name: 'encrypted', member: { flags: 1 }, problem: 'is encrypted' },
    { name: 'of another method', member: { method: 12 }, problem: 'is compressed by method 12 of zip' },
  ])('a member $name is refused', async ({ member, problem }) => {
    const [found] = await zip!.members(archiveOf(zipFile([{ name: 'a.csv', content: '', ...member }])));
    expect(found!.refusal!.problem).toContain(problem);
  });

  it('a checksum that is wrong is found', async () => {
    const reading = unpackOne({ name: 'a.csv', content: 'a,b\n', crc32: 1, method: 0 });
    expect((await failureOf(reading)).message).toContain('another checksum');
  });

  it.each(['../a.csv', '/etc/passwd', 'c:/a.csv', 'a/../../b.csv'])(
    'no archive may name %s',
    async (name) => {
      const error = await failureOf(zip!.members(archiveOf(zipFile([{ name }]))));
      expect(error).toBeInstanceOf(UnreadableArchive);
      expect(error.message).toContain(name);
    },
  );

  it('has no directories, and a backslash is a slash', async () => {
    const found = await zip!.members(archiveOf(zipFile([{ name: 'dir/' }, { name: 'dir\\a.csv' }])));
    expect(found.map(({ name }) => name)).toEqual(['dir/a.csv']);
  });

  /** Locates all members, which reads their headers. Returns their names. */
  const locateAll = async (archive: ArchiveBytes): Promise<readonly string[]> => {
    const names: string[] = [];
    for (const { name, locate } of await zip!.members(archive)) {
      await locate();
      names.push(name);
    }
    return names;
  };

  it.each<{ name: string; members: readonly ZipMember[]; problem: string }>([
    {
      name: 'of which eight entries point to one body',
      members: [
        { name: 'a0.csv', content },
        ...Array.from({ length: 7 }, (_, index) => ({ name: `a${index + 1}.csv`, content, isFirst: true })),
      ],
      problem: 'overlaps the member after it',
    },
    {
      name: 'of which a header reaches into the next member',
      members: [
        { name: 'a.csv', content: 'a,b\n', ownExtra: 40 },
        { name: 'b.csv', content },
      ],
      problem: 'a.csv overlaps the member after it',
    },
    {
      name: 'of which a member has another name in its own header',
      members: [{ name: 'a.csv', ownName: 'b.csv', content }],
      problem: 'has another name than its directory has, a.csv',
    },
    {
      name: 'of which a member has a longer name in its own header',
      members: [{ name: 'a.csv', ownName: 'a.csv.exe', content }],
      problem: 'has another name',
    },
  ])('an archive $name is refused', async ({ members, problem }) => {
    const error = await failureOf(locateAll(archiveOf(zipFile(members))));
    expect(error).toBeInstanceOf(UnreadableArchive);
    expect(error.message).toContain(problem);
  });

  it('a member gives no more bytes than its directory says', async () => {
    const bytes = archiveOf(zipFile([{ name: 'a.csv', content: Buffer.alloc(5_000_000), bytes: 100 }]));
    const [found] = await zip!.members(bytes);
    const part = await found!.locate();
    let made = 0;
    const reading = (async () => {
      for await (const piece of zip!.decode(bytes.read(part.start, part.end), part)) made += piece.length;
    })();
    expect((await failureOf(reading)).message).toContain('another size');
    expect(made).toBeLessThanOrEqual(100);
  });

  it('headers of thousands of members are read together, and in the order of their bytes', async () => {
    const names = Array.from({ length: 5_000 }, (_, index) => `${(index * 1_237) % 5_000}.csv`);
    const packed = zipFile(names.map((name) => ({ name, content: `id\n${name}\n` })));
    const { bytes, read } = archiveOf(packed, 1e6);
    let reads = 0;
    const counted: ArchiveBytes = {
      bytes,
      read: (start, end) => {
        reads += 1;
        return read(start, end);
      },
    };
    expect(await locateAll(counted)).toEqual(names);
    expect(reads).toBeLessThan(20);
  });
});
