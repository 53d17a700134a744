// 'history': keeps every version of a row, by primary key, with its validity period.

import type { HistorySpec } from '../../../core/declaration.ts';
import type { Meaning } from '../../table/meaning.ts';

export const history = ({ changed, gone, deleted, from, to, at }: HistorySpec): Meaning => ({
  name: 'history',
  text: 'history',
  takesParts: true,
  skipsBadFiles: true,
  stays: true,
  changed,
  gone,
  rowsKnownBy: 'key',
  lostByRefresh: at === undefined ? 'versions dated by earlier runs' : undefined,
  deletes: deleted.length > 0,
  versions: { from, to, at },
  whyNotRows: () => 'rows are versions of keys, and depend on earlier runs',
});
