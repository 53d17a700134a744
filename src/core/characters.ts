// Codes of characters.

export const TAB = 9;
export const LF = 10;
export const CR = 13;
export const SPACE = 32;
export const PLUS = 43;
export const MINUS = 45;
export const POINT = 46;
export const ZERO = 48;
export const COLON = 58;
export const LETTER_Z = 90;
export const BACKSLASH = 92;

/** Writes accents in one of their two forms (NFC): file systems and programs differ in this. */
export const composed = (name: string): string => name.normalize('NFC');
