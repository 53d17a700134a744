// A picture of records per second, which the page's script replaces by an interactive chart.

import { formatSeconds } from '../../core/amounts.ts';
import type { Timeline } from '../../ledger/history/timeline.ts';
import { formatCount } from '../../core/wording.ts';
import { html, nothing, type Html } from './html.ts';
import { numbersOf, type Column } from './table.ts';

const width = 1000;
const height = 160;

interface Point {
  /** End of an interval, in seconds from the run's start. The other fields are its means. */
  readonly seconds: number;
  readonly perSecond: number;
  readonly lostPerSecond: number;
  readonly bytesPerSecond: number;
}

const columns: readonly Column<Point>[] = [
  { title: 'Until', cell: ({ seconds }) => formatSeconds(seconds), isNumber: true },
  { title: 'Records per second', cell: ({ perSecond }) => formatCount(perSecond), isNumber: true },
  { title: 'Lost in a crash', cell: ({ lostPerSecond }) => formatCount(lostPerSecond), isNumber: true },
  { title: 'Bytes per second', cell: ({ bytesPerSecond }) => formatCount(bytesPerSecond), isNumber: true },
];

const pointsOf = ({ work, seconds, stretches }: Timeline): readonly Point[] =>
  Array.from({ length: stretches }, (_, place) => {
    const here = work.filter((one) => one.place === place);
    const sum = (isLost: boolean, key: 'records' | 'bytes'): number =>
      here.reduce((total, one) => total + (one.isLost === isLost ? one[key] : 0), 0) / seconds;
    return {
      seconds: (place + 1) * seconds,
      perSecond: sum(false, 'records'),
      lostPerSecond: sum(true, 'records'),
      bytesPerSecond: sum(false, 'bytes'),
    };
  });

const area = (values: readonly number[], most: number): string => {
  const step = width / values.length;
  const steps = values.map((value, index) => {
    const y = (height - (value / most) * (height - 8)).toFixed(1);
    return `L${(index * step).toFixed(1)} ${y}H${((index + 1) * step).toFixed(1)}`;
  });
  return `M0 ${height}${steps.join('')}V${height}Z`;
};

export const throughputChart = (timeline: Timeline, script: string): Html => {
  const points = pointsOf(timeline);
  const loaded = points.map(({ perSecond }) => perSecond);
  const lost = points.map(({ lostPerSecond }) => lostPerSecond);
  const hasLost = lost.some((value) => value > 0);
  const most = Math.max(...loaded, ...lost, 1);
  const total = points.at(-1)?.seconds ?? 0;
  const name = `Records per second over ${formatSeconds(total)}, at most ${formatCount(most)}`;
  const data = JSON.stringify({
    x: points.map(({ seconds }) => Number(seconds.toFixed(3))),
    series: [
      { name: 'records per second', colour: '--loaded', y: loaded.map(Math.round) },
      ...(hasLost ? [{ name: 'lost in a crash', colour: '--lost', y: lost.map(Math.round) }] : []),
    ],
  });
  const drawn = points.filter(({ perSecond, lostPerSecond }) => perSecond + lostPerSecond > 0);
  return html`<figure class="chart" data-chart="${data}" data-script="${script}">
      <svg role="img" aria-label="${name}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">
        <path class="loaded-area" d="${area(loaded, most)}"></path>
        ${hasLost ? html`<path class="lost-area" d="${area(lost, most)}"></path>` : nothing}
      </svg>
      <figcaption>${name}${hasLost ? '; red: records that a crash deleted later' : ''}</figcaption>
    </figure>
    ${numbersOf('throughput-numbers', columns, drawn, 'Throughput')}`;
};
