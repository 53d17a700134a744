// Notifications in etl.notification: inserted in the transaction of their event, and sent by any
// process that has the receiver's variables.

import { isThere, rowsOf, runQuery, type Client } from '../../db/client.ts';
import { storableJson, type Query } from '../../db/sql.ts';
import type { Notification, NotifyEvent, Receiver } from '../../core/notification.ts';

/** Number of notifications to keep; older ones that are no longer pending are deleted. */
const endedKept = 10_000;

export type DeliveryState = 'pending' | 'delivered' | 'given up';

export interface Delivery {
  readonly id: number;
  readonly message: string;
  readonly event: NotifyEvent;
  readonly pipeline: string | null;
  readonly run: number | null;
  readonly channel: string;
  readonly receiver: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly nextAt: Date | null;
  readonly endedAt: Date | null;
  /** Why the last attempt failed; null: it succeeded, or there was none. */
  readonly problem: string | null;
}

/** Stores names of variables, never their values. */
export const insertNotifications = (receivers: readonly Receiver[], notification: Notification): Query => {
  const { pipeline, run } = notification.data;
  const to = receivers
    .filter(({ on }) => on.includes(notification.type))
    .map(({ channel, url, secret }) => ({ channel, url_name: url.name, secret_name: secret?.name }));
  return {
    text: `with forgotten as (
        delete from etl.notification
          where state <> 'pending' and id <= (select max(id) from etl.notification) - ${endedKept}
      )
      insert into etl.notification (event, pipeline, run_id, channel, url_name, secret_name, payload)
        select $1, $2, $3, t.channel, t.url_name, t.secret_name, $4::json
          from jsonb_to_recordset($5::jsonb) as t (channel text, url_name text, secret_name text)`,
    values: [notification.type, pipeline, run, storableJson(notification), JSON.stringify(to)],
  };
};

export interface Claimed {
  readonly id: number;
  readonly message: string;
  readonly channel: string;
  readonly urlName: string;
  readonly secretName: string | null;
  readonly payload: Notification;
  readonly attempts: number;
}

export interface ReceiverNames {
  readonly url_name: string;
  readonly secret_name: string | null;
}

export const pendingReceivers = (client: Client): Promise<readonly ReceiverNames[]> =>
  rowsOf(client, {
    text: `select distinct url_name, secret_name from etl.notification where state = 'pending'`,
  });

/**
 * Claims due notifications: no other process sends them for `claimMs`. If this process is killed,
 * another one sends them later, with the same ids.
 */
export const claimDue = (receivers: readonly ReceiverNames[], claimMs: number, limit: number): Query => ({
  text: `update etl.notification n
    set attempts = n.attempts + 1, next_at = clock_timestamp() + $2 * interval '1 ms'
    from (
      select p.id from etl.notification p
        join jsonb_to_recordset($1::jsonb) as t (url_name text, secret_name text)
          on t.url_name = p.url_name and t.secret_name is not distinct from p.secret_name
        where p.state = 'pending' and p.next_at <= clock_timestamp()
        order by p.next_at, p.id limit $3 for update of p skip locked
    ) due
    where n.id = due.id
    returning n.id::float8 as id, n.message, n.channel, n.url_name as "urlName", n.secret_name as "secretName", n.payload, n.attempts`,
  values: [JSON.stringify(receivers), claimMs, limit],
});

export const recordDelivered = (id: number): Query => ({
  text: `update etl.notification set state = 'delivered', problem = null, ended_at = clock_timestamp()
    where id = $1 and state = 'pending'`,
  values: [id],
});

export const recordRefused = (id: number, problem: string, pauseMs: number | undefined): Query => ({
  text: `update etl.notification set problem = $2, state = case when $3::float8 is null then 'given up' else state end,
      next_at = case when $3 is null then next_at else clock_timestamp() + $3 * interval '1 ms' end,
      ended_at = case when $3 is null then clock_timestamp() end
    where id = $1 and state = 'pending'`,
  values: [id, problem, pauseMs],
});

export const nextAttemptMs = async (
  client: Client,
  receivers: readonly ReceiverNames[],
): Promise<number | undefined> => {
  const { rows } = await client.query(
    `select extract(epoch from min(p.next_at) - clock_timestamp())::float8 * 1000 as ms from etl.notification p
      join jsonb_to_recordset($1::jsonb) as t (url_name text, secret_name text)
        on t.url_name = p.url_name and t.secret_name is not distinct from p.secret_name
      where p.state = 'pending'`,
    [JSON.stringify(receivers)],
  );
  return rows[0].ms === null ? undefined : Math.max(0, rows[0].ms);
};

/** Makes pending notifications due now; with `givenUp`, also those that were given up. */
export const makeDue = async (client: Client, givenUp: boolean): Promise<void> => {
  await client.query(
    `update etl.notification set state = 'pending', next_at = clock_timestamp(), ended_at = null,
        attempts = case state when 'pending' then attempts else 0 end
      where state = 'pending' or $1 and state = 'given up'`,
    [givenUp],
  );
};

export const countStates = async (
  client: Client,
): Promise<{ readonly pending: number; readonly delivered: number; readonly givenUp: number }> =>
  (
    await client.query(
      `select count(*) filter (where state = 'pending')::float8 as pending,
          count(*) filter (where state = 'delivered')::float8 as delivered,
          count(*) filter (where state = 'given up')::float8 as "givenUp"
        from etl.notification`,
    )
  ).rows[0];

interface DeliveriesWanted {
  readonly limit: number;
  readonly pipeline?: string | undefined;
  readonly state?: DeliveryState | undefined;
}

/** Lists the newest first; returns an empty list in a database without bookkeeping. */
export const listDeliveries = async (
  client: Client,
  { limit, pipeline, state }: DeliveriesWanted,
): Promise<readonly Delivery[]> => {
  if (!(await isThere(client, 'etl.notification'))) return [];
  const found = await runQuery(client, {
    text: `select id::float8 as id, message, event, pipeline, run_id::float8 as run, channel, url_name as receiver, state, attempts,
        created_at as "createdAt", case state when 'pending' then next_at end as "nextAt", ended_at as "endedAt", problem
      from etl.notification
      where ($2::text is null or pipeline = $2) and ($3::text is null or state = $3)
      order by id desc limit $1`,
    values: [limit, pipeline, state],
  });
  return found.rows;
};
