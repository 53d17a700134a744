// All keys of our advisory locks, in one place, so that no two purposes share a key.

/** "slce" in ASCII, so that locks of other programs do not conflict. */
export const lockSpace = 0x736c6365;

export const advisoryKeys = {
  migrate: [lockSpace, 1],
  epoch: [lockSpace, 3],
  createSchema: [lockSpace, 4],
} as const;
