// The state of a run as a word with a colour and a sign: colour alone would not do.

import { hostname } from 'node:os';
import type { RunSummary } from '../../ledger/history/history.ts';
import { isRunning } from '../../core/running.ts';
import { html, type Html } from './html.ts';

const ended = new Set(['published', 'failed', 'cancelled']);

/** Whether a run says that it is at work. */
export const isUnderWay = ({ state }: Pick<RunSummary, 'state'>): boolean => !ended.has(state);

/** Its process is certainly gone; only this machine's can be looked for. */
const isGone = (run: RunSummary): boolean =>
  isUnderWay(run) && run.host === hostname() && !isRunning(run.pid);

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'idle';

const signs: Readonly<Record<Tone, string>> = { good: '✓', bad: '✕', warn: '!', busy: '●', idle: '○' };

export const badge = (tone: Tone, text: string): Html =>
  html`<span class="badge ${tone}"><span aria-hidden="true">${signs[tone]}</span> ${text}</span>`;

/** The sign alone, with a number if it is more than one; the word is for those who do not see it, or point at it. */
export const sign = (tone: Tone, word: string, count: number): Html =>
  html`<span class="badge ${tone}" title="${word}"
    ><span aria-hidden="true">${signs[tone]}</span
    ><span class="unseen">${word}</span>${count > 1 ? ` ${count}` : ''}</span
  >`;

const tones: Readonly<Record<string, Tone>> = { published: 'good', failed: 'bad', cancelled: 'warn' };

export const stateBadge = (run: RunSummary): Html => {
  const { state, errorCode, rolledBackTo } = run;
  if (isGone(run)) return badge('warn', `${state}, process gone`);
  if (rolledBackTo !== null) return badge('good', 'rolled back');
  const name = state === 'cancelled' && errorCode === 'ETL_INTERRUPTED' ? 'stopped' : state;
  return badge(tones[state] ?? 'busy', name);
};
