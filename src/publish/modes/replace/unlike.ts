// Finds views, policies and checks whose text would change if they were created again. They prevent
// replacing a partitioned table.
//
// Example: the server prints `v in ('a', 'b')`, for a varchar, as a text that it would parse into
// another expression. Proved by test/modes/partition-policies.test.ts and partition-views.test.ts,
// "writes otherwise".

import { withRollback, type Client } from '../../../db/client.ts';
import { quoteName, quoteText } from '../../../db/sql.ts';
import { addConstraint, madeByHand } from '../../table/constraints-by-hand.ts';
import type { BuiltOver } from '../../table/built-over.ts';
import { builtName, productionName } from '../../../db/names.ts';
import type { Dependent } from '../../table/dependents.ts';
import { policySql } from '../../table/row-security.ts';
import { refuseShape } from '../../table/shape.ts';
import { takesPlace } from './whole.ts';

/** An object to create. `isSame`: SQL, true if the server prints it like production's. */
interface Probe extends Dependent {
  readonly make: string;
  readonly isSame: string;
}

const probesOf = ({ table, production }: BuiltOver): readonly Probe[] => {
  const { oid, views, security } = production!;
  const aside = quoteName(table.buildSchema, 'etl_probe');
  const built = builtName(table);
  const textOf = (policy: string, of: string): string =>
    `(select row(pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))::text from pg_policy
      where polrelid = ${of} and polname = ${quoteText(policy)})`;
  const definitionOf = (check: string, of: string): string =>
    `(select pg_get_constraintdef(oid) from pg_constraint where conrelid = ${of} and conname = ${quoteText(check)})`;
  return [
    ...views.map((view) => ({
      kind: 'view',
      name: view.name,
      make: `create view ${aside} as ${view.query}`,
      isSame: `pg_get_viewdef(${quoteText(aside)}::regclass) = pg_get_viewdef(${view.oid}::oid)`,
    })),
    ...security!.policies.map((policy) => ({
      kind: 'policy',
      name: policy.name,
      make: policySql(policy, built),
      isSame: `${textOf(policy.name, `${quoteText(built)}::regclass`)} = ${textOf(policy.name, `${oid}::oid`)}`,
    })),
    ...madeByHand(production!)
      .filter(({ kind }) => kind === 'c')
      .map((check) => ({
        kind: 'constraint',
        name: check.name,
        // The trial table has no rows, because the server would check all of them.
        make: `create table ${aside} (like ${productionName(table)}); alter table ${aside} ${addConstraint(check)}`,
        isSame: `${definitionOf(check.name, `${quoteText(aside)}::regclass`)} = ${definitionOf(check.name, `${oid}::oid`)}`,
      })),
  ];
};

const lockMs = 1_000;

/** A `do` block returns nothing, so the result is passed in this setting. */
const setting = 'etl.unlike';

/** Creates, compares and undoes one object. Adds its index to `unlike` if its text differs. */
const tried = ({ make, isSame }: Probe, index: number): string => `
  begin
    execute ${quoteText(make)};
    execute ${quoteText(`select ${isSame}`)} into same;
    raise exception using errcode = 'ETL00';
  exception
    when sqlstate 'ETL00' then if same is not true then unlike := unlike || ${index}; end if;
    when others then unlike := unlike || ${index};
  end;`;

export const unlikeOf = async (client: Client, over: BuiltOver): Promise<readonly Dependent[]> => {
  if (over.table.extent !== 'whole' || !takesPlace(over)) return [];
  const probes = probesOf(over);
  if (probes.length === 0) return [];
  const body = `declare same boolean; unlike integer[] := '{}'; begin ${probes.map(tried).join('')}
    perform set_config('${setting}', array_to_json(unlike)::text, true); end`;
  return withRollback(client, async () => {
    await client.query(`set local lock_timeout = ${lockMs}; do ${quoteText(body)}`);
    const { rows } = await client.query<{ unlike: readonly number[] }>(
      `select current_setting('${setting}')::json as unlike`,
    );
    return rows[0]!.unlike.map((index): Dependent => {
      const { kind, name } = probes[index]!;
      return { kind, name: `${name} (the server would write it differently)` };
    });
  });
};

/**
 * Refuses checks whose text would change, because their partitions could not be attached. Errors:
 * ETL_PUBLISH_SHAPE. Proved by test/modes/partitions.test.ts, "a check by hand".
 */
export const refuseUnlikeChecks = async (client: Client, over: BuiltOver): Promise<void> => {
  const { table, production } = over;
  if (production?.partitioning === undefined || takesPlace(over)) return;
  const names = production.dependents.flatMap(({ kind, name }) => (kind === 'constraint' ? [name] : []));
  if (names.length === 0) return;
  const [aside, whole] = [quoteName(table.buildSchema, 'etl_probe'), productionName(table)];
  const [unlike] = await withRollback(client, async () => {
    await client.query(`create table ${aside} (like ${whole})`);
    const checks = await client.query(
      `select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
        where conrelid = $1 and contype = 'c' and conname = any($2) order by 1`,
      [production.oid, names],
    );
    if (checks.rows.length === 0) return [];
    const parts = checks.rows.map(
      ({ name, definition }) => `add constraint ${quoteName(name)} ${definition}`,
    );
    await client.query(`alter table ${aside} ${parts.join(', ')}`);
    const { rows } = await client.query(
      `select n.conname as name, pg_get_constraintdef(n.oid) as definition
        from pg_constraint n join pg_constraint o on o.conrelid = $1 and o.conname = n.conname
        where n.conrelid = ${quoteText(aside)}::regclass and n.contype = 'c'
          and pg_get_constraintdef(n.oid) <> pg_get_constraintdef(o.oid) order by 1`,
      [production.oid],
    );
    return rows;
  });
  if (unlike === undefined) return;
  const name = quoteName(unlike.name);
  refuseShape(
    table.table,
    `its partitions cannot be replaced, because the server would write their check ${name} differently from that of ${whole}`,
    `Create it again as the server writes it: alter table ${whole} drop constraint ${name}, add constraint ${name} ${unlike.definition};`,
  );
};
