// Recognizes files that are not CSV by their first bytes.

interface Kind {
  readonly problem: string;
  readonly hint: string;
}

interface KnownKind extends Kind {
  readonly begins: string;
  readonly at?: number;
}

const compressed = (name: string, begins: string, command: string): KnownKind => ({
  begins,
  problem: `is compressed (${name}), which is not supported`,
  hint: `Decompress it first, with ${command}. gzip, zstd, brotli and zip files need no decompression.`,
});

const archive = (name: string, begins: string, command: string, at = 0): KnownKind => ({
  begins,
  at,
  problem: `is an archive (${name}), which is not supported`,
  hint: `Unpack it first, with ${command}. zip archives need no unpacking.`,
});

const made = (what: string, begins: string, hint: string): KnownKind => ({
  begins,
  problem: `is ${what}, not CSV`,
  hint,
});

const office = made.bind(undefined, 'a document of an office program');
const asCsv = 'Export its data as CSV.';

/** No text in a supported encoding can begin with these bytes. */
const kinds: readonly KnownKind[] = [
  compressed('xz', '\xfd7zXZ\x00', '`unxz`'),
  compressed('bzip2', 'BZh91AY&SY', '`bunzip2`'),
  compressed('lzma', ']\x00\x00\x80\x00', '`unlzma`'),
  compressed('lz4', '\x04"M\x18', '`unlz4`'),
  compressed('snappy', '\xff\x06\x00\x00sNaPpY', '`snzip -d`'),
  compressed('compress', '\x1f\x9d', '`uncompress`'),
  archive('tar', 'ustar\x00', '`tar -xf`', 257),
  archive('tar', 'ustar  \x00', '`tar -xf`', 257),
  archive('7z', "7z\xbc\xaf'\x1c", '`7z x`'),
  archive('rar', 'Rar!\x1a\x07', '`unrar x`'),
  office('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'Save its sheet as CSV.'),
  made('a PDF document', '%PDF-', asCsv),
  made('a Parquet file', 'PAR1\x15', asCsv),
  made('an Avro file', 'Obj\x01', asCsv),
  made('an Arrow file', 'ARROW1\x00\x00', asCsv),
  made('an SQLite database', 'SQLite format 3\x00', asCsv),
  made("a dump in pg_dump's custom format", 'PGDMP\x01', 'Restore it with pg_restore.'),
  made("a file in COPY's binary format", 'PGCOPY\n\xff\r\n\x00', 'Load it with COPY, or export it as CSV.'),
  {
    begins: '\xff\xfe\x00\x00',
    problem: 'is in UTF-32, which is not supported',
    hint: 'Convert it first: iconv -f utf-32 -t utf-8.',
  },
];

export const contentBytes = 512;

/** Recognizes a file that is certainly not CSV. */
export const otherContent = (head: Buffer): Kind | undefined =>
  kinds.find(({ begins, at = 0 }) => head.toString('latin1', at, at + begins.length) === begins);

const textKinds: readonly (Kind & { readonly begins: RegExp })[] = [
  {
    begins: /^\s*<(?:!doctype html|html|head)\b/i,
    problem: 'is a web page, not CSV',
    hint: 'The server probably sent a login page or an error instead of the file.',
  },
  {
    begins: /^\s*<\?xml\b/i,
    problem: 'is XML, not CSV',
    hint: 'It may be an error message instead of the file: look at it.',
  },
  {
    begins: /^\s*(?:\[\s*)*\{\s*(?:"[^"]*"\s*:|$)|^\s*\[\s*$/,
    problem: 'is JSON, not CSV',
    hint: 'It may be an error message instead of the file: look at it. `jq` writes JSON as CSV.',
  },
];

/** Recognizes a text that is probably not CSV, although a dialect might still read it. */
export const otherText = (text: string): Kind | undefined =>
  textKinds.find(({ begins }) => begins.test(text));

export const otherTextHint = (text: string): string | undefined => {
  const kind = otherText(text);
  return kind === undefined ? undefined : `The file ${kind.problem}. ${kind.hint}`;
};
