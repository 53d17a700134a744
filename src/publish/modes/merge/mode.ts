// Implements the mode 'merge'.

import { quoteName } from '../../../db/sql.ts';
import { buildDeclared } from '../../aside/build-table.ts';
import { haveSame } from '../../table/table-state.ts';
import type { Mode, PartWays } from '../contract.ts';
import { fillMerged } from './merge-rows.ts';
import { changingColumns, isDeletion, isOlder, keyOf } from './merge-sql.ts';
import { merge as strategy } from './merge.ts';
import { lookAndRebuild, rebuild } from './rebuild.ts';

const see: PartWays['see'] = (part, state, names, production) => {
  const key = keyOf(state);
  const [comes, isThere] = ['n', 'o'].map((alias) => `${alias}.${quoteName(key.columns[0]!)} is not null`);
  const counts = `${comes} and not (${isThere} and ${isOlder(part.mode)})`;
  const changing = changingColumns(part, names);
  const columns = names.map((name) => {
    const [n, o] = [`n.${quoteName(name)}`, `o.${quoteName(name)}`];
    const takes = changing.includes(name) ? counts : `not (${isThere})`;
    return `case when ${takes} then ${n} else ${o} end as ${quoteName(name)}`;
  });
  const from = (join: string): string =>
    `from ${part.rowsFrom} n ${join} join ${production} o on ${haveSame(key, 'n', 'o')}`;
  const deletion = isDeletion(part.mode, 'n');
  return {
    whole: `select ${columns.join(', ')} ${from('full')} where not (${counts} and ${deletion})`,
    new: `select ${columns.join(', ')} ${from('left')} where ${counts} and not ${deletion}`,
    old: `select ${names.map((name) => `o.${quoteName(name)}`).join(', ')} ${from('inner')} where ${counts}`,
  };
};

export const merge: Mode = {
  part: { strategies: [rebuild, strategy], complete: buildDeclared, see },
  look: lookAndRebuild,
  fillTable: fillMerged,
};
