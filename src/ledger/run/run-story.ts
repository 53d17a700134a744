// The plan and the notices of a run, kept within bounds for later.

import { runQuery, type Client } from '../../db/client.ts';
import { storableJson } from '../../db/sql.ts';

/** What is planned for a table: label and text, in the order of a byte. */
export interface PlannedRows {
  /** With its schema. */
  readonly table: string;
  readonly isDerived: boolean;
  readonly rows: readonly (readonly [label: string, text: string])[];
}

/** What a run said, and when. */
export interface Notice {
  /** ISO 8601. */
  readonly at: string;
  readonly text: string;
}

/** Some notices: the newest, and how many there were. */
export interface Said {
  readonly notices: readonly Notice[];
  readonly said: number;
}

/** What is kept of a run beside its numbers. */
export interface RunStory extends Said {
  readonly plan: {
    readonly tables: readonly PlannedRows[];
    /** Rows that were too many to be kept. */
    readonly rowsCut: number;
  };
  /** OpenTelemetry's; null: it was not traced. */
  readonly traceId: string | null;
}

/** Of one text: a statement that makes a table of some hundred columns is longer, and the declaration has them all. */
const textCharsMax = 2_000;
/** Of all texts of a plan: more than anybody reads, and little beside the run's rows in the ledger. */
const planCharsMax = 64_000;
/** Notices of one run. One of more has a server that comes and goes, and says so again and again. */
export const noticesKept = 200;

const cut = (text: string): string =>
  text.length <= textCharsMax
    ? text
    : `${text.slice(0, textCharsMax)} … (${text.length - textCharsMax} characters more)`;

/** The first rows of a plan, as far as they have room, and how many there are more. */
export const cutPlan = (tables: readonly PlannedRows[]): RunStory['plan'] => {
  let [chars, rowsCut] = [0, 0];
  const hasRoom = (...texts: readonly string[]): boolean =>
    (chars += texts.reduce((sum, text) => sum + text.length, 0)) <= planCharsMax;
  const kept = tables.flatMap((table): PlannedRows[] => {
    // What follows the first that has no room has none either.
    const rows = table.rows
      .map(([label, text]) => [label, cut(text)] as const)
      .filter(([label, text], place) => hasRoom(place === 0 ? table.table : '', label, text));
    rowsCut += table.rows.length - rows.length;
    return rows.length > 0 ? [{ ...table, rows }] : [];
  });
  return { tables: kept, rowsCut };
};

/** Keeps the plan of a run, or the newer one of a run that is continued, and the number of its trace. */
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

/** Keeps what a run said since it was kept last; of all that it said, the newest. */
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

const nothing: RunStory = { plan: { tables: [], rowsCut: 0 }, notices: [], said: 0, traceId: null };

/** What is kept of a run that is there. */
export const storyOfRun = async (client: Client, runId: number): Promise<RunStory> => {
  const { rows } = await runQuery(client, {
    text: `select tables, rows_cut as "rowsCut", notices, said, trace_id as "traceId" from etl.run_plan where run_id = $1`,
    values: [runId],
  });
  if (rows[0] === undefined) return nothing;
  const { tables, rowsCut, ...others } = rows[0];
  return { plan: { tables, rowsCut }, ...others };
};
