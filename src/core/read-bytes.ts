// The type of a function that reads a range of a file. It is not in model.ts, because a program
// that uses the types of model.ts may lack Node's types (test/package/production.test.ts, "needs no
// types that are not installed").

export type ReadBytes = (from: number, bytes: number) => Promise<Buffer>;
