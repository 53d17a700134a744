// Constant tables in the module's memory.

import {
  fiveBytes,
  fiveHigh,
  fiveLeast,
  fiveLow,
  fiveMost,
  fivesAt,
  masksAt,
  monthDaysAt,
  monthNamesAt,
  powersAt,
  powersOfTen,
  shufflesAt,
  wholePowersAt,
} from '../assembly/memory.ts';

const monthDays = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const monthNames = 'jan\0feb\0mar\0apr\0may\0jun\0jul\0aug\0sep\0oct\0nov\0dec\0';

/** Negative powers up to 5^-27 are rounded up, which keeps quotients exact. */
const roundedUp = 27;

const highBitsOfFives = (): bigint[] => {
  const found: bigint[] = [];
  let power5 = 1n;
  let bits = 1n;
  for (let power = 0; power <= Math.max(fiveMost, -fiveLeast); power += 1) {
    while (power5 >> bits > 0n) bits += 1n;
    found[power - fiveLeast] = bits > 128n ? power5 >> (bits - 128n) : power5 << (128n - bits);
    // With `bits` bits, 5^power is between 2^(bits - 1) and 2^bits.
    if (power > 0) {
      found[-power - fiveLeast] = (1n << (127n + bits)) / power5 + (power <= roundedUp ? 1n : 0n);
    }
    power5 *= 5n;
  }
  return found.slice(0, fiveMost - fiveLeast + 1);
};

let fives: Buffer | undefined;

const bytesOfFives = (): Buffer => {
  const bytes = Buffer.alloc(fiveBytes * (fiveMost - fiveLeast + 1));
  for (const [index, highBits] of highBitsOfFives().entries()) {
    bytes.writeBigUInt64LE(highBits >> 64n, fiveBytes * index + fiveHigh);
    bytes.writeBigUInt64LE(BigInt.asUintN(64, highBits), fiveBytes * index + fiveLow);
  }
  return bytes;
};

export const setTables = (bytes: Buffer): void => {
  for (let power = 0; power < powersOfTen; power += 1) {
    bytes.writeDoubleLE(10 ** power, powersAt + 8 * power);
    bytes.writeBigUInt64LE(10n ** BigInt(power), wholePowersAt + 8 * power);
  }
  bytes.fill(0xff, masksAt + 16, masksAt + 48);
  for (let taken = 0; taken < 16; taken += 1)
    for (let lane = 0; lane < 16; lane += 1) {
      const moved = lane === 0 ? 0x80 : lane - 1;
      bytes[shufflesAt + 16 * taken + lane] = lane <= taken ? moved : lane;
    }
  bytes.set((fives ??= bytesOfFives()), fivesAt);
  bytes.set(monthDays, monthDaysAt);
  bytes.write(monthNames, monthNamesAt);
};
