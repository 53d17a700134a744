// Memory layouts of a table's plan, as offsets in bytes. They are read by AssemblyScript and by
// TypeScript.

/** A slot: where a field was found. `place` is 4 times the field's index in the record. */
export const slotPlace = 0;
export const slotStart = 4;
export const slotEnd = 8;
export const slotBytes = 12;

export const columnKind = 0;
/** 4 times the index of the column's field; -1: its fields are joined, or of the file. */
export const columnPlace = 4;
/** Address of a slot; of a list of slots if fields are joined; of a token if `parts` is 0. */
export const columnSlots = 8;
export const columnParts = 12;
export const columnNulls = 16;
export const columnQuotedNulls = 20;
export const columnTokens = 24;
/** A bit for each length of a null or token (bit 31: 31 bytes or longer). */
export const columnLengths = 28;
/** Not 0: the column has rules or functions. */
export const columnIsChecked = 32;
export const columnRules = 36;
export const columnHasFunction = 40;
export const columnIndex = 44;
export const columnSeparator = 48;
export const columnSeparatorBytes = 52;
const own = 56;
export const columnBytes = own + 48;

/** Kinds of columns, and what they have beyond the above. */
export const kindText = 1;
export const textCharactersMax = own;

/** Of all numbers. `decimal`: the decimal separator; 0: numbers are written as the server reads them. */
export const numberDecimal = own;
/** The thousands separator's bytes as an integer; without a separator, one byte 0. */
export const numberThousands = own + 4;
export const numberThousandsBytes = own + 8;
export const kindReal = 2;
export const kindInteger = 3;
export const integerBytes = own + 12;
export const integerLeast = own + 16;
export const integerMost = own + 24;
export const kindDouble = 4;
export const kindNumeric = 5;
export const numericDecimalsMax = own + 12;
export const numericIntegersMax = own + 16;
export const numericRounds = own + 20;

export const kindDate = 6;
export const kindTimestamp = 7;
/** Offset of texts without an offset, in seconds, or `noZone`. */
export const timestampZone = own;
export const timestampMayHaveOffset = own + 4;
/** Means that each text of the column has its own offset. */
export const noZone = 0x7fffffff;
export const kindTime = 8;
export const kindPattern = 9;
export const patternSteps = own;
export const patternWrites = own + 4;
export const patternZone = own + 8;
export const kindUuid = 10;
export const kindBoolean = 11;
export const kindWord = 12;
/** Texts, each with the byte that it means. */
export const wordWords = own;
/** The byte for other texts, or -1. */
export const wordOther = own + 4;
export const kindJson = 13;
export const jsonIsBinary = own;
export const kindPatterns = 14;
/** For each pattern the size of its steps in bytes, then the steps; then 0. */
export const patternsList = own + 12;

/** Bounds are i64, or f64 for decimals. */
export const ruleOrder = 0;
export const ruleValues = 4;
export const ruleHasLength = 8;
export const ruleCharactersMin = 12;
export const ruleCharactersMax = 16;
export const ruleLeast = 24;
export const ruleMost = 32;
export const ruleBytes = 40;
export const orderWhole = 1;
export const orderFloat = 2;
export const orderDecimal = 3;

/**
 * A hash table of tokens. `lengths` has a bit for each length of a token (bit 31: 31 bytes or
 * longer). `shift` reduces a hash to a place. At least half of the places are empty. A token is at
 * the place of its hash, or at the next place that was free.
 */
export const tokensLengths = 0;
export const tokensShift = 4;
export const tokensPlaces = 8;
export const tokensFirst = 12;
export const tokenAt = 0;
/** -1 if the place is empty. */
export const tokenLength = 4;
export const tokenValueAt = 8;
/** -1 if the record is refused. */
export const tokenValueBytes = 12;
/** The last eight bytes of the token, padded with zeros. */
export const tokenKey = 16;
export const tokenBytes = 24;
/** The token of `_line`. Its value is a length and a bigint (binary), or digits (text). */
export const lineValueAt = 24;
export const lineValueMax = 20;
export const lineTokenBytes = 44;

/**
 * A step of a pattern: what it reads, the argument of that, and the byte that must follow (0: any).
 */
export const stepReads = 0;
export const stepNeeds = 4;
export const stepNext = 8;
export const stepBytes = 12;
export const readsEnd = 0;
/** Argument: the byte. */
export const readsByte = 1;
/** Argument of these three steps: the part to set. */
export const readsOneOrTwo = 2;
export const readsTwo = 3;
export const readsFour = 4;
export const readsShortYear = 5;
export const readsMonthName = 6;
export const readsHalf = 7;
/** Argument: how many digits. */
export const readsFraction = 8;
export const readsOffset = 9;
/** Values to write. `writesDate` refuses a time of day, `writesDayOfMoment` drops it. */
export const writesDate = 0;
export const writesTime = 1;
export const writesTimestamp = 2;
export const writesDayOfMoment = 3;
/** Parts of a date that steps find: i32. A part that the pattern does not name is 0. */
export const partYear = 0;
export const partMonth = 4;
export const partDay = 8;
export const partHour = 12;
export const partMinute = 16;
export const partSecond = 20;
export const partFraction = 24;
/** 1: AM, 2: PM. */
export const partHalf = 28;
/** Seconds east of UTC. */
export const partOffset = 32;
