// csv-parse: the one place that loads it.

import { createRequire } from 'node:module';
import type * as CsvParse from 'csv-parse/sync';

/** As CommonJS it is one file; as ES modules it is a dozen, which every thread would read. */
export const { CsvError, parse } = createRequire(import.meta.url)('csv-parse/sync') as typeof CsvParse;
