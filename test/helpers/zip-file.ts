// Writes zip archives, also those that nobody should send.

import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipMember {
  readonly name: string;
  readonly content?: string | Buffer;
  /** 8: deflated, the default · 0: as it is. */
  readonly method?: number;
  /** Bit 0: encrypted · bit 3: sizes and checksum follow the data · bit 11: the name is UTF-8. */
  readonly flags?: number;
  /** Sizes and place are in the ZIP64 field of the directory. */
  readonly isZip64?: boolean;
  readonly crc32?: number;
  /** Size of the content that the headers claim. */
  readonly bytes?: number;
  /** Name in the member's own header; the directory has `name`. */
  readonly ownName?: string;
  /** Bytes of extra fields that the member's own header claims, and that are not written. */
  readonly ownExtra?: number;
  /** Has only an entry in the directory, which points to the first member. */
  readonly isFirst?: boolean;
}

const numbers = (...fields: readonly (readonly [number, 2 | 4 | 8])[]): Buffer => {
  const bytes = Buffer.alloc(fields.reduce((sum, [, size]) => sum + size, 0));
  let at = 0;
  for (const [value, size] of fields) {
    if (size === 8) bytes.writeBigUInt64LE(BigInt(value), at);
    else bytes.writeUIntLE(value, at, size);
    at += size;
  }
  return bytes;
};

const whole = 0xffffffff;

/** What the directory and a member's own header have in common, from the version to the lengths. */
const commonFields = (
  member: ZipMember,
  sum: number,
  sizes: readonly [number, number],
  extraBytes: number,
): Buffer =>
  numbers(
    [20, 2],
    [(member.flags ?? 0) | 0x800, 2],
    [member.method ?? 8, 2],
    [0, 4],
    [sum, 4],
    [sizes[0], 4],
    [sizes[1], 4],
    [Buffer.byteLength(member.name), 2],
    [extraBytes, 2],
  );

/** An archive of these members, in this order. */
export const zipFile = (members: readonly ZipMember[]): Buffer => {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const member of members) {
    const content = Buffer.from(member.content ?? '');
    const stored = (member.method ?? 8) === 8 ? deflateRawSync(content) : content;
    const name = Buffer.from(member.name);
    const sum = member.crc32 ?? crc32(content);
    const bytes = member.bytes ?? content.length;
    const place = member.isFirst === true ? 0 : at;
    const ownName = Buffer.from(member.ownName ?? member.name);
    const isStreamed = ((member.flags ?? 0) & 8) !== 0;
    const own = [
      Buffer.from('PK\x03\x04'),
      commonFields(
        { ...member, name: String(ownName) },
        isStreamed ? 0 : sum,
        isStreamed ? [0, 0] : [stored.length, bytes],
        member.ownExtra ?? 0,
      ),
      ownName,
      stored,
      ...(isStreamed ? [Buffer.from('PK\x07\x08'), numbers([sum, 4], [stored.length, 4], [bytes, 4])] : []),
    ];
    const isLarge = member.isZip64 === true;
    const extra = isLarge
      ? numbers([1, 2], [24, 2], [bytes, 8], [stored.length, 8], [place, 8])
      : Buffer.alloc(0);
    directory.push(
      Buffer.from('PK\x01\x02'),
      numbers([20, 2]),
      commonFields(member, sum, isLarge ? [whole, whole] : [stored.length, bytes], extra.length),
      numbers([0, 2], [0, 2], [0, 2], [0, 4], [isLarge ? whole : place, 4]),
      name,
      extra,
    );
    if (member.isFirst === true) continue;
    parts.push(...own);
    at += own.reduce((length, part) => length + part.length, 0);
  }
  const listed = Buffer.concat(directory);
  const count = members.length;
  const isLarge = members.some(({ isZip64 }) => isZip64);
  const largeEnd = [
    Buffer.from('PK\x06\x06'),
    numbers([44, 8], [45, 2], [45, 2], [0, 4], [0, 4], [count, 8], [count, 8], [listed.length, 8], [at, 8]),
    Buffer.from('PK\x06\x07'),
    numbers([0, 4], [at + listed.length, 8], [1, 4]),
  ];
  const end = isLarge
    ? numbers([0, 2], [0, 2], [0xffff, 2], [0xffff, 2], [whole, 4], [whole, 4], [0, 2])
    : numbers([0, 2], [0, 2], [count, 2], [count, 2], [listed.length, 4], [at, 4], [0, 2]);
  return Buffer.concat([...parts, listed, ...(isLarge ? largeEnd : []), Buffer.from('PK\x05\x06'), end]);
};
