// A small picture of a few numbers, oldest first: one bar each.

import { html, type Html } from './html.ts';

export interface TrendPoint {
  readonly value: number | null;
  readonly label: string;
  readonly isBad: boolean;
}

const width = 6;
const height = 26;

/** `name` and the numbers in words are for those who do not see it. */
export const trend = (name: string, points: readonly TrendPoint[]): Html => {
  const most = Math.max(...points.map(({ value }) => value ?? 0), 1e-9);
  const bars = points.map(({ value, label, isBad }, place) => {
    const tall = value === null ? 1 : Math.max(1, Math.round((value / most) * height));
    return html`<rect
      class="${isBad ? 'bad' : ''}"
      x="${place * (width + 1)}"
      y="${height - tall}"
      width="${width}"
      height="${tall}"
      ><title>${label}</title></rect
    >`;
  });
  const wide = Math.max(1, points.length * (width + 1) - 1);
  return html`<svg
    class="trend"
    role="img"
    aria-label="${name}: ${points.map(({ label }) => label).join('; ')}"
    width="${wide}"
    height="${height}"
    viewBox="0 0 ${wide} ${height}"
  >
    ${bars}
  </svg>`;
};
