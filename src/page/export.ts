// Streams rejects as CSV, as fast as the visitor downloads. `etl rejects export` writes the same.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'hono';
import { stream } from 'hono/streaming';
import type { Client } from '../db/client.ts';
import { EtlError } from '../core/errors/errors.ts';
import { rejectPages } from '../ledger/rejects/list-rejects.ts';
import { exportLine, headOf, uncorrected } from '../ledger/rejects/reject-export.ts';
import { shapeOfRejects, type RecordShape } from '../ledger/rejects/reject-records.ts';

/** Exports at once: each keeps one of the page's few database connections until its end. */
const exportsMax = 1;
const writeMsMax = 15_000;

export type Read = <T>(read: (client: Client) => Promise<T>) => Promise<T>;

/** Errors: ETL_USAGE if there are no rejects, or their columns differ. */
const shapeOf = async (client: Client, runId: number, table: string | null): Promise<RecordShape> => {
  const shape = await shapeOfRejects(client, runId, { table });
  if (shape !== undefined) return shape;
  const problem = `run ${runId} has no rejects${table === null ? '' : ` of table ${table}`}`;
  throw new EtlError('ETL_USAGE', { problem, hint: '' });
};

export const createExport = (read: Read) => {
  let exports = 0;
  return async (context: Context): Promise<Response> => {
    const runId = Number(/^\d{1,15}$/.exec(context.req.query('run') ?? '')?.[0] ?? 0);
    const shape = await read((client) => shapeOf(client, runId, context.req.query('table') ?? null));
    if (exports >= exportsMax) throw new EtlError('ETL_PAGE_BUSY');
    exports += 1;
    context.header('content-type', 'text/csv; charset=utf-8');
    context.header('content-disposition', `attachment; filename="rejects-${runId}.csv"`);
    return stream(context, async (out) => {
      const send = async (text: string): Promise<boolean> => {
        const isLate = sleep(writeMsMax, true, { ref: false });
        return !(await Promise.race([out.write(text).then(() => false), isLate])) && !out.aborted;
      };
      try {
        await read(async (client) => {
          if (!(await send(headOf(shape)))) return;
          for await (const page of rejectPages(client, runId, { table: shape.table }))
            if (
              !(await send(
                uncorrected(page)
                  .map((reject) => exportLine(reject, shape).line)
                  .join(''),
              ))
            )
              return;
        });
      } finally {
        exports -= 1;
      }
    });
  };
};
