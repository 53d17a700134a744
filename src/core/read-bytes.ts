// Reading a range of a file. It is no type of model.ts: a host's declarations lead there, and a host need
// not have the types of Node (test/package/production.test.ts, "needs no types that are not installed").

/** Reads `bytes` bytes of a file from offset `from`; fewer at its end. */
export type ReadBytes = (from: number, bytes: number) => Promise<Buffer>;
