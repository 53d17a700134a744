// `etl rejects list|show|export|replay|withdraw`: rejected records and their corrections.

import { group } from '../command.ts';
import { replayCommand, withdrawCommand } from './correct-rejects.ts';
import { exportCommand } from './export-rejects.ts';
import { listCommand } from './list-rejects.ts';
import { showCommand } from './show-rejects.ts';

export const rejectsCommand = group(
  {
    name: 'rejects',
    summary: 'show rejected records with line and reason, and correct them',
    description: 'Shows rejected records of a run, exports them for correction, and loads corrected ones.',
  },
  [listCommand, showCommand, exportCommand, replayCommand, withdrawCommand],
);
