// Checks if a server is suitable for bulk loading.

import type { ServerAddress } from '../db/connect/address.ts';
import type { Client } from '../db/client.ts';
import { curedBy } from '../db/session/access.ts';
import { foreignHint, listed, strangeHint } from '../db/bookkeeping/trust.ts';
import { serverStartSpreadMs, serverVersionMin, stagingTablesShown } from '../core/limits.ts';
import {
  connectionsNeeded,
  type Demand,
  readServerFacts,
  type Bookkeeping,
  type ServerFacts,
} from '../db/session/facts.ts';
import { asEtlError } from '../core/errors/errors.ts';
import { firstOf, plural } from '../core/wording.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { settingRules } from './setting-rules.ts';

/** advice: a run works, but the setting could be better · problem: a run would fail. */
export type Verdict = 'ok' | 'advice' | 'problem';

export interface Finding {
  readonly name: string;
  readonly value: string;
  readonly verdict: Verdict;
  readonly advice?: string;
}

const ok = (name: string, value: string): Finding => ({ name, value, verdict: 'ok' });
const advise = (name: string, value: string, advice: string): Finding => ({
  name,
  value,
  verdict: 'advice',
  advice,
});
const refuse = (name: string, value: string, advice: string): Finding => ({
  name,
  value,
  verdict: 'problem',
  advice,
});

const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

export const settingBytes = (bytes: number): string => {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 10 && unit > 0 ? Number(value.toFixed(1)) : Math.round(value)}${units[unit]}`;
};

const dateText = (date: Date): string => `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const judgeServer = ({ access: { version, versionNumber, isStandby, encoding } }: ServerFacts): Finding[] => [
  versionNumber < serverVersionMin
    ? refuse('server', `PostgreSQL ${version}`, 'upgrade to PostgreSQL 14 or later')
    : ok('server', `PostgreSQL ${version}`),
  isStandby
    ? refuse(
        'role',
        'standby',
        'connect to the primary: a standby accepts no writes and cannot read unlogged tables',
      )
    : ok('role', 'primary'),
  encoding === 'UTF8'
    ? ok('encoding', encoding)
    : refuse('encoding', encoding, `create database … template template0 encoding 'UTF8', and load there`),
];

/** A pooler in another mode is refused when connecting. */
const judgePooling = ({ isPooled }: ServerFacts): Finding[] =>
  isPooled ? [ok('pooler', 'in session mode')] : [];

const judgeUser = ({ access, isSuperuser }: ServerFacts): Finding => {
  const { user, database, isReadOnly, isStandby, missing, cures } = access;
  const value = `${user}${isSuperuser ? ', superuser' : ''}`;
  // On a standby, every session is read-only, which the finding `role` already reports.
  if (isReadOnly && !isStandby) {
    const advice = `alter role ${user} in database ${database} set default_transaction_read_only = off: loading writes`;
    return refuse('user', `${value}, read-only`, advice);
  }
  if (missing.length === 0) return ok('user', value);
  return refuse(
    'user',
    value,
    `grant what a run needs${curedBy(cures)}; this user may not ${missing.join('; ')}`,
  );
};

const judgeConnections = ({ connectionLimits }: ServerFacts, demand: Demand): Finding[] => {
  const { workers } = demand;
  const needed = connectionsNeeded(demand);
  return connectionLimits.map(({ name, limit, used }) => {
    const value = `limit ${limit}, ${used} in use, ${needed} needed for --workers ${workers}`;
    const fitting = workers - (needed - (limit - used));
    const fewer = fitting > 0 ? ` or load with --workers ${fitting}` : '';
    const raise = `raise it by ${needed - limit + used}${fewer}`;
    if (needed > limit) return refuse(name, value, `${raise}: a run could not open its connections`);
    if (needed > limit - used)
      return advise(name, value, `${raise}: a run waits until enough connections are free`);
    return ok(name, value);
  });
};

const judgeSettings = (facts: ServerFacts): Finding[] =>
  settingRules.flatMap(({ name, isFine, advice }) => {
    const setting = facts.settings[name];
    if (setting === undefined) return [];
    return [isFine(setting, facts) ? ok(name, setting.text) : advise(name, setting.text, advice)];
  });

const judgeDisk = ({ databaseBytes, freeBytes }: ServerFacts): Finding[] => {
  const size = ok('database size', settingBytes(databaseBytes));
  if (freeBytes === undefined)
    return [size, ok('free disk', 'unknown: it can only be read on the server’s machine')];
  const advice =
    'free some space: while tables are replaced, the disk holds the old ones, the new ones and staging';
  const free = settingBytes(freeBytes);
  return [size, freeBytes < 2 * databaseBytes ? advise('free disk', free, advice) : ok('free disk', free)];
};

const judgeStaging = ({ staging }: ServerFacts): Finding => {
  const name = 'unlogged staging';
  if (staging.length === 0) return ok(name, 'none');
  const shown = firstOf(
    staging.map((table) => `${table.name} ${settingBytes(table.bytes)}`),
    stagingTablesShown,
  );
  const bytes = staging.reduce((sum, table) => sum + table.bytes, 0);
  const count = `${staging.length} ${staging.length === 1 ? 'table' : 'tables'}`;
  return ok(name, `${count}, ${settingBytes(bytes)}: ${shown.join(', ')}`);
};

const judgeStale = ({ stale }: Bookkeeping): Finding[] => {
  if (stale.length === 0) return [];
  const tables = stale.map((name) => `etl_staging.${name}`).join(', ');
  const advice = `drop table ${tables}; no unfinished run can use them: their pipeline or table was renamed, or --keep-staging kept them`;
  return [advise('stale staging', plural(stale.length, 'table'), advice)];
};

