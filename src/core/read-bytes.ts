// Reading a range of a file. Not in model.ts, whose types a host uses maybe without Node's types
// (test/package/production.test.ts, "needs no types that are not installed").

export type ReadBytes = (from: number, bytes: number) => Promise<Buffer>;
