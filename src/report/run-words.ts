// Words for the terminal and the page: the state of a run, and the hint for its error.

import { hostname } from 'node:os';
import { catalogue, type ErrorCode } from '../core/errors/errors.ts';
import { isRunning } from '../core/running.ts';
import type { RunSummary } from '../ledger/history/history.ts';

const finalStates = new Set(['published', 'failed', 'cancelled']);

export const isUnderWay = ({ state }: Pick<RunSummary, 'state'>): boolean => !finalStates.has(state);

export const isProcessGone = (run: RunSummary): boolean =>
  isUnderWay(run) && run.host === hostname() && !isRunning(run.pid);

/** An interrupted run is called stopped, because the next run continues it. */
export const stateName = ({ state, errorCode, rolledBackTo }: RunSummary): string => {
  if (rolledBackTo !== null) return rolledBackTo === 0 ? 'rolled back' : `rolled back to ${rolledBackTo}`;
  return state === 'cancelled' && errorCode === 'ETL_INTERRUPTED' ? 'stopped' : state;
};

const isKnown = (code: string): code is ErrorCode => code in catalogue;

/** Returns undefined if the hint has placeholders, whose values the ledger lacks. */
export const hintOf = (code: string | null): string | undefined => {
  const hint = code !== null && isKnown(code) ? catalogue[code].hint : '';
  return hint === '' || hint.includes('{') ? undefined : hint;
};
