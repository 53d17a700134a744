// The charts of docs/experiments.md as SVG, drawn by echarts without a browser.

import * as echarts from 'echarts';
import { bytes, count, ratio } from './amounts.ts';
import type { Result, Side } from './contract.ts';

const width = 860;
const colors = { published: '#9aa5b1', logged: '#b0413e', unlogged: '#2f6f9f', sluice: '#3d8361' } as const;

/** Texts are drawn, so they need a font that every machine has. */
const base = (title: string, note: string): echarts.EChartsCoreOption => ({
  animation: false,
  backgroundColor: '#ffffff',
  textStyle: { fontFamily: 'sans-serif' },
  title: { text: title, subtext: note, left: 12, top: 8, textStyle: { fontSize: 16 } },
});

const draw = (height: number, option: echarts.EChartsCoreOption): string => {
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption(option);
    // Numbers that a process counts up are in the names of classes and clips: the same charts have the same bytes.
    return `${chart.renderToSVGString().replaceAll(/\bzr\d+-/g, 'zr-')}\n`;
  } finally {
    chart.dispose();
  }
};

/** A chart with panels of its own; the first of its titles is that of the whole. */
export const drawChart = (
  height: number,
  title: string,
  note: string,
  { title: others, ...option }: echarts.EChartsCoreOption & { readonly title: readonly object[] },
): string => {
  const whole = base(title, note);
  return draw(height, { ...whole, ...option, title: [whole['title'] as object, ...others] });
};

/** Horizontal bars, the first on top. */
const categories = (names: readonly string[]) => ({
  type: 'category',
  data: names,
  inverse: true,
  axisTick: { show: false },
  axisLabel: { width: 330, overflow: 'break', color: '#222' },
});

const labelled = (format: (value: number) => string) => ({
  show: true,
  position: 'right',
  color: '#222',
  formatter: ({ value }: { readonly value: number }) => format(value),
});

const colorOf = (name: string): string => {
  if (name.includes('sluice')) return colors.sluice;
  return /unlogged/i.test(name) ? colors.unlogged : colors.logged;
};

interface Bar {
  readonly name: string;
  readonly value: number;
}

const barChart = (title: string, note: string, bars: readonly Bar[], format: (value: number) => string) =>
  draw(110 + bars.length * 36, {
    ...base(title, note),
    grid: { left: 350, right: 90, top: 70, bottom: 16 },
    xAxis: { type: 'value', axisLabel: { show: false }, splitLine: { show: false } },
    yAxis: categories(bars.map(({ name }) => name)),
    series: [
      {
        type: 'bar',
        barMaxWidth: 22,
        data: bars.map(({ name, value }) => ({ value, itemStyle: { color: colorOf(name) } })),
        label: labelled(format),
      },
    ],
  });

const publishedChart = (results: readonly Result[]): string => {
  const ratios = results.flatMap(({ number, ratios: own }) =>
    own.filter(({ published }) => published !== undefined).map((one) => ({ ...one, number })),
  );
  const series = (name: string, color: string, values: readonly number[]) => ({
    name,
    type: 'bar',
    barMaxWidth: 14,
    itemStyle: { color },
    data: values,
    label: labelled(ratio),
  });
  return draw(120 + ratios.length * 46, {
    ...base(
      'Published against measured',
      'Each bar is one figure divided by another, as named; 1 is no difference',
    ),
    legend: { right: 16, top: 12 },
    grid: { left: 350, right: 60, top: 78, bottom: 16 },
    xAxis: { type: 'value', splitLine: { lineStyle: { color: '#eee' } } },
    yAxis: categories(ratios.map(({ number, name }) => `${number}. ${name}`)),
    series: [
      series(
        'published',
        colors.published,
        ratios.map(({ published }) => published!),
      ),
      series(
        'measured here',
        colors.unlogged,
        ratios.map(({ measured }) => measured),
      ),
    ],
  });
};

const rowsChart = (results: readonly Result[]): string =>
  barChart(
    'Rows a second by way of loading',
    'Experiment 1: the same files, whole programs',
    sidesOf(results, 1).map(({ name, rowsPerSecond = 0 }) => ({ name, value: rowsPerSecond })),
    count,
  );

const sidesOf = (results: readonly Result[], wanted: number): readonly Side[] =>
  results.find(({ number }) => number === wanted)?.sides ?? [];

const rowsOf = (results: readonly Result[], wanted: number): number =>
  results.find(({ number }) => number === wanted)?.rows ?? 1;

/** Bytes of log a row, so that experiments of different sizes are in one picture. */
const logChart = (results: readonly Result[]): string => {
  const bars = [1, 5, 7].flatMap((number) =>
    sidesOf(results, number)
      .filter(({ logBytes }) => logBytes !== undefined)
      .map(({ name, logBytes = 0 }) => ({
        name: `${number}. ${name}`,
        value: logBytes / rowsOf(results, number),
      })),
  );
  return barChart(
    'Log written, a row',
    'Experiments 1 (rows of 120 bytes), 5 (an update) and 7 (rows of 50 bytes)',
    bars,
    bytes,
  );
};

const transactionsChart = (results: readonly Result[]): string => {
  const sides = sidesOf(results, 3);
  const of = (kind: 'logged' | 'unlogged') => sides.filter(({ name }) => name.endsWith(`, ${kind}`));
  const bars = (name: string, color: string, data: readonly number[], isPublished: boolean) => ({
    name,
    type: 'bar',
    barMaxWidth: 46,
    data,
    itemStyle: { color: isPublished ? `${color}66` : color },
    label: { ...labelled(count), position: 'top' },
  });
  const published = (side: Side): number => Number.parseFloat(side.published ?? '0');
  const measured = (side: Side): number => Math.round(side.transactionsPerSecond ?? 0);
  const kinds = ['logged', 'unlogged'] as const;
  return draw(420, {
    ...base(
      'Transactions a second by clients',
      'Experiment 3: pgbench; pale as published in 2011, at scale 10',
    ),
    legend: { left: 12, top: 56 },
    grid: { left: 80, right: 40, top: 110, bottom: 50 },
    xAxis: { type: 'category', data: of('logged').map(({ name }) => name.split(',')[0]!) },
    yAxis: { type: 'value', splitLine: { lineStyle: { color: '#eee' } } },
    series: kinds.flatMap((kind) => [
      bars(`${kind}, published`, colors[kind], of(kind).map(published), true),
      bars(`${kind}, here`, colors[kind], of(kind).map(measured), false),
    ]),
  });
};

/** All charts by the names of their files. */
export const drawCharts = (results: readonly Result[]): Readonly<Record<string, string>> => ({
  'published.svg': publishedChart(results),
  'rows-a-second.svg': rowsChart(results),
  'log-written.svg': logChart(results),
  'transactions.svg': transactionsChart(results),
});
