// Sums rows in a way that does not depend on their order, to compare files with production.

import { textHash } from './text-hash.ts';

export interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

export interface ColumnSums {
  readonly nulls: number;
  /** Sum of the hashes of all values; null: the values are not compared. */
  readonly hash: bigint | null;
  /** Sum of the numbers; null: the column does not contain numbers. */
  readonly sum: Decimal | null;
}

export interface RowSums {
  readonly rows: number;
  readonly columns: readonly ColumnSums[];
  /** Sum of the hashes of whole rows. It changes if values are exchanged between two rows. */
  readonly rowHash: bigint;
}

/** What is compared. values: hashes · numbers: hashes and sums · nulls: only counts of nulls. */
export type Comparing = 'values' | 'numbers' | 'nulls';

/** A cached value: the halves of its hash, and the number unscaled / 10^scale. */
interface Known {
  readonly hi: number;
  readonly lo: number;
  /** NaN: not a number, or too many digits for a double. */
  readonly unscaled: number;
  readonly scale: number;
}

const knownMax = 4_096;
const knownLengthMax = 64;

/** The sum of this number of 32-bit halves is below 2^53, so it is exact as a double. */
const hashesMax = 1 << 20;
const sumMax = 2 ** 52;

const parseDecimal = (text: string): Decimal => {
  const point = text.indexOf('.');
  return point === -1
    ? { unscaled: BigInt(text), scale: 0 }
    : { unscaled: BigInt(text.slice(0, point) + text.slice(point + 1)), scale: text.length - point - 1 };
};

const isSpecial = (text: string): boolean => /[a-z]/i.test(text);

export const decimalOf = (text: string | null): Decimal =>
  text === null ? { unscaled: 0n, scale: 0 } : parseDecimal(text);

export const decimalText = ({ unscaled, scale }: Decimal): string => {
  const sign = unscaled < 0n ? '-' : '';
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  if (scale === 0) return sign + digits;
  const fraction = digits.slice(-scale).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -scale)}${fraction === '' ? '' : `.${fraction}`}`;
};

const addDecimals = (one: Decimal, other: Decimal): Decimal => {
  const scale = Math.max(one.scale, other.scale);
  const scaled = ({ unscaled, scale: own }: Decimal): bigint => unscaled * 10n ** BigInt(scale - own);
  return { unscaled: scaled(one) + scaled(other), scale };
};

const createSum = () => {
  const buckets: number[] = [];
  let total: Decimal = { unscaled: 0n, scale: 0 };
  const flush = (): void => {
    for (const [scale, bucket] of buckets.entries())
      if (bucket) total = addDecimals(total, { unscaled: BigInt(bucket), scale });
    buckets.length = 0;
  };
  return {
    add: (text: string, { unscaled, scale }: Known): void => {
      if (Number.isNaN(unscaled)) {
        if (!isSpecial(text)) total = addDecimals(total, parseDecimal(text));
        return;
      }
      while (buckets.length <= scale) buckets.push(0);
      const sum = buckets[scale]! + unscaled;
      buckets[scale] = sum;
      if (Math.abs(sum) > sumMax) flush();
    },
    total: (): Decimal => {
      flush();
      return total;
    },
  };
};

const known = (text: string, isNumber: boolean): Known => {
  const { hi, lo } = textHash(text);
  if (!isNumber || text.length > 15) return { hi, lo, unscaled: NaN, scale: 0 };
  const point = text.indexOf('.');
  const digits = point === -1 ? text : text.slice(0, point) + text.slice(point + 1);
  return { hi, lo, unscaled: Number(digits), scale: point === -1 ? 0 : text.length - point - 1 };
};

const createColumn = (comparing: Comparing) => {
  const values = new Map<string, Known>();
  const sum = comparing === 'numbers' ? createSum() : undefined;
  let [nulls, hi, lo, hashes, hash] = [0, 0, 0, 0, 0n];
  const flush = (): void => {
    hash += BigInt(hi) * 2n ** 32n + BigInt(lo);
    [hi, lo, hashes] = [0, 0, 0];
  };
  return {
    add: (text: string | null): Known | undefined => {
      if (text === null) nulls += 1;
      if (text === null || comparing === 'nulls') return undefined;
      let value = values.get(text);
      if (value === undefined) {
        value = known(text, sum !== undefined);
        if (values.size >= knownMax) values.clear();
        if (text.length <= knownLengthMax) values.set(text, value);
      }
      hi += value.hi;
      lo += value.lo;
      hashes += 1;
      if (hashes === hashesMax) flush();
      sum?.add(text, value);
      return value;
    },
    sums: (): ColumnSums => {
      flush();
      return { nulls, hash: comparing === 'nulls' ? null : hash, sum: sum?.total() ?? null };
    },
  };
};

/** A row's hash is the exclusive or of its values' hashes, each rotated by the column's index. */
export const createRowSums = (columns: readonly Comparing[]) => {
  const adders = columns.map(createColumn);
  const turns = columns.map((_, index) => index % 64);
  let [rows, hi, lo, hashes, rowHash] = [0, 0, 0, 0, 0n];
  const flush = (): void => {
    rowHash += BigInt(hi) * 2n ** 32n + BigInt(lo);
    [hi, lo, hashes] = [0, 0, 0];
  };
  return {
    add: (texts: readonly (string | null)[]): void => {
      let [high, low] = [0, 0];
      for (let index = 0; index < adders.length; index += 1) {
        const value = adders[index]!.add(texts[index]!);
        if (value === undefined) continue;
        const turn = turns[index]!;
        const [from, to] = turn < 32 ? [value.hi, value.lo] : [value.lo, value.hi];
        const by = turn & 31;
        high ^= by === 0 ? from : (from << by) | (to >>> (32 - by));
        low ^= by === 0 ? to : (to << by) | (from >>> (32 - by));
      }
      rows += 1;
      hi += high | 0;
      lo += low >>> 0;
      hashes += 1;
      if (hashes === hashesMax) flush();
    },
    sums: (): RowSums => {
      flush();
      return { rows, columns: adders.map(({ sums }) => sums()), rowHash };
    },
  };
};

export const noRows = (columns: readonly Comparing[]): RowSums => createRowSums(columns).sums();

export const addRows = (one: RowSums, other: RowSums): RowSums => ({
  rows: one.rows + other.rows,
  rowHash: one.rowHash + other.rowHash,
  columns: one.columns.map(({ nulls, hash, sum }, index) => {
    const more = other.columns[index]!;
    return {
      nulls: nulls + more.nulls,
      hash: hash === null || more.hash === null ? null : hash + more.hash,
      sum: sum === null || more.sum === null ? null : addDecimals(sum, more.sum),
    };
  }),
});
