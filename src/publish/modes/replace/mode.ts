// Implements the mode 'replace', and publishes all rows of a table in any mode.

import { quoteNames } from '../../../db/sql.ts';
import { buildAside } from '../../aside/build-table.ts';
import { seeExchanged } from '../beside.ts';
import type { Mode, Ways } from '../contract.ts';
import { fillAll } from '../fill-all.ts';
import { inPlace } from './in-place.ts';
import { partitions } from './partitions.ts';
import { swap } from './swap.ts';

export const allRows: Ways = { strategies: [partitions, swap, inPlace], complete: buildAside };

export const replace: Mode = { fillTable: fillAll };

export const touched: Mode = {
  part: {
    strategies: [partitions, inPlace],
    complete: buildAside,
    see: ({ rowsFrom, touched: found }, _, names, production) =>
      seeExchanged(names, production, `select ${quoteNames(names)} from ${rowsFrom}`, found!.where),
  },
  fillTable: fillAll,
};
