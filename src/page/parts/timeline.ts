// A picture of a run over time: a row with its steps, and a row for each session that loaded.

import { formatSeconds } from '../../core/amounts.ts';
import { sessionsOf, type RunTimes, type Timeline, type Work } from '../../ledger/history/timeline.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { html, nothing, type Html } from './html.ts';
import { legend, picture, type Rect } from './svg.ts';
import { numbersOf, type Column } from './table.ts';

const width = 1000;
const laneHeight = 14;

const lanesMax = 24;

interface Step {
  readonly name: string;
  readonly from: Date;
  readonly to: Date;
}

const stepsOf = ({ startedAt, loadedAt, testedAt, publishedAt, endAt }: RunTimes): readonly Step[] => {
  const steps: Step[] = [];
  let from = startedAt;
  const add = (name: string, to: Date | null): void => {
    if (to === null || to < from) return;
    steps.push({ name, from, to });
    from = to;
  };
  add('load', loadedAt ?? endAt);
  if (loadedAt !== null)
    add(testedAt === null ? 'build' : 'build and test', testedAt ?? publishedAt ?? endAt);
  if (testedAt !== null) add('publish', publishedAt ?? endAt);
  add('tidy up', endAt);
  return steps.filter(({ from: begin, to }) => to > begin);
};

const secondsOf = ({ from, to }: Step): number => (to.getTime() - from.getTime()) / 1000;

interface Lane {
  readonly name: string;
  readonly colour: string;
  readonly work: readonly Work[];
}

const lanesOf = (timeline: Timeline): readonly Lane[] => {
  const { work } = timeline;
  const lost = work.filter(({ isLost }) => isLost);
  return [
    ...(lost.length > 0 ? [{ name: 'lost in a crash', colour: 'lost', work: lost }] : []),
    ...sessionsOf(timeline).map((session, index) => ({
      name: `worker ${index + 1}`,
      colour: `w${index % 8}`,
      work: work.filter((one) => one.session === session && !one.isLost),
    })),
  ].slice(0, lanesMax);
};

const laneHtml = (name: string, summary: string, rects: readonly Rect[]): Html =>
  html`<div class="lane">
    <span class="bar-name">${name}</span>${picture({ width, height: laneHeight, name: summary }, rects)}
  </div>`;

const rect = (colour: string, from: number, to: number, title: string): Rect => {
  const wide = Math.max(1.5, to - from);
  return { colour, x: from, y: 0, width: wide, height: laneHeight, title };
};

const stepWords = (step: Step): string => `${step.name} ${formatSeconds(secondsOf(step))}`;

const stepLane = (steps: readonly Step[], { startedAt, endAt }: RunTimes): Html => {
  const scale = width / (endAt.getTime() - startedAt.getTime());
  const at = (date: Date): number => (date.getTime() - startedAt.getTime()) * scale;
  const rects = steps.map((step, index) =>
    rect(`step${index % 4}`, at(step.from), at(step.to) - 1, stepWords(step)),
  );
  return laneHtml('steps', steps.map(stepWords).join(', '), rects);
};

const workLane = ({ name, colour, work }: Lane, { stretches, seconds }: Timeline): Html => {
  const step = width / stretches;
  const rects = work.map(({ place, chunks, records }) =>
    rect(
      colour,
      place * step,
      (place + 1) * step - 0.5,
      `${name}, after ${formatSeconds(place * seconds)}: ${plural(chunks, 'chunk')}, ${plural(records, 'record')}`,
    ),
  );
  const total = work.reduce((sum, { chunks }) => sum + chunks, 0);
  return laneHtml(name, `${name}: ${plural(total, 'chunk')}`, rects);
};

const stepColumns: readonly Column<Step>[] = [
  { title: 'Step', cell: ({ name }) => name },
  { title: 'Time', cell: (step) => formatSeconds(secondsOf(step)), isNumber: true },
];

const laneColumns: readonly Column<Lane>[] = [
  { title: 'Who', cell: ({ name }) => name },
  {
    title: 'Chunks',
    cell: ({ work }) => formatCount(work.reduce((sum, { chunks }) => sum + chunks, 0)),
    isNumber: true,
  },
  {
    title: 'Records',
    cell: ({ work }) => formatCount(work.reduce((sum, { records }) => sum + records, 0)),
    isNumber: true,
  },
];

export const timelineChart = (timeline: Timeline): Html => {
  const { times } = timeline;
  const steps = stepsOf(times);
  const lanes = lanesOf(timeline);
  return html`${legend(steps.map((step, index) => [`step${index % 4}`, stepWords(step)]))}
    ${times.crashes === 0 ? nothing : html`<p class="note">The server crashed ${times.crashes === 1 ? 'once' : `${times.crashes} times`}: data that was loaded before was loaded again.</p>`}
    <div class="lanes">${stepLane(steps, times)}${lanes.map((lane) => workLane(lane, timeline))}</div>
    ${numbersOf('step-numbers', stepColumns, steps, 'Steps')}
    ${numbersOf('lane-numbers', laneColumns, lanes, 'Who loaded')}`;
};
