// Finds the float4 nearest to a decimal text, with the same result as the server's strtof.

const doubles = new Float64Array(1);
const words = new Uint32Array(doubles.buffer);
const lowWord = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 0 : 1;

/** Smallest normal float4. Below it, float4 have fewer bits than `isHalfway` assumes. */
const smallestNormal = 2 ** -126;

/** True if the double is exactly between two float4: of its 29 extra bits, only the first is 1. */
const isHalfway = (value: number): boolean => {
  doubles[0] = value;
  return (words[lowWord]! & 0x1fffffff) === 0x10000000;
};

/** Returns the sign of |decimal text| - |value|, computed exactly. `text` has no blanks. */
const compareExactly = (text: string, value: number): number => {
  const [, integer = '', fraction = '', exponent = '0'] =
    /^[+-]?(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const power = Number(exponent) - fraction.length;
  // Every double is an integer divided by 2^1074.
  const scaled = exactBits(Math.abs(value));
  const left = BigInt(integer + fraction) * 10n ** BigInt(Math.max(power, 0)) * 2n ** 1074n;
  const right = scaled * 10n ** BigInt(Math.max(-power, 0));
  return left === right ? 0 : left < right ? -1 : 1;
};

/** Returns |value| times 2^1074, which is an integer. */
const exactBits = (value: number): bigint => {
  doubles[0] = value;
  const high = words[1 - lowWord]!;
  const exponent = (high >>> 20) & 0x7ff;
  const mantissa = (BigInt(high & 0xfffff) << 32n) | BigInt(words[lowWord]!);
  return exponent === 0 ? mantissa : (mantissa | (1n << 52n)) << BigInt(exponent - 1);
};

/** The float4 next to the float4 `value`: farther from zero if `away`, else nearer to zero. */
const neighbour = (value: number, away: boolean): number => {
  const single = new Float32Array([value]);
  const bits = new Uint32Array(single.buffer);
  bits[0]! += away ? 1 : -1;
  return single[0]!;
};

/**
 * The float4 nearest to a decimal text, whose nearest double is `value`.
 * Rounding the double is wrong only if it is exactly between two float4. Then the text decides.
 * Proved by test/integration/compiled.test.ts, "halfway cases included".
 */
export const nearestSingle = (value: number, text: () => string): number => {
  const single = Math.fround(value);
  const size = Math.abs(value);
  if (single === value || !Number.isFinite(value)) return single;
  const isMiddle = size >= smallestNormal ? isHalfway(value) : isDenormalHalfway(size);
  if (!isMiddle) return single;
  const side = compareExactly(text(), value);
  if (side === 0) return single;
  const roundedAway = Math.abs(single) > size;
  if (side > 0) return roundedAway ? single : neighbour(single, true);
  return roundedAway ? neighbour(single, false) : single;
};

/** Below 2^-126, float4 are multiples of 2^-149, so the midpoints are odd multiples of 2^-150. */
const isDenormalHalfway = (size: number): boolean => {
  const halves = size * 2 ** 150;
  return Number.isInteger(halves) && halves % 2 === 1;
};
