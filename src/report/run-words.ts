// What people are told about a run in the terminal and on the page: its state, and what to do about its error.

import { hostname } from 'node:os';
import { catalogue, type ErrorCode } from '../core/errors/errors.ts';
import { isRunning } from '../core/running.ts';
import type { RunSummary } from '../ledger/history/history.ts';

const finalStates = new Set(['published', 'failed', 'cancelled']);

export const isUnderWay = ({ state }: Pick<RunSummary, 'state'>): boolean => !finalStates.has(state);

/** The run is under way, but its process has ended. Only processes of this machine can be looked for. */
export const isProcessGone = (run: RunSummary): boolean =>
  isUnderWay(run) && run.host === hostname() && !isRunning(run.pid);

/** Only a run that somebody cancelled is called cancelled: the next run continues one that was interrupted. */
export const stateName = ({ state, errorCode, rolledBackTo }: RunSummary): string => {
  if (rolledBackTo !== null) return rolledBackTo === 0 ? 'rolled back' : `rolled back to ${rolledBackTo}`;
  return state === 'cancelled' && errorCode === 'ETL_INTERRUPTED' ? 'stopped' : state;
};

const isKnown = (code: string): code is ErrorCode => code in catalogue;

/** The hint of the catalogue, unless it needs values of the error, which are not kept. */
export const hintOf = (code: string | null): string | undefined => {
  const hint = code !== null && isKnown(code) ? catalogue[code].hint : '';
  return hint === '' || hint.includes('{') ? undefined : hint;
};
