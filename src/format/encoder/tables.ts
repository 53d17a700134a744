// Constant tables in the row routine's memory.

import { five, fives, fivesAt, monthDaysAt, monthNamesAt, powersAt, wholePowersAt } from './memory.ts';

const powersOfTen = 16;
const monthDays = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const monthNames = 'jan\0feb\0mar\0apr\0may\0jun\0jul\0aug\0sep\0oct\0nov\0dec\0';

/** Negative powers up to 5^-27 are rounded up, which keeps quotients exact. */
const roundedUp = 27;

const highBitsOfFives = (): bigint[] => {
  const found: bigint[] = [];
  let power5 = 1n;
  let bits = 1n;
  for (let power = 0; power <= Math.max(fives.most, -fives.least); power += 1) {
    while (power5 >> bits > 0n) bits += 1n;
    found[power - fives.least] = bits > 128n ? power5 >> (bits - 128n) : power5 << (128n - bits);
    // With `bits` bits, 5^power is between 2^(bits - 1) and 2^bits.
    if (power > 0) {
      found[-power - fives.least] = (1n << (127n + bits)) / power5 + (power <= roundedUp ? 1n : 0n);
    }
    power5 *= 5n;
  }
  return found.slice(0, fives.most - fives.least + 1);
};

export const setTables = (bytes: Buffer): void => {
  for (let power = 0; power < powersOfTen; power += 1) {
    bytes.writeDoubleLE(10 ** power, powersAt + 8 * power);
    bytes.writeBigInt64LE(10n ** BigInt(power), wholePowersAt + 8 * power);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (const [index, highBits] of highBitsOfFives().entries()) {
    view.setBigUint64(fivesAt + five.bytes * index + five.high, highBits >> 64n, true);
    view.setBigUint64(fivesAt + five.bytes * index + five.low, highBits, true);
  }
  bytes.set(monthDays, monthDaysAt);
  bytes.write(monthNames, monthNamesAt);
};
