// 'append': the rows of new files come beside those that are there.

import type { AppendSpec } from '../../../core/declaration/declaration.ts';
import type { Meaning } from '../../table/meaning.ts';

export const append = ({ changed, gone }: AppendSpec): Meaning => ({
  name: 'append',
  text: 'append',
  takesParts: true,
  stays: true,
  changed,
  gone,
  rowsKnownBy: 'file',
  // Rows of single files leave.
  fileNeed: changed === 'reload' || gone === 'unload' ? "changed: 'reload' and gone: 'unload'" : undefined,
  refusesTwice: true,
});
