import { quoteNames } from '../../../db/sql.ts';
import { buildAside } from '../../aside/build-table.ts';
import type { Mode, Ways } from '../contract.ts';
import { fillAll } from '../fill-all.ts';
import { inPlace } from './in-place.ts';
import { partitions } from './partitions.ts';
import { swap } from './swap.ts';

/** For all rows of a table, in any mode. */
export const allRows: Ways = { strategies: [partitions, swap, inPlace], complete: buildAside };

export const replace: Mode = { fillTable: fillAll };

/** The rows of some partitions are replaced. */
export const touched: Mode = {
  part: {
    strategies: [partitions, inPlace],
    complete: buildAside,
    see: ({ rowsFrom, touched: found }, _, names, production) => {
      const { where } = found!;
      const list = quoteNames(names);
      const there = `select ${list} from ${production} o`;
      const come = `select ${list} from ${rowsFrom}`;
      return {
        whole: `${there} where not (${where}) union all ${come}`,
        new: come,
        old: `${there} where ${where}`,
      };
    },
  },
  fillTable: fillAll,
};
