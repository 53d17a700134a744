// A sparkline of a few numbers, oldest first: one bar each.

import type { Html } from './html.ts';
import { smallPicture, type Rect } from './svg.ts';

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
  const rects = points.map(({ value, label, isBad }, place): Rect => {
    const tall = value === null ? 1 : Math.max(1, Math.round((value / most) * height));
    const colour = isBad ? 'lost' : 'loaded';
    return { colour, x: place * (width + 1), y: height - tall, width, height: tall, title: label };
  });
  const wide = Math.max(1, points.length * (width + 1) - 1);
  const said = `${name}: ${points.map(({ label }) => label).join('; ')}`;
  return smallPicture({ width: wide, height, name: said }, rects);
};
