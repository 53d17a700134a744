// Tells whether listed files are complete: unchanged for a while, or with a marker file beside them.

import { setTimeout as sleep } from 'node:timers/promises';
import type { SourceTableSpec } from '../../core/declaration.ts';
import { EtlError, codeOf, messageOf } from '../../core/errors/errors.ts';
import type { Access } from '../../input/sources/contract.ts';
import { withFilesAtOnce } from '../../input/sources/at-once.ts';
import type { Found } from './found-files.ts';

const notReady = (table: string, file: string, problem: string, hint: string): EtlError =>
  new EtlError('ETL_FILE_NOT_READY', { table, file, problem, hint });

const again = 'Run again when it is complete.';

/** Milliseconds until the file has been unchanged for long enough; never more than `settle`. */
export const msToSettle = (
  { readings }: SourceTableSpec,
  { source, file, reading }: Found,
  now: number,
): number => {
  const settleMs = 1_000 * readings[reading]!.source.arrival.settle;
  if (settleMs === 0 || source.writtenAt === undefined || file.version === undefined) return 0;
  const quietMs = now - source.writtenAt(file.version);
  return Math.min(settleMs, Math.max(0, settleMs - quietMs));
};

/**
 * Waits until all listed files have been unchanged for as long as their source wants. The time of a
 * file's last write tells how long that was, so only files written just now are waited for, together.
 */
export const untilSettled = async (
  table: SourceTableSpec,
  found: readonly Found[],
  signal: AbortSignal | undefined,
): Promise<void> => {
  const now = Date.now();
  const ms = found.reduce((most, one) => Math.max(most, msToSettle(table, one, now)), 0);
  if (ms > 0) await sleep(ms, undefined, { signal });
};

/** Says whether the file changed after it was listed, which is the first of two looks at it. */
export const growing = (
  { name: table, readings }: SourceTableSpec,
  { source, file, reading }: Found,
  { fingerprint }: { readonly fingerprint: string },
): EtlError | undefined => {
  if (source.writtenAt === undefined || file.version === undefined) return undefined;
  if (readings[reading]!.source.arrival.settle === 0 || fingerprint.startsWith(`${file.version}:`))
    return undefined;
  return notReady(table, file.name, 'is still being written', again);
};

const withoutEnding = (location: string): string => location.replace(/\.[^./]+$/, '');

/** Returns the files that wait for their markers, with the error of each. */
export const unmarked = async (
  { name: table, readings }: SourceTableSpec,
  found: readonly Found[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<Found, EtlError>> => {
  const waiting = new Map<Found, EtlError>();
  const marked = found.filter(({ reading }) => readings[reading]!.source.arrival.ready !== null);
  const isThere = ({ source, file }: Found, location: string, access: Access): Promise<boolean> =>
    source.look({ table, name: file.name, location }, access).then(
      () => true,
      (cause: unknown) => {
        if (['ENOENT', 'ETL_SOURCE_GONE'].includes(codeOf(cause) ?? '')) return false;
        throw cause;
      },
    );
  await withFilesAtOnce(marked, async (one) => {
    const declared = readings[one.reading]!.source;
    const { ready } = declared.arrival;
    const { location, name } = one.file;
    const access = { declared, signal };
    try {
      if (await isThere(one, `${location}${ready}`, access)) return;
      if (await isThere(one, `${withoutEnding(location)}${ready}`, access)) return;
      waiting.set(one, notReady(table, name, `has no marker ${name}${ready} beside it`, again));
    } catch (cause) {
      if (cause instanceof EtlError) throw cause;
      const problem = `its marker cannot be read: ${messageOf(cause)}`;
      waiting.set(one, new EtlError('ETL_SOURCE_UNREADABLE', { table, file: name, problem }, { cause }));
    }
  });
  return waiting;
};
