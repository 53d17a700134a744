// A list of 64-bit hashes that can tell if two of them are equal.
//
// One hash set of millions of hashes would have a cache miss for every hash. Here, hashes are only
// appended, and compared now and then, in parts that fit into the processor's cache.

export interface HashList {
  low: Int32Array;
  high: Int32Array;
  size: number;
}

const firstRoom = 1 << 14;

export const createHashList = (): HashList => ({
  low: new Int32Array(firstRoom),
  high: new Int32Array(firstRoom),
  size: 0,
});

const larger = (numbers: Int32Array): Int32Array => {
  const copy = new Int32Array(2 * numbers.length);
  copy.set(numbers);
  return copy;
};

export const makeRoom = (list: HashList, more: number): void => {
  while (list.size + more > list.low.length) {
    list.low = larger(list.low);
    list.high = larger(list.high);
  }
};

const partSize = 8_192;
const slots = 4 * partSize;

/** Returns indexes of hashes, sorted by part. The first bits of a hash are its part's number. */
const inParts = (
  { low, size }: HashList,
  bits: number,
): { readonly indexes: Int32Array; readonly ends: Int32Array } => {
  const ends = new Int32Array(1 << bits);
  const shift = 32 - bits;
  for (let at = 0; at < size; at += 1) ends[low[at]! >>> shift]! += 1;
  for (let part = 1; part < ends.length; part += 1) ends[part]! += ends[part - 1]!;
  const indexes = new Int32Array(size);
  const next = ends.slice();
  for (let at = size - 1; at >= 0; at -= 1) {
    const part = low[at]! >>> shift;
    next[part]! -= 1;
    indexes[next[part]!] = at;
  }
  return { indexes, ends };
};

/** True if two of the hashes are equal. Needs four bytes of memory per hash. */
export const hasEqual = (list: HashList): boolean => {
  const { low, high, size } = list;
  const bits = Math.max(1, Math.ceil(Math.log2(size / partSize)));
  const { indexes, ends } = inParts(list, bits);
  const set = new Int32Array(slots);
  let start = 0;
  for (const end of ends) {
    // Hashes are evenly distributed, so a part with far too many hashes has equal ones.
    if (end - start > slots / 2) return true;
    set.fill(0);
    for (let at = start; at < end; at += 1) {
      const index = indexes[at]!;
      let slot = Math.imul(low[index]! ^ (high[index]! >>> 7), 0x9e3779b1) >>> 17;
      for (; set[slot] !== 0; slot = (slot + 1) & (slots - 1)) {
        const other = set[slot]! - 1;
        if (low[other] === low[index] && high[other] === high[index]) return true;
      }
      set[slot] = index + 1;
    }
    start = end;
  }
  return false;
};
