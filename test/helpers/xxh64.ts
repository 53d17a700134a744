// XXH64 with seed 0, whose low 32 bits are the checksum of a zstd frame (RFC 8878, section 3.1.1).
// V8 calculates in registers, without memory for each number, as long as `asUintN` itself is around every step and no number leaves
// its function. So `addStripes` calls nothing else; with calls of `round` it is ten times slower.

const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);

const prime1 = 0x9e3779b185ebca87n;
const prime2 = 0xc2b2ae3d27d4eb4fn;
const prime3 = 0x165667b19e3779f9n;
const prime4 = 0x85ebca77c2b2ae63n;
const prime5 = 0x27d4eb2f165667c5n;

const stripeBytes = 32;

const rotate = (value: bigint, bits: bigint): bigint => u64((value << bits) | (value >> (64n - bits)));

const round = (sum: bigint, lane: bigint): bigint => {
  const mixed = u64(sum + u64(lane * prime2));
  return u64(u64((mixed << 31n) | (mixed >> 33n)) * prime1);
};

const merge = (hash: bigint, sum: bigint): bigint => u64(u64(hash ^ round(0n, sum)) * prime1 + prime4);

export interface Xxh64 {
  readonly add: (bytes: Uint8Array) => void;
  readonly digest: () => bigint;
}

/** What is left after the last whole stripe. */
const addRest = (start: bigint, rest: Buffer): bigint => {
  let hash = start;
  let at = 0;
  for (; at + 8 <= rest.length; at += 8)
    hash = u64(rotate(u64(hash ^ round(0n, rest.readBigUInt64LE(at))), 27n) * prime1 + prime4);
  if (at + 4 <= rest.length) {
    hash = u64(rotate(u64(hash ^ u64(BigInt(rest.readUInt32LE(at)) * prime1)), 23n) * prime2 + prime3);
    at += 4;
  }
  for (; at < rest.length; at += 1)
    hash = u64(rotate(u64(hash ^ u64(BigInt(rest[at]!) * prime5)), 11n) * prime1);
  return hash;
};

const mix = (start: bigint): bigint => {
  const first = u64((start ^ (start >> 33n)) * prime2);
  const second = u64((first ^ (first >> 29n)) * prime3);
  return second ^ (second >> 32n);
};

/** Adds whole stripes, one of the four lanes after the other. */
const addStripes = (sums: BigUint64Array, bytes: DataView, end: number): void => {
  for (let lane = 0; lane < sums.length; lane += 1) {
    let sum = sums[lane]!;
    for (let at = 8 * lane; at < end; at += stripeBytes) {
      sum = BigInt.asUintN(64, sum + BigInt.asUintN(64, bytes.getBigUint64(at, true) * prime2));
      sum = BigInt.asUintN(64, (sum << 31n) | (sum >> 33n));
      sum = BigInt.asUintN(64, sum * prime1);
    }
    sums[lane] = sum;
  }
};

export const createXxh64 = (): Xxh64 => {
  const sums = BigUint64Array.of(u64(prime1 + prime2), prime2, 0n, u64(-prime1));
  let rest = Buffer.alloc(0);
  let length = 0n;
  return {
    add: (bytes) => {
      length += BigInt(bytes.length);
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const end = all.length - (all.length % stripeBytes);
      addStripes(sums, new DataView(all.buffer, all.byteOffset, all.length), end);
      rest = Buffer.from(all.subarray(end));
    },
    digest: () => {
      const [one, two, three, four] = sums as unknown as readonly [bigint, bigint, bigint, bigint];
      const whole = u64(rotate(one, 1n) + rotate(two, 7n) + rotate(three, 12n) + rotate(four, 18n));
      const start = length < BigInt(stripeBytes) ? prime5 : [one, two, three, four].reduce(merge, whole);
      return mix(addRest(u64(start + length), rest));
    },
  };
};
