// Texts that nearly always mean "no value" where the other values are numbers or dates.

const words = String.raw`NA N/A n/a na #N/A #NA NULL null Null (null) #NULL! None none nil NaN nan NAN n.a. \N
  - -- --- . .. ... ? * ** *** M missing MISSING unknown UNKNOWN #VALUE! #DIV/0! #REF!`;

/**
 * In a column of texts they are kept: NA is a country there. M is missing in weather data (pipelines/noaa.ts). Each has at most eight
 * bytes: see column-evidence.ts.
 */
export const nullWords: ReadonlySet<string> = new Set(words.split(/\s+/));

/** Those that are data in many columns of texts, where nothing is to be said about them. */
export const commonWords: ReadonlySet<string> = new Set(['M', '-', '.', '?', '*', 'none', 'None', 'unknown']);
