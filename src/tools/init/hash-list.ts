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

/** Sorts hashes by part: their first bits are its number. Returns where the parts end. */
const sortByPart = ({ low, high, size }: HashList, bits: number): Int32Array => {
  const ends = new Int32Array(1 << bits);
  const shift = 32 - bits;
  for (let at = 0; at < size; at += 1) ends[low[at]! >>> shift]! += 1;
  for (let part = 1; part < ends.length; part += 1) ends[part]! += ends[part - 1]!;
  const next = new Int32Array(ends.length);
  next.set(ends.subarray(0, -1), 1);
  for (let part = 0; part < ends.length; part += 1)
    while (next[part]! < ends[part]!) {
      // Each swap moves one hash to its part, until a hash of this part is here.
      const at = next[part]!;
      const hash = low[at]!;
      const own = hash >>> shift;
      const to = next[own]!;
      next[own] = to + 1;
      if (own === part) continue;
      const highHash = high[at]!;
      low[at] = low[to]!;
      high[at] = high[to]!;
      low[to] = hash;
      high[to] = highHash;
    }
  return ends;
};

/** True if two of the hashes are equal. Changes their order, which needs no memory. */
export const hasEqual = (list: HashList): boolean => {
  const { low, high, size } = list;
  const bits = Math.max(1, Math.ceil(Math.log2(size / partSize)));
  const set = new Int32Array(slots);
  let start = 0;
  for (const end of sortByPart(list, bits)) {
    // Hashes are evenly distributed, so a part with far too many hashes has equal ones.
    if (end - start > slots / 2) return true;
    set.fill(0);
    for (let at = start; at < end; at += 1) {
      let slot = Math.imul(low[at]! ^ (high[at]! >>> 7), 0x9e3779b1) >>> 17;
      for (; set[slot] !== 0; slot = (slot + 1) & (slots - 1)) {
        const other = set[slot]! - 1;
        if (low[other] === low[at] && high[other] === high[at]) return true;
      }
      set[slot] = at + 1;
    }
    start = end;
  }
  return false;
};
