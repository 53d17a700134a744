// Lists of short texts without blanks.

/** The texts between blanks and line ends: `words('0 -0 1e5')`. */
export const words = (text: string): readonly string[] => text.trim().split(/\s+/);
