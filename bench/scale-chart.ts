// The curves of `npm run bench:scale` as SVG, drawn by echarts without a browser.

import { drawChart } from './experiments/charts.ts';

/** One point of the curves: so many pipelines are scheduled at the same time. */
export interface SchedulePoint {
  readonly pipelines: number;
  /** Seconds until the runs of all, due in the same second, are on the queue. */
  readonly enqueueSeconds: number;
  /** Milliseconds of a poll that finds nothing due, and of a list of all schedules. */
  readonly idlePollMs: number;
  readonly listMs: number;
}

/** One point of the curves: the bookkeeping has so many chunks. */
export interface LedgerPoint {
  readonly chunks: number;
  /** Median milliseconds of a chunk's transaction, and of the rest of a run, with so many workers at once. */
  readonly chunkMs: number;
  readonly runMs: number;
  readonly runsPerSecond: number;
  readonly chunksPerSecond: number;
  /** Of the schema etl with its indexes, and of this process, which has all workers. */
  readonly bookkeepingMegabytes: number;
  readonly processMegabytes: number;
}

export interface ScaleResult {
  readonly schedules: readonly SchedulePoint[];
  readonly ledger: readonly LedgerPoint[];
}

const grid = { width: 330, height: 170 };

/** One panel: values by chunks recorded, or by pipelines. */
interface Panel {
  readonly title: string;
  readonly by: string;
  readonly points: readonly (readonly [number, number])[];
}

const panelsOf = ({ schedules, ledger }: ScaleResult): readonly Panel[] => [
  {
    title: 'seconds until all slots of one time are on the queue',
    by: 'pipelines',
    points: schedules.map(({ pipelines, enqueueSeconds }) => [pipelines, enqueueSeconds]),
  },
  {
    title: 'ms of a poll without a due slot',
    by: 'pipelines',
    points: schedules.map(({ pipelines, idlePollMs }) => [pipelines, idlePollMs]),
  },
  {
    title: 'ms of a chunk beside its COPY',
    by: 'chunks recorded',
    points: ledger.map(({ chunks, chunkMs }) => [chunks, chunkMs]),
  },
  {
    title: 'chunks a second, all workers',
    by: 'chunks recorded',
    points: ledger.map(({ chunks, chunksPerSecond }) => [chunks, chunksPerSecond]),
  },
  {
    title: 'MB of bookkeeping',
    by: 'chunks recorded',
    points: ledger.map(({ chunks, bookkeepingMegabytes }) => [chunks, bookkeepingMegabytes]),
  },
  {
    title: 'MB of a process with all workers',
    by: 'chunks recorded',
    points: ledger.map(({ chunks, processMegabytes }) => [chunks, processMegabytes]),
  },
];

export const drawScale = (result: ScaleResult): string => {
  const panels = panelsOf(result);
  const left = (index: number): number => 60 + (index % 2) * 420;
  const top = (index: number): number => 90 + Math.floor(index / 2) * 250;
  return drawChart(840, 'Many pipelines and chunks, without their loads', 'npm run bench:scale', {
    title: panels.map(({ title }, index) => ({
      text: title,
      left: left(index),
      top: top(index) - 28,
      textStyle: { fontSize: 12, fontWeight: 'normal' },
    })),
    grid: panels.map((_, index) => ({ ...grid, left: left(index), top: top(index) })),
    xAxis: panels.map(({ by }, gridIndex) => ({
      type: 'value',
      gridIndex,
      name: by,
      nameLocation: 'middle',
      nameGap: 24,
    })),
    yAxis: panels.map((_, gridIndex) => ({ type: 'value', gridIndex, min: 0 })),
    series: panels.map(({ points }, index) => ({
      type: 'line',
      xAxisIndex: index,
      yAxisIndex: index,
      data: points,
      lineStyle: { color: '#3d8361' },
      itemStyle: { color: '#3d8361' },
    })),
  });
};
