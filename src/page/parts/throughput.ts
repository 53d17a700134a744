// Records a second over the time of a run, as an area; the script makes a chart of it that can be read with a pointer.

import { formatSeconds } from '../../amounts.ts';
import type { Throughput } from '../../history/chunk-map.ts';
import { formatCount } from '../../wording.ts';
import { html, type Html } from './html.ts';
import { numbersOf, type Column } from './table.ts';

const width = 1000;
const height = 160;

interface Point {
  readonly seconds: number;
  readonly perSecond: number;
  readonly records: number;
  readonly chunks: number;
}

const columns: readonly Column<Point>[] = [
  { title: 'Until', cell: ({ seconds }) => formatSeconds(seconds), isNumber: true },
  { title: 'Records a second', cell: ({ perSecond }) => formatCount(perSecond), isNumber: true },
  { title: 'Records', cell: ({ records }) => formatCount(records), isNumber: true },
  { title: 'Chunks', cell: ({ chunks }) => formatCount(chunks), isNumber: true },
];

const pointsOf = (stretches: readonly Throughput[]): readonly Point[] =>
  stretches.map(({ seconds, records, chunks }, place) => ({
    seconds: (place + 1) * seconds,
    perSecond: records / seconds,
    records,
    chunks,
  }));

export const throughputChart = (stretches: readonly Throughput[]): Html => {
  const points = pointsOf(stretches);
  const most = Math.max(...points.map(({ perSecond }) => perSecond), 1);
  const step = width / points.length;
  const steps = points
    .map(({ perSecond }, place) => {
      const y = (height - (perSecond / most) * (height - 8)).toFixed(1);
      return `L${(place * step).toFixed(1)} ${y}H${((place + 1) * step).toFixed(1)}`;
    })
    .join('');
  const total = points.at(-1)?.seconds ?? 0;
  const name = `Records a second over ${formatSeconds(total)}, at most ${formatCount(most)}`;
  const data = JSON.stringify({
    x: points.map(({ seconds }) => Number(seconds.toFixed(3))),
    y: points.map(({ perSecond }) => Math.round(perSecond)),
    name: 'records a second',
  });
  return html`<figure class="chart" data-chart="${data}">
      <svg role="img" aria-label="${name}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">
        <path d="M0 ${height}${steps}V${height}Z"></path>
      </svg>
      <figcaption>${name}</figcaption>
    </figure>
    ${numbersOf(
      'throughput-numbers',
      columns,
      points.filter(({ chunks }) => chunks > 0),
      'Throughput',
    )}`;
};
