// Where a run's time went, in sentences, kept in its row for later.

import type { Query } from '../../db/sql.ts';

export const keepAdvice = (runId: number, advice: readonly string[]): Query => ({
  text: 'update etl.run set advice = $2 where id = $1',
  values: [runId, advice],
});
