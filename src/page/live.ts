// Live updates: each open page gets a compressed stream of server-sent events, with the sections
// that have changed.
//
// All visitors of a page share its queries. A stream ends after some time, and the browser opens
// another one. A stream that is not read is ended, so at most one unread update is in memory.

import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, createGzip } from 'node:zlib';
import type { Context } from 'hono';
import { streamSSE, type SSEStreamingApi } from 'hono/streaming';
import { sentSection, type SentSection } from './parts/layout.ts';
import type { View } from './parts/view.ts';

/** Streams at once: enough for a team with several windows each. */
const streamsMax = 32;
const streamMsMax = 10 * 60_000;
const writeMsMax = 15_000;
/** Longest silence: so proxies keep the connection, and browsers notice that it was lost. */
const pulseMs = 15_000;

/** Maximum number of hashes in a request. No page has so many sections. */
const sectionsMax = 40;

interface Look {
  readonly at: number;
  readonly sections: Promise<{ readonly sent: readonly SentSection[]; readonly freshMs: number }>;
}

export interface Live {
  readonly stream: (context: Context, path: string, make: () => Promise<View>) => Response | undefined;
  readonly close: () => void;
}

const look = async (make: () => Promise<View>): Promise<{ sent: SentSection[]; freshMs: number }> => {
  const { sections, freshMs } = await make();
  return { sent: await Promise.all(sections.map(sentSection)), freshMs };
};

/** Parses `facts.<hash>,map.<hash>`: the sections that the browser shows. */
const readKnown = (text: string | undefined): Map<string, string> => {
  const pairs = (text ?? '').split(',', sectionsMax).map((part) => /^([\w-]{1,40})\.([\w-]{16})$/.exec(part));
  return new Map(pairs.flatMap((found) => (found === null ? [] : [[found[1]!, found[2]!] as const])));
};

/** Z_SYNC_FLUSH sends every event at once. */
const compressed = (context: Context, answer: Response): Response => {
  const isAccepted = /\bgzip\b/.test(context.req.header('accept-encoding') ?? '');
  if (!isAccepted || answer.body === null) return answer;
  const gzip = Duplex.toWeb(createGzip({ flush: constants.Z_SYNC_FLUSH }));
  const headers = new Headers(answer.headers);
  headers.set('content-encoding', 'gzip');
  headers.set('vary', 'accept-encoding');
  return new Response(answer.body.pipeThrough(gzip), { status: answer.status, headers });
};

const send = async (stream: SSEStreamingApi, event: string, data: string): Promise<void> => {
  const isLate = sleep(writeMsMax, true, { ref: false });
  if (await Promise.race([stream.writeSSE({ event, data }).then(() => false), isLate])) stream.abort();
};

/** Returns the changed sections and updates `known`; undefined if nothing has changed. */
const newsOf = (
  sent: readonly SentSection[],
  known: Map<string, string>,
): { readonly ids: readonly string[]; readonly changed: readonly SentSection[] } | undefined => {
  const ids = sent.map(({ id }) => id);
  const changed = sent.filter(({ id, hash }) => known.get(id) !== hash);
  const gone = [...known.keys()].filter((id) => !ids.includes(id));
  for (const { id, hash } of changed) known.set(id, hash);
  for (const id of gone) known.delete(id);
  return changed.length + gone.length > 0 ? { ids, changed } : undefined;
};

export const createLive = (): Live => {
  const closing = new AbortController();
  const looks = new Map<string, Look>();
  let streams = 0;

  const lookAt = (path: string, make: () => Promise<View>, freshMs: number): Look['sections'] => {
    const known = looks.get(path);
    if (known !== undefined && Date.now() - known.at < freshMs / 2) return known.sections;
    for (const [other, { at }] of looks) if (Date.now() - at > streamMsMax) looks.delete(other);
    const sections = look(make);
    sections.catch(() => looks.delete(path));
    looks.set(path, { at: Date.now(), sections });
    return sections;
  };

  const follow = async (
    stream: SSEStreamingApi,
    path: string,
    known: Map<string, string>,
    make: () => Promise<View>,
  ): Promise<void> => {
    const stopping = new AbortController();
    stream.onAbort(() => stopping.abort());
    const signal = AbortSignal.any([stopping.signal, closing.signal]);
    const end = Date.now() + streamMsMax;
    let wait = 1_000;
    let [pulseAt, isLost] = [0, false];
    while (!signal.aborted && Date.now() < end) {
      const found = await lookAt(path, make, wait).catch(() => undefined);
      const news = found && newsOf(found.sent, known);
      if (news !== undefined) await send(stream, 'sections', JSON.stringify(news));
      else if (isLost !== (found === undefined) || Date.now() > pulseAt)
        await send(stream, found === undefined ? 'lost' : 'pulse', '');
      if (news !== undefined || Date.now() > pulseAt) pulseAt = Date.now() + pulseMs;
      isLost = found === undefined;
      wait = found?.freshMs ?? 5_000;
      await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };

  return {
    stream: (context, path, make) => {
      if (streams >= streamsMax) return undefined;
      streams += 1;
      const known = readKnown(context.req.query('have'));
      const answer = streamSSE(context, async (stream) => {
        try {
          await follow(stream, path, known, make);
        } finally {
          streams -= 1;
        }
      });
      return compressed(context, answer);
    },
    close: () => closing.abort(),
  };
};
