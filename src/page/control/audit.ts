// Records every action of a visitor in etl.audit: first the request, then the outcome.

import { runQuery } from '../../db/client.ts';
import { storable, type Query } from '../../db/sql.ts';
import { asEtlError, EtlError } from '../../core/errors/errors.ts';
import type { RecordedAction } from '../../ledger/history/actions.ts';
import type { SiteOptions } from '../../worker/options.ts';
import { withBookkeeping } from '../../worker/site.ts';

/** Older actions are deleted. */
const actionsKept = 10_000;

export interface Asked extends Pick<
  RecordedAction,
  'action' | 'kind' | 'subject' | 'person' | 'address' | 'visitor'
> {
  /** Id of the form. A form can be sent only once. */
  readonly form: string;
}

/** Inserts the action. Returns no row if the form was sent before. */
const insertAction = ({ form, action, kind, subject, person, address, visitor }: Asked): Query => ({
  text: `with forgotten as (
      delete from etl.audit where id <= (select max(id) from etl.audit) - ${actionsKept}
    )
    insert into etl.audit (form, action, kind, subject, person, address, visitor)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict (form) do nothing returning id::float8 as id`,
  values: [form, action, kind, subject, person === null ? null : storable(person), address, visitor],
});

const endAction = (id: number, errorCode: string | null, detail: string): Query => ({
  text: 'update etl.audit set ended_at = clock_timestamp(), error_code = $2, detail = $3 where id = $1',
  values: [id, errorCode, storable(detail)],
});

/**
 * Records the request, runs `act`, records its outcome, and returns the id of the record.
 *
 * Errors: ETL_PAGE_FORM if the form was sent before; those of `act`.
 */
export const audited = async (
  site: SiteOptions,
  asked: Asked,
  act: () => Promise<string>,
): Promise<number> => {
  const inserted = await withBookkeeping(site, (client) => runQuery(client, insertAction(asked)));
  const id: number | undefined = inserted.rows[0]?.id;
  if (id === undefined) throw new EtlError('ETL_PAGE_FORM', { problem: 'it was sent before' });
  const end = (errorCode: string | null, detail: string): Promise<unknown> =>
    withBookkeeping(site, (client) => runQuery(client, endAction(id, errorCode, detail)));
  try {
    await end(null, await act());
    return id;
  } catch (thrown) {
    const { code, message } = asEtlError(thrown);
    // The visitor must see the action's error, even if it cannot be recorded.
    await end(code, message).catch(() => undefined);
    throw thrown;
  }
};
