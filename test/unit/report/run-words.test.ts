// Hints for the errors of earlier runs, of which the ledger has only code and message.

import { expect, it } from 'vitest';
import { hintOf } from '../../../src/report/run-words.ts';

it.each([
  ['a hint without placeholders is complete', 'ETL_DUPLICATE_KEY', /^Remove the duplicate records .+\.$/],
  ['the number of the run is filled in', 'ETL_REJECT_LIMIT', /`etl rejects list 12 --all` lists every/],
  [
    'a sentence with another placeholder is left out',
    'ETL_GUARD',
    /^If files are missing or cut off, correct/,
  ],
  ['a hint that is only a placeholder is none', 'ETL_HEADER_MISSING', /^undefined$/],
  ['a code of another version has none', 'ETL_NO_SUCH', /^undefined$/],
  ['a word that every object has is no code', 'constructor', /^undefined$/],
])('%s', (_, code, hint) => expect(String(hintOf(code, 12))).toMatch(hint));
