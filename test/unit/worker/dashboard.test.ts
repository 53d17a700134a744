// The Grafana dashboard in docs/operations queries exactly the metrics and labels that a worker
// exposes.

import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../../src/core/run-event.ts';
import { EtlError } from '../../../src/core/errors/errors.ts';
import { createMetrics } from '../../../src/worker/metrics.ts';
import { createScheduleMetrics } from '../../../src/worker/schedule/metrics.ts';
import { showStanding } from '../../../src/worker/standing.ts';
import { readProjectFile } from '../project/source-files.ts';

const depth = { waiting: 1, delayed: 0, active: 0, failed: 0, isPaused: false, oldestAt: null };
const published = {
  type: 'finished',
  result: { outcome: 'published', tables: [{ bytes: 1, copied: 1, rejected: 0, filtered: 0 }] },
} as unknown as RunEvent;

/** Returns the labels of each metric, by name, after each event has happened once. */
const exposed = async (): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const over = new AbortController();
  const read = async () => ({ ...depth, queues: [{ queue: 'q', ...depth }] });
  const metrics = createMetrics(read, () => true, over.signal);
  const slots = async () => [{ schedule: 's', slotSeconds: 1, lateSeconds: 0 }];
  const none = () => undefined;
  showStanding(
    {
      broken: [{ file: 'f', error: new EtlError('ETL_INTERNAL') }],
      databaseProblem: none,
      queueProblem: none,
      isStopping: () => false,
      failing: () => [
        { pipeline: 'p', run: null, failedAt: new Date(), errorCode: 'ETL_INTERNAL', error: '' },
      ],
    },
    metrics.registry,
  );
  createScheduleMetrics(metrics.registry, slots, () => true, over.signal)('s', 'enqueued');
  metrics.runEnded('p', 'published');
  metrics.chunkLoaded('p', { read: 1, decode: 1, copy: 1, ledger: 1 });
  metrics.hear('p', { type: 'recovered', crashed: true, chunks: 1, records: 1 });
  metrics.hear('p', published);
  const labels = new Map<string, Set<string>>();
  for (const [, name, pairs] of (await metrics.registry.metrics()).matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
    const of = labels.get(name!) ?? new Set();
    for (const [, label] of pairs!.matchAll(/(\w+)="/g)) of.add(label!);
    labels.set(name!, of);
  }
  return labels;
};

const dashboard = JSON.parse(readProjectFile('docs/operations/grafana-dashboard.json')) as {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
};

/** All queries of the dashboard: of its panels and of its variables. */
const questions = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr }))),
  ...dashboard.templating.list.flatMap(({ name, definition }) =>
    definition === undefined ? [] : [{ title: `variable ${name}`, expr: definition }],
  ),
];

/**
 * Returns the metrics of a query with their labels: those in the metric's braces, and those
 * elsewhere in the query.
 */
const asked = (expr: string) => {
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/,\s*/));
  const listed = [...expr.matchAll(/label_values\(\w+, (\w+)\)/g)].map(([, label]) => label!);
  return [...expr.matchAll(/\b(sluice_\w+)(?:\{([^}]*)\})?/g)].map(([, metric, braces = '']) => ({
    metric: metric!,
    labels: [...grouped, ...listed, ...[...braces.matchAll(/(\w+)=/g)].map(([, label]) => label!)],
  }));
};

describe('the dashboard', () => {
  it.each(questions)('$title: $expr', async ({ expr }) => {
    const there = await exposed();
    const unknown = asked(expr).flatMap(({ metric, labels }) =>
      labels.filter((label) => !there.get(metric)?.has(label)).map((label) => `${metric}{${label}}`),
    );
    expect(asked(expr)).not.toEqual([]);
    expect(unknown).toEqual([]);
  });

  it('shows every metric', async () => {
    const shown = new Set(questions.flatMap(({ expr }) => asked(expr)).map(({ metric }) => metric));
    expect([...(await exposed()).keys()].filter((metric) => !shown.has(metric))).toEqual([]);
  });
});
