// The mode 'append': rows of new files are added to the existing rows.

import type { AppendSpec } from '../../../core/declaration.ts';
import type { Meaning } from '../../table/meaning.ts';

export const append = ({ changed, gone }: AppendSpec): Meaning => ({
  name: 'append',
  text: 'append',
  takesParts: true,
  skipsBadFiles: true,
  stays: true,
  changed,
  gone,
  rowsKnownBy: 'file',
  fileNeed: changed === 'reload' || gone === 'unload' ? "changed: 'reload' and gone: 'unload'" : undefined,
  refusesTwice: true,
});
