// Texts that nearly always mean "no value" in a column whose other values are numbers or dates.

const words = String.raw`NA N/A n/a na #N/A #NA NULL null Null (null) #NULL! None none nil NaN nan NAN n.a. \N
  - -- --- . .. ... ? * ** *** M missing MISSING unknown UNKNOWN #VALUE! #DIV/0! #REF!
  0000-00-00 00.00.0000 00/00/0000`;

/** Null tokens, except in text columns: NA can be a country. M is "missing" in weather data. */
export const nullWords: ReadonlySet<string> = new Set([...words.split(/\s+/), '0000-00-00 00:00:00']);

/** Words that mean "no value" even beside yes and no, where others are a third answer. */
export const noValueWords: ReadonlySet<string> = new Set([
  'NULL',
  'null',
  'Null',
  '(null)',
  '#NULL!',
  String.raw`\N`,
]);

/** Null words that are ordinary values in many text columns, where a remark would disturb. */
export const commonWords: ReadonlySet<string> = new Set(['M', '-', '.', '?', '*', 'none', 'None', 'unknown']);
