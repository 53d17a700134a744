// The mode 'merge': a record replaces the row with the same primary key.

import { formatCount } from '../../../core/wording.ts';
import type { MergeSpec } from '../../../core/declaration.ts';
import type { Meaning } from '../../table/meaning.ts';

export const merge = (spec: MergeSpec): Meaning => ({
  name: 'merge',
  text: 'merge',
  takesParts: true,
  skipsBadFiles: true,
  stays: true,
  changed: spec.changed,
  gone: spec.gone,
  rowsKnownBy: 'key',
  mayExchange: true,
  mayBeDerived: true,
  deletes: spec.deleted.length > 0,
  merge: spec,
  whyNotRows: (records, rows) =>
    `rows are merged by their key: ${formatCount(records)} records were copied, and ${formatCount(rows)} rows are there`,
});
