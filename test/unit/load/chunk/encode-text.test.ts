// Rows in COPY's text format; the server reads them back in test/integration/copy-in.test.ts.

import { expect, it } from 'vitest';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';

const cases: [name: string, values: readonly (string | null)[], row: string][] = [
  ['values between tabs', ['a', 'b c'], 'a\tb c\n'],
  ['null and the text that looks like it', [null, '\\N'], '\\N\t\\\\N\n'],
  ['empty texts', ['', ''], '\t\n'],
  ['one empty text', [''], '\n'],
  ['tab, line feed, carriage return, backslash', ['\t\n\r\\'], '\\t\\n\\r\\\\\n'],
  ['the end of data', ['\\.'], '\\\\.\n'],
  ['other control characters and characters beyond ASCII', ['\b\f\v\u0001', 'é𝄞'], '\b\f\v\u0001\té𝄞\n'],
];

it.each(cases)('encodeTextRow %s', (_, values, row) => expect(encodeTextRow(values)).toBe(row));
