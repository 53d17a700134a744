// What `etl load` says before it loads: which field goes where.

import { plural } from '../../core/wording.ts';
import type { LoadDraft } from '../../tools/load/prepare-load.ts';
import { widthOf, type Io } from '../io.ts';
import { visibleText, wrapUnder } from '../layout.ts';
import { paintFor } from '../paint.ts';

/** Says which field goes where, so that a wrong match is seen. */
export const draftLines = ({ target, pairs, made }: LoadDraft, { env, stdout }: Io): readonly string[] => {
  const paint = paintFor(stdout, env);
  const width = widthOf(stdout);
  const name = paint('bold', visibleText(`${target.schema}.${target.table}`));
  if (pairs === undefined) {
    const columns = made!.columns.map((column, index) => `${column} ${made!.decisions[index]!.type}`);
    return wrapUnder(`${name} is new: ${visibleText(columns.join(', '))}`, width, 2);
  }
  const others = pairs.filter(({ field, column }) => field !== column.name);
  const shown = others.map(({ field, column }) => `${field} → ${column.name}`);
  const rest = pairs.length - others.length;
  const same = rest === 0 ? [] : [`${plural(rest, 'field')} by name`];
  return wrapUnder(`${name}: ${visibleText([...shown, ...same].join(', '))}`, width, 2);
};
