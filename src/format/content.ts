// Recognizes files that are not UTF-8 text by their first bytes.

interface Kind {
  /** In latin1, a character a byte. */
  readonly begins: string;
  readonly problem: string;
  readonly hint: string;
}

const compressed = (name: string, begins: string, command: string): Kind => ({
  begins,
  problem: `is compressed (${name}), which is not supported yet`,
  hint: `Decompress it first, with ${command}.`,
});

/** None of them can begin a CSV file in UTF-8. */
const kinds: readonly Kind[] = [
  compressed('xz', '\xfd7zXZ\x00', '`unxz`'),
  compressed('bzip2', 'BZh91AY&SY', '`bunzip2`'),
  {
    begins: '\xff\xfe\x00\x00',
    problem: 'is in UTF-32, which is not supported',
    hint: 'Convert it first: iconv -f utf-32 -t utf-8.',
  },
];

/** The kind of a file that is not UTF-8 text; undefined: it may be. */
export const otherContent = (head: Buffer): Kind | undefined =>
  kinds.find(({ begins }) => head.toString('latin1', 0, begins.length) === begins);