const judgeCrashes = ({ crashes }: Bookkeeping): Finding[] => {
  if (crashes === undefined) return [ok('crash epoch', 'unknown: a standby does not show it')];
  const { epoch, lost, crashesSeen, lastSeenBy } = crashes;
  const seen = crashesSeen === 0 ? 'none' : `${crashesSeen}, the last by run ${lastSeenBy}`;
  const value = epoch ?? 'none yet: unlogged tables were emptied, or never filled';
  const runs = lost.map(({ run, pipeline }) => `${run} (${pipeline})`).join(', ');
  const advice = `run the pipeline again to continue run ${runs}: a crash has emptied its staging, which is loaded again`;
  return [
    lost.length > 0 ? advise('crash epoch', value, advice) : ok('crash epoch', value),
    ok('crashes seen by runs', seen),
  ];
};

const judgeTrust = ({ trust: { foreign, strange, foreignOfPipelines } }: ServerFacts): Finding[] => [
  foreign.length === 0
    ? ok('owners', 'roles that this user trusts')
    : refuse('owners', listed(foreign), `a run of this user would be refused. ${foreignHint}`),
  ...(foreignOfPipelines.length === 0
    ? []
    : [
        advise(
          'owners of pipelines',
          listed(foreignOfPipelines),
          `a run of these pipelines by this user would be refused. ${foreignHint}`,
        ),
      ]),
  ...(strange.length === 0
    ? []
    : [refuse('created by others', listed(strange), `a run would be refused. ${strangeHint}`)]),
];

const judgeBookkeeping = ({ bookkeeping, access, trust }: ServerFacts): Finding[] => {
  const name = 'bookkeeping schema';
  if (bookkeeping === undefined) {
    if (trust.strange.length > 0) return [ok(name, 'not read')];
    const isClosed = access.missing.some((problem) => problem.includes(' schema etl'));
    return [ok(name, isClosed ? 'cannot be read by this user' : 'none yet: the first run creates it')];
  }
  const { found, known } = bookkeeping;
  if (found > known) {
    const advice = `upgrade sluice: a newer one has used this database, this one supports up to version ${known}`;
    return [refuse(name, `version ${found}`, advice), ...judgeCrashes(bookkeeping)];
  }
  const next = found < known ? `; the next run upgrades it to ${known}` : '';
  return [ok(name, `version ${found}${next}`), ...judgeCrashes(bookkeeping)];
};

const judgeUptime = ({ startedAt, checkpointerStartedAt }: ServerFacts): Finding => {
  const since = dateText(startedAt);
  const late = (checkpointerStartedAt?.getTime() ?? 0) - startedAt.getTime();
  if (late < serverStartSpreadMs) return ok('up since', since);
  const advice =
    'check the server’s log for the reason; usually it is out of memory: lower --workers or shared_buffers';
  return advise(
    'up since',
    `${since}, recovered from a crash at ${dateText(checkpointerStartedAt!)}`,
    advice,
  );
};

export const findingsOf = (facts: ServerFacts, demand: Demand): readonly Finding[] => [
  ...judgeServer(facts),
  ...judgePooling(facts),
  judgeUser(facts),
  ...judgeConnections(facts, demand),
  ...judgeSettings(facts),
  ...judgeDisk(facts),
  ...judgeTrust(facts),
  ...judgeBookkeeping(facts),
  judgeStaging(facts),
  ...(facts.bookkeeping === undefined ? [] : judgeStale(facts.bookkeeping)),
  judgeUptime(facts),
];

const judgeQueues = async ({ label, evictionPolicy }: QueueBackend): Promise<Finding[]> => {
  try {
    const policy = await evictionPolicy();
    if (policy === undefined) return [];
    const value = `${label}, maxmemory-policy ${policy}`;
    const advice =
      'set maxmemory-policy noeviction in Redis: otherwise it deletes jobs when its memory is full';
    return [policy === 'noeviction' ? ok('queues', value) : advise('queues', value, advice)];
  } catch (error) {
    const { message, hint } = asEtlError(error);
    return [refuse('queues', label, `${message}. ${hint}`)];
  }
};

/** Asks each node of Citus: a run that needs a node which is down waits for it, and then fails. */
const judgeNodes = async (client: Client): Promise<Finding[]> => {
  if (!client.hasCitus) return [];
  const { rows: nodes } = await client.query<{ name: string; answers: boolean }>(
    `select nodename || ':' || nodeport as name, citus_check_connection_to_node(nodename, nodeport) as answers
      from pg_dist_node where isactive and groupid <> 0 order by 1`,
  );
  const down = nodes.filter(({ answers }) => !answers).map(({ name }) => name);
  return [
    down.length === 0
      ? ok('Citus', plural(nodes.length, 'worker node'))
      : refuse('Citus', `no answer from ${down.join(', ')}`, 'start the server of the node, or see its log'),
  ];
};

/** Checks if a server is suitable for a run with these needs. Changes nothing. */
export const examineServer = async (
  client: Client,
  address: ServerAddress,
  demand: { readonly workers: number; readonly backend: QueueBackend },
): Promise<readonly Finding[]> => [
  ...findingsOf(await readServerFacts(client, address, demand.backend.databaseConnectionsMax > 0), demand),
  ...(await judgeNodes(client)),
  ...(await judgeQueues(demand.backend)),
];
