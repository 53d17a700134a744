// Codes of characters that separate records, lines and fields.

export const TAB = 9;
export const LF = 10;
export const CR = 13;
export const SPACE = 32;
export const BACKSLASH = 92;
