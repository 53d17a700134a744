// Implements 'append'.

import { fileColumn } from '../../../db/names.ts';
import { quoteName, quoteNames } from '../../../db/sql.ts';
import { buildDeclared } from '../../aside/build-table.ts';
import { seeExchanged } from '../beside.ts';
import type { Mode } from '../contract.ts';
import { fillAll } from '../fill-all.ts';
import { append as strategy } from './append.ts';

export const append: Mode = {
  part: {
    strategies: [strategy],
    complete: buildDeclared,
    see: ({ outgoing: { files }, rowsFrom }, _, names, production) => {
      const isLeaving = `${quoteName(fileColumn)} = any ('{${files.join(',')}}'::bigint[])`;
      const come = `select ${quoteNames(names)} from ${rowsFrom}`;
      return seeExchanged(names, production, come, files.length === 0 ? 'false' : isLeaving);
    },
  },
  fillTable: fillAll,
};
