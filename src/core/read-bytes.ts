// How a file is read at any byte.

/** Reads so many bytes of a file from a byte on; fewer at its end. The same bytes are asked for several times. */
export type ReadBytes = (from: number, bytes: number) => Promise<Buffer>;
