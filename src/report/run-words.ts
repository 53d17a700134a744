// Words for the terminal and the page: the state of a run, and the hint for its error.

import { hostname } from 'node:os';
import { catalogue, type ErrorCode } from '../core/errors/errors.ts';
import { isRunning } from '../core/running.ts';
import type { RunHead } from '../ledger/history/history.ts';

const finalStates = new Set(['published', 'failed', 'cancelled']);

export const isUnderWay = ({ state }: Pick<RunHead, 'state'>): boolean => !finalStates.has(state);

export const isProcessGone = (run: RunHead): boolean =>
  isUnderWay(run) && run.host === hostname() && !isRunning(run.pid);

/** Says why a run under way may have nobody who works on it; undefined: its process works on it. */
export const lossOf = (run: RunHead): 'process gone' | 'not connected' | undefined => {
  if (isProcessGone(run)) return 'process gone';
  return run.isConnected || run.host === hostname() ? undefined : 'not connected';
};

/** An interrupted run is called stopped, because the next run continues it. */
export const stateName = ({ state, errorCode, rolledBackTo }: RunHead): string => {
  if (rolledBackTo !== null) return rolledBackTo === 0 ? 'rolled back' : `rolled back to ${rolledBackTo}`;
  return state === 'cancelled' && errorCode === 'ETL_INTERRUPTED' ? 'stopped' : state;
};

export const isKnownCode = (code: string): code is ErrorCode => Object.hasOwn(catalogue, code);

/** Leaves out sentences with placeholders whose values the ledger lacks. */
export const hintOf = (code: string | null, run?: number): string | undefined => {
  const hint = code !== null && isKnownCode(code) ? catalogue[code].hint : '';
  const sentences = hint.replaceAll('{run}', String(run ?? '{run}')).split(/(?<=\.) (?=[A-Z`'{])/);
  return sentences.filter((sentence) => !/\{\w+\}/.test(sentence)).join(' ') || undefined;
};
