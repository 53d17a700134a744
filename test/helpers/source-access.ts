// What a table says of its files' place, for tests that read files without a pipeline.

import { arrivalDefault } from '../../src/core/arrival.ts';
import type { Access } from '../../src/input/sources/contract.ts';

/** A table that declares these options, or none. */
export const accessWith = (options: Access['declared']['options'] = {}, signal?: AbortSignal): Access => ({
  declared: {
    locations: [],
    constants: {},
    skipEnd: 0,
    anywhere: false,
    options,
    maxRatio: 1000,
    arrival: arrivalDefault,
    maxBytes: 2 ** 40,
  },
  signal,
});
