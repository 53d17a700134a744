// Memory map of the module. It is read by AssemblyScript and by TypeScript.

/** Bytes of records that the pass indexes at once: few enough for the processor's L1 and L2. */
export const segmentBytes = 32 * 1024;
/** Most bytes of records of which the places of all fields are listed at once. */
export const windowBytes = 64 * 1024;
/** Bytes that a routine tests at once: one per bit of a u64. */
export const groupBytes = 64;
/** Code that reads or copies 16 bytes at a time goes beyond an end by less than this. */
export const overrun = 16;

export const wanted = 1;
export const unwanted = 0;
export const wantedUnsure = 2;

/** Reasons to stop: see `pass` in rows.ts. */
export const stoppedAtEnd = 0;
export const stoppedUnsure = 1;
export const stoppedFull = 2;
export const stoppedIrregular = 3;
export const stoppedEnough = 4;

/** Results of `scanFloat`. */
export const mantissaAt = 192;
export const exponentAt = 200;
/** 16 bytes 0x00, then 32 bytes 0xff: loaded at `masksAt` + n, a mask of the last n lanes. */
export const masksAt = 208;
/** 16 shuffles: number p takes byte p out, and moves the bytes before it up by one. */
export const shufflesAt = 256;
/** 10^0 to 10^19 as f64, then as u64. */
export const powersOfTen = 20;
export const powersAt = 512;
export const wholePowersAt = powersAt + 8 * powersOfTen;
export const monthDaysAt = wholePowersAt + 8 * powersOfTen;
/** Each month is an i32: three lower-case letters, the first letter in the lowest byte. */
export const monthNamesAt = monthDaysAt + 16;
export const partsAt = monthNamesAt + 12 * 4;
/** The highest 128 bits of 5^q, for each power of ten q that a double may have. */
export const fivesAt = 1024;
export const fiveLeast = -342;
export const fiveMost = 308;
export const fiveHigh = 0;
export const fiveLow = 8;
export const fiveBytes = 16;
/** Fields are joined here. TypeScript reads records with a longer value. */
export const glueAt = fivesAt + fiveBytes * (fiveMost - fiveLeast + 1) + 64;
export const glueBytes = 4096;
export const numberBytesMax = 128;
export const plainAt = glueAt + glueBytes + 64;
export const digitsAt = plainAt + numberBytesMax + 64;
/** The last group of a scan, when it is shorter than 64 bytes. */
export const groupAt = digitsAt + numberBytesMax + 64;
/** Quoted fields of one record, in which doubled quotes became one. */
export const contentAt = groupAt + groupBytes + 64;
export const contentBytes = 64 * 1024;
/** Ends of one record's fields, for records whose line ends are not in the list of delimiters. */
export const fieldsAt = contentAt + contentBytes + 64;
/**
 * Ends of fields: of `index`, delimiters and line ends; of `scanFields`, delimiters only, and
 * then a number larger than all addresses. One delimiter per byte is possible.
 */
export const delimitersAt = fieldsAt + 4 * windowBytes + 64;
/** Of `index`: the places of line ends in the list of delimiters. */
export const lineEndsAt = delimitersAt + 4 * windowBytes + 128;
/** Of `index`: addresses of line feeds inside quotes, and then a large number. */
export const innerLinesAt = lineEndsAt + 4 * windowBytes + 64;
/** Spans of records that TypeScript has found: offsets in the block, and lines. */
export const startsAt = innerLinesAt + 4 * windowBytes + 64;
export const endsAt = startsAt + 4 * windowBytes;
export const linesAt = endsAt + 4 * windowBytes;
/** Bytes in which the splitter looks for records, and the lists of what it finds. */
export const scanTextAt = linesAt + 4 * windowBytes + 64;
export const scanStartsAt = scanTextAt + windowBytes;
export const scanEndsAt = scanStartsAt + 4 * windowBytes;
export const scanLinesAt = scanEndsAt + 4 * windowBytes;
/** The bytes before the text are 0, not quotes. */
export const textAt = scanLinesAt + 4 * windowBytes + 64;
export const textBytes = 2 * 1024 * 1024;
/** Rows of one write to the server, and the last row, which may go beyond. */
export const outAt = textAt + textBytes + 128;
export const outBytes = 1024 * 1024;
export const outEnd = outAt + outBytes;
export const planAt = outEnd + 128;
