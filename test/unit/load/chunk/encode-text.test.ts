// Rows in COPY's text format; the server reads them back in test/integration/copy-in.test.ts.

import { describe, expect, it } from 'vitest';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';

const cases: readonly { name: string; values: readonly (string | null)[]; row: string }[] = [
  { name: 'values between tabs', values: ['a', 'b c'], row: 'a\tb c\n' },
  { name: 'null and the text that looks like it', values: [null, '\\N'], row: '\\N\t\\\\N\n' },
  { name: 'empty texts', values: ['', ''], row: '\t\n' },
  { name: 'one empty text', values: [''], row: '\n' },
  { name: 'tab, line feed, carriage return, backslash', values: ['\t\n\r\\'], row: '\\t\\n\\r\\\\\n' },
  { name: 'the end of data', values: ['\\.'], row: '\\\\.\n' },
  {
    name: 'other control characters and characters beyond ASCII',
    values: ['\b\f\v\u0001', 'é𝄞'],
    row: '\b\f\v\u0001\té𝄞\n',
  },
];

describe('encodeTextRow', () => {
  it.each(cases)('$name', ({ values, row }) => {
    expect(encodeTextRow(values)).toBe(row);
  });
});
