// Who gets to BullMQ's board: everybody who sees the page may look, and with control a request from our own page may change something,
// which is written down as other actions are.

import { randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import { EtlError } from '../core/errors/errors.ts';
import type { Control } from './control/control.ts';
import { refuseForeign } from './control/forms.ts';
import type { Board } from './board.ts';

/** Its script sends no key of ours with what it asks for: the browser's word for its origin has to do. */
export const addBoard = (app: Hono, board: Board, { control }: { control: Control | undefined }): void => {
  app.get('/board', (context) => board.answer(context));
  app.get('/board/*', (context) => board.answer(context));
  app.on(['POST', 'PUT', 'PATCH'], '/board/*', async (context) => {
    if (control === undefined) throw new EtlError('ETL_PAGE_READ_ONLY');
    refuseForeign(context.req.raw);
    const subject = `${context.req.method} ${context.req.path.slice('/board/api'.length)}`.slice(0, 500);
    let answer: Response | undefined;
    await control.perform(context, { action: 'board', kind: 'queue', subject }, randomUUID(), async () => {
      answer = await board.answer(context);
      return `BullMQ's board answered ${answer.status}`;
    });
    return answer!;
  });
};
