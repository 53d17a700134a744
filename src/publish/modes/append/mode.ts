import { fileColumn } from '../../../db/names.ts';
import { quoteName, quoteNames } from '../../../db/sql.ts';
import { buildDeclared } from '../../aside/build-table.ts';
import type { Mode } from '../contract.ts';
import { fillAll } from '../fill-all.ts';
import { append as strategy } from './append.ts';

export const append: Mode = {
  part: {
    strategies: [strategy],
    complete: buildDeclared,
    see: ({ outgoing: { files }, rowsFrom }, _, names, production) => {
      const list = quoteNames(names);
      const there = `select ${list} from ${production} o`;
      const isLeaving = `${quoteName(fileColumn)} = any ('{${files.join(',')}}'::bigint[])`;
      const [staying, leaving] = files.length === 0 ? ['true', 'false'] : [`not ${isLeaving}`, isLeaving];
      const come = `select ${list} from ${rowsFrom}`;
      return {
        whole: `${there} where ${staying} union all ${come}`,
        new: come,
        old: `${there} where ${leaving}`,
      };
    },
  },
  fillTable: fillAll,
};
