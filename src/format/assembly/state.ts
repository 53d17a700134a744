// Addresses of i32 values that TypeScript and the routines share. TypeScript sets the dialect and
// the table before a routine runs; the routines report where they stopped.

/** Address after the last row. */
export const out = 0;
export const copied = 4;
export const filtered = 8;
export const records = 12;
/** Line ends in the bytes that the pass has taken. */
export const newlines = 16;
/** Address of the line end of the record at which the pass stopped. */
export const lineEnd = 24;
/** Address of the first entry in the list of delimiters that is not before the next record. */
export const next = 28;
export const listEnd = 32;
/** 4 times the number of delimiters of a record. */
export const between = 36;
export const rowRoom = 40;
export const perByte = 44;
export const slotsAt = 48;
export const slotsEnd = 52;
export const columnsAt = 56;
export const columnsEnd = 60;
/** Number of columns, as the first two bytes of a row. */
export const rowHead = 64;
export const trim = 68;
/** Unlike `trim`, does not trim inside quotes. */
export const trimOutside = 72;
/** Not 0: filters, functions or joined fields need the slots. */
export const usesSlots = 76;
export const filter = 80;
export const delimiter = 84;
export const delimiterAt = 88;
export const delimiterBytes = 92;
/** -1: no quotes. */
export const quote = 96;
export const isTextFormat = 100;
export const isCut = 104;
export const lineAt = 108;
/** i64: line of the block's first record. */
export const blockLine = 112;
/** -1 if the scan can judge quotes. 0: every quote counts as irregular. */
export const understood = 120;
export const keepEmpty = 124;
export const dropsBlank = 128;
/** First byte of a comment, or -1. */
export const comment = 132;
/** The byte that escapes any byte, or -1. */
export const escape = 136;
/** Not 0: a field `\N` is null, and its backslash escapes nothing. */
export const hasNullMark = 140;
/** Of the scan for records: where the record begins, its line, lines so far, is inside quotes. */
export const scanStart = 144;
export const scanLine = 148;
export const scanLines = 152;
export const scanInside = 156;
export const scanSpecial = 160;
export const scanFound = 164;
/** Not 0: no quotes, blanks that are trimmed, or delimiters of several bytes. */
export const isPlain = 172;
/** One of the reasons to stop. */
export const reason = 168;
