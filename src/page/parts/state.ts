// The state of a run as a word with a colour and a sign: colour alone would not do.

import type { RunSummary } from '../../ledger/history/history.ts';
import { isProcessGone, stateName } from '../../report/run-words.ts';
import { html, type Html } from './html.ts';

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
  if (isProcessGone(run)) return badge('warn', `${run.state}, process gone`);
  return badge(run.rolledBackTo === null ? (tones[run.state] ?? 'busy') : 'good', stateName(run));
};
