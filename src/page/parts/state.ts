// States as words with a colour and a sign, because some people cannot distinguish colours.

import type { RunHead } from '../../ledger/history/history.ts';
import { lossOf, stateName } from '../../report/run-words.ts';
import { html, type Html } from './html.ts';

export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'idle';

const signs: Readonly<Record<Tone, string>> = { good: '✓', bad: '✕', warn: '!', busy: '●', idle: '○' };

export const badge = (tone: Tone, text: string): Html =>
  html`<span class="badge ${tone}"><span aria-hidden="true">${signs[tone]}</span> ${text}</span>`;

/** Shows a sign, with a count above 1. The word is in a tooltip, and for screen readers. */
export const sign = (tone: Tone, word: string, count: number): Html =>
  html`<span class="badge ${tone}" title="${word}"
    ><span aria-hidden="true">${signs[tone]}</span
    ><span class="unseen">${word}</span>${count > 1 ? ` ${count}` : ''}</span
  >`;

const tones: Readonly<Record<string, Tone>> = { published: 'good', failed: 'bad', cancelled: 'warn' };

export const stateBadge = (run: RunHead): Html => {
  const loss = lossOf(run);
  if (loss !== undefined) return badge('bad', `${run.state}, ${loss}`);
  return badge(run.rolledBackTo === null ? (tones[run.state] ?? 'busy') : 'good', stateName(run));
};
