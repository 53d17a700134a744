// 'replace': production gets the rows of all files, in all partitions or those that they touch.

import type { Meaning } from '../../table/meaning.ts';

export const replace: Meaning = {
  name: 'replace',
  text: 'replace',
  takesParts: false,
  stays: false,
  changed: 'reload',
  gone: 'unload',
  mayBeDerived: true,
};

export const touched: Meaning = {
  name: 'touched',
  text: "replace, only 'touched'",
  takesParts: true,
  stays: false,
  changed: 'reload',
  gone: 'keep',
  rowsKnownBy: 'file',
  fileNeed: "only: 'touched'",
  replacesPartitions: true,
  mayExchange: true,
};
