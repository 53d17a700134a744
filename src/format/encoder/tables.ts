// Constants that the row routine looks up in its memory.

import { monthDaysAt, monthNamesAt, powersAt, wholePowersAt } from './memory.ts';

const powersOfTen = 16;
const monthDays = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const monthNames = 'jan\0feb\0mar\0apr\0may\0jun\0jul\0aug\0sep\0oct\0nov\0dec\0';

/** Writes them, once. */
export const setTables = (bytes: Buffer): void => {
  for (let power = 0; power < powersOfTen; power += 1) {
    bytes.writeDoubleLE(10 ** power, powersAt + 8 * power);
    bytes.writeBigInt64LE(10n ** BigInt(power), wholePowersAt + 8 * power);
  }
  bytes.set(monthDays, monthDaysAt);
  bytes.write(monthNames, monthNamesAt);
};
