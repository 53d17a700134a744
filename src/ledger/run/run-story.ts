// Stores the plan, notices and advice of a run, with limited size.

import { runQuery, type Client } from '../../db/client.ts';
import { storableJson, type Query } from '../../db/sql.ts';

export interface PlannedRows {
  readonly table: string;
  readonly isDerived: boolean;
  readonly rows: readonly (readonly [label: string, text: string])[];
}

export interface Notice {
  readonly at: string;
  readonly text: string;
}

/** The newest notices, and the number of all notices (`said`). */
export interface Said {
  readonly notices: readonly Notice[];
  readonly said: number;
}

export interface RunStory extends Said {
  readonly plan: {
    readonly tables: readonly PlannedRows[];
    /** Number of rows that were not stored, because the plan was too long. */
    readonly rowsCut: number;
  };
  readonly traceId: string | null;
}

/** Longest text stored. Only statements that create hundreds of columns are longer. */
const textCharsMax = 2_000;
/** Longest plan stored: more than anybody reads. */
const planCharsMax = 64_000;
/** Notices stored. Only a run that loses its server often has more. */
export const noticesKept = 200;

const cut = (text: string): string =>
  text.length <= textCharsMax
    ? text
    : `${text.slice(0, textCharsMax)} … (${text.length - textCharsMax} characters more)`;

export const cutPlan = (tables: readonly PlannedRows[]): RunStory['plan'] => {
  let [chars, rowsCut] = [0, 0];
  const hasRoom = (...texts: readonly string[]): boolean =>
    (chars += texts.reduce((sum, text) => sum + text.length, 0)) <= planCharsMax;
  const kept = tables.flatMap((table): PlannedRows[] => {
    // After the first row that does not fit, no other row fits either.
    const rows = table.rows
      .map(([label, text]) => [label, cut(text)] as const)
      .filter(([label, text], index) => hasRoom(index === 0 ? table.table : '', label, text));
    rowsCut += table.rows.length - rows.length;
    return rows.length > 0 ? [{ ...table, rows }] : [];
  });
  return { tables: kept, rowsCut };
};

export const keepPlan = async (
  client: Client,
  runId: number,
  tables: readonly PlannedRows[],
  traceId: string | null,
): Promise<void> => {
  const plan = cutPlan(tables);
  await runQuery(client, {
    text: `insert into etl.run_plan as p (run_id, tables, rows_cut, trace_id) values ($1, $2, $3, $4)
      on conflict (run_id) do update set tables = excluded.tables, rows_cut = excluded.rows_cut,
        trace_id = coalesce(excluded.trace_id, p.trace_id)`,
    values: [runId, storableJson(plan.tables), plan.rowsCut, traceId],
  });
};

export const keepNotices = async (client: Client, runId: number, { notices, said }: Said): Promise<void> => {
  const texts = notices.map(({ at, text }) => ({ at, text: cut(text) }));
  await runQuery(client, {
    text: `insert into etl.run_plan as p (run_id, notices, said) values ($1, $2, $3)
      on conflict (run_id) do update set said = p.said + excluded.said, notices = (
        select jsonb_agg(n.one order by n.place) from (
          select one, place from jsonb_array_elements(p.notices || excluded.notices) with ordinality as e (one, place)
            order by place desc limit ${noticesKept}
        ) n
      )`,
    values: [runId, storableJson(texts), said],
  });
};

export const keepAdvice = (runId: number, advice: readonly string[]): Query => ({
  text: 'update etl.run set advice = $2 where id = $1',
  values: [runId, advice],
});

const nothing: RunStory = { plan: { tables: [], rowsCut: 0 }, notices: [], said: 0, traceId: null };

export const storyOfRun = async (client: Client, runId: number): Promise<RunStory> => {
  const { rows } = await runQuery(client, {
    text: `select tables, rows_cut as "rowsCut", notices, said, trace_id as "traceId" from etl.run_plan where run_id = $1`,
    values: [runId],
  });
  if (rows[0] === undefined) return nothing;
  const { tables, rowsCut, ...others } = rows[0];
  return { plan: { tables, rowsCut }, ...others };
};
