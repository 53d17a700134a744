// Local files as a source: paths and globs.

import type { Source } from './contract.ts';
import { listFiles } from './list-files.ts';
import { fileState, readRange } from './read-file.ts';

export const localFiles: Source = {
  name: 'file',
  matches: () => true,
  list: listFiles,
  look: fileState,
  isSeekable: true,
  open: readRange,
};
