// Numbers, sizes and times as people read them.

import { expect, it } from 'vitest';
import { formatBytes, formatDate, formatRate, formatSeconds } from '../../../src/core/amounts.ts';
import { formatCount, plural } from '../../../src/core/wording.ts';

const cases = [
  { name: 'small counts have no separator', got: formatCount(999), wanted: '999' },
  { name: 'counts are grouped in threes', got: formatCount(1_234_567), wanted: '1,234,567' },
  { name: 'rates are rounded', got: formatRate(1000, 3), wanted: '333' },
  { name: 'no time has no rate', got: formatRate(5, 0), wanted: '–' },
  { name: 'bytes stay bytes', got: formatBytes(999), wanted: '999 B' },
  { name: 'kilobytes have a decimal', got: formatBytes(1_500), wanted: '1.5 kB' },
  { name: 'hundreds need no decimal', got: formatBytes(145_234_567), wanted: '145 MB' },
  { name: 'almost a megabyte is a megabyte', got: formatBytes(999_999), wanted: '1.0 MB' },
  { name: 'there is no unit beyond the largest', got: formatBytes(5e18), wanted: '5000 PB' },
  { name: 'seconds have a decimal', got: formatSeconds(4.21), wanted: '4.2 s' },
  { name: 'almost a minute is a minute', got: formatSeconds(59.97), wanted: '1 min 0 s' },
  { name: 'minutes and seconds', got: formatSeconds(184), wanted: '3 min 4 s' },
  { name: 'hours and minutes', got: formatSeconds(3900), wanted: '1 h 5 min' },
  { name: 'one is singular', got: plural(1, 'file'), wanted: '1 file' },
  { name: 'none is plural', got: plural(0, 'file'), wanted: '0 files' },
  { name: 'dates are local', got: formatDate(new Date(2026, 2, 1, 9, 5, 0)), wanted: '2026-03-01 09:05:00' },
];

it.each(cases)('$name', ({ got, wanted }) => expect(got).toBe(wanted));
