// Makes the statistics of a new table.

import { runTogether, withOwnTransaction, type Client } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { isRefusal } from '../../db/connect/server-error.ts';
import { quoteName } from '../../db/sql.ts';
import { messageOf } from '../../core/errors/errors.ts';
import { builtName, type TableNames } from '../../db/names.ts';
import { setDeclared } from '../table/attributes.ts';
import type { Building } from './building.ts';
import { inheritStatistics } from './inherit.ts';
import { takeStatistics, type StagedStatistics } from './staged-statistics.ts';

/** A savepoint keeps an error from aborting the transaction of the build. */
const analyze = (client: Client, what: string): Promise<unknown> =>
  withOwnTransaction(client, (begin, end) => runTogether(client, [begin, { text: `analyze ${what}` }, end]));

/**
 * Analyzes each column on its own, after one value failed, such as a numrange bound too large for a
 * double.
 */
const analyzeColumns = async (
  client: Client,
  names: TableNames,
  announce: Building['announce'],
  cause: unknown,
): Promise<void> => {
  const { rows } = await client.query<{ name: string }>(
    'select attname as name from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum',
    [builtName(names)],
  );
  const left: string[] = [];
  for (const { name } of rows)
    await analyze(client, `${builtName(names)} (${quoteName(name)})`).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
      left.push(name);
    });
  const what = left.length === 0 ? 'expressions in indexes' : left.join(', ');
  announce(
    `${names.table}: the server has no statistics of ${what}, because \`analyze\` fails there: ${messageOf(cause)}; queries that use them may be planned badly`,
  );
};

/**
 * Makes statistics. `announce` reports columns that cannot be analyzed; without it, their error is
 * thrown.
 */
export const completeStatistics = async (
  client: Client,
  names: TableNames,
  staged?: StagedStatistics,
  announce?: Building['announce'],
): Promise<void> => {
  const setTargets = () => [
    inheritStatistics(client, names),
    setDeclared(client, builtName(names), names, 'part'),
  ];
  // `analyze` calls the functions in expressions of indexes, which may fail.
  const analyzeAll = () =>
    analyze(client, builtName(names)).catch((cause: unknown) => {
      if (announce === undefined || !isRefusal(cause)) throw cause;
      return analyzeColumns(client, names, announce, cause);
    });
  if (staged === undefined) await askTogether(client, () => [...setTargets(), analyzeAll()]);
  else {
    await askTogether(client, setTargets);
    if (!(await takeStatistics(client, names, staged))) await analyzeAll();
  }
};
