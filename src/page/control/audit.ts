// Records in etl.audit what a visitor asks for, before it is done, and then its outcome.

import { runQuery } from '../../db/client.ts';
import { storable, type Query } from '../../db/sql.ts';
import { asEtlError, EtlError } from '../../core/errors/errors.ts';
import type { RecordedAction } from '../../ledger/history/actions.ts';
import type { SiteOptions } from '../../worker/options.ts';
import { withBookkeeping } from '../../worker/site.ts';

/** So many are kept. */
const actionsKept = 10_000;

export interface Asked extends Pick<
  RecordedAction,
  'action' | 'kind' | 'subject' | 'person' | 'address' | 'visitor'
> {
  /** Of its form, which is taken once. */
  readonly form: string;
}

/** No row comes back when the form was sent before. */
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
 * Does what was asked for between the two, and returns the number of its row. Errors: ETL_PAGE_FORM when the form was sent before; those
 * of `act`, which returns what it did.
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
    // What stopped the action matters more than what stopped its record.
    await end(code, message).catch(() => undefined);
    throw thrown;
  }
};
