// Actions of the page's visitors. They call the same functions as the command line.

import { EtlError } from '../core/errors/errors.ts';
import { runInShort, type ActionName } from '../ledger/history/actions.ts';
import { isWorkerRunning } from '../ledger/history/processes.ts';
import type { Client } from '../db/client.ts';
import { withBookkeeping } from '../worker/site.ts';
import { findPipeline, pipelinesOf } from '../worker/catalog.ts';
import { cancel, enqueue, retry } from '../worker/enqueue.ts';
import type { SiteOptions } from '../worker/options.ts';
import { dueText } from '../core/due-text.ts';
import { listSchedules, unknownSchedule } from '../worker/schedule/list.ts';
import { schedule } from '../worker/schedule/schedule.ts';
import type { ViewContext } from './parts/view.ts';

export interface Place {
  readonly site: SiteOptions;
  readonly folder: string | undefined;
}

interface Action {
  readonly name: ActionName;
  readonly kind: keyof typeof pathPart;
  readonly title: (subject: string) => string;
  readonly says: string;
  readonly button: string;
  readonly act: (subject: string, place: Place) => Promise<string>;
}

/** Texts, or nothing if a worker is running, or may be. */
const sayNoWorker = async (client: Client): Promise<readonly string[]> =>
  (await isWorkerRunning(client)) === false
    ? ['No worker is running: runs wait on the queue until `etl worker` is started.']
    : [];

const enqueued = async (
  { job, isNew }: { job: string; isNew: boolean },
  { site }: Place,
): Promise<string> => {
  const text = isNew
    ? `Enqueued as ${job}`
    : `Nothing was enqueued: a run is already waiting or active, ${job}`;
  return [text, ...(await withBookkeeping(site, sayNoWorker))].join('. ');
};

const folderOf = ({ folder }: Place, pipeline: string): string => {
  if (folder !== undefined) return folder;
  throw new EtlError('ETL_PIPELINE_UNKNOWN', {
    pipeline,
    folder: 'this page: it was started without a folder of pipelines',
    suggestion: '',
  });
};

const actions: readonly Action[] = [
  {
    name: 'cancel',
    kind: 'run',
    title: (run) => `Cancel run ${run}`,
    says: 'Its processes stop at the next chunk or step, on any machine, and nothing is published. Loaded data is kept for a retry.',
    button: 'Cancel the run',
    act: async (run, { site }) => {
      await cancel(Number(run), site);
      return 'Cancelled; its processes stop at the next chunk or step';
    },
  },
  {
    name: 'retry',
    kind: 'run',
    title: (run) => `Retry run ${run}`,
    says: 'The run is enqueued again. A worker continues it where it stopped, if it is still the newest run of its pipeline.',
    button: 'Retry the run',
    act: async (run, place) => enqueued(await retry(Number(run), place.site), place),
  },
  {
    name: 'run',
    kind: 'schedule',
    title: (name) => `Run schedule ${name} now`,
    says: 'Enqueues a run with the parameters of the schedule, unless one of its runs is waiting or active. The times of the schedule do not change.',
    button: 'Run it now',
    act: async (name, place) => enqueued(await schedule.runNow(name, place.site), place),
  },
  {
    name: 'pause',
    kind: 'schedule',
    title: (name) => `Pause schedule ${name}`,
    says: 'Its slots are skipped until it is resumed. A run that is waiting or active is not affected.',
    button: 'Pause it',
    act: async (name, { site }) => {
      await schedule.pause(name, site);
      return 'Paused';
    },
  },
  {
    name: 'resume',
    kind: 'schedule',
    title: (name) => `Resume schedule ${name}`,
    says: 'Its next slot is run again. Slots that were skipped during the pause are not caught up.',
    button: 'Resume it',
    act: async (name, { site }) => {
      await schedule.resume(name, site);
      return 'Resumed with its next slot';
    },
  },
  {
    name: 'run',
    kind: 'pipeline',
    title: (name) => `Run pipeline ${name} now`,
    says: 'Enqueues a run with the default parameters, unless a run that was enqueued by this page is waiting or active.',
    button: 'Run it now',
    act: async (name, place) => {
      const { pipeline, directory } = await findPipeline(folderOf(place, name), name);
      // Two visitors who press the button at the same time get one run.
      const wanted = { ...place.site, directory, dedupe: `page-${pipeline.name}` };
      return enqueued(await enqueue(pipeline, wanted), place);
    },
  },
];

/** First part of an action's path, which is for example /runs/12/cancel. */
export const pathPart = { run: 'runs', schedule: 'schedules', pipeline: 'pipelines' } as const;

export interface Found {
  readonly action: Action;
  readonly subject: string;
}

export const findAction = (path: string): Found | undefined => {
  const [, part, subject = '', name] = /^\/(\w+)\/([\w-]{1,80})\/(\w+)$/.exec(path) ?? [];
  const action = actions.find((each) => pathPart[each.kind] === part && each.name === name);
  if (action === undefined || (action.kind === 'run' && !/^\d{1,15}$/.test(subject))) return undefined;
  return { action, subject };
};

const aboutRun = async (run: number, { client }: ViewContext): Promise<string> => {
  const found = await runInShort(client, run);
  if (found === undefined) throw new EtlError('ETL_RUN_UNKNOWN', { run });
  return `Run ${run} of ${found.pipeline} is ${found.state}.`;
};

const aboutSchedule = async (name: string, { client }: ViewContext): Promise<string> => {
  const found = (await listSchedules(client)).find((each) => each.name === name);
  if (found === undefined) throw await unknownSchedule(client, name);
  return `${name} runs ${found.pipeline} ${dueText(found)}${found.paused ? ', and is paused' : ''}.`;
};

const aboutKind = async (
  { action: { kind }, subject }: Found,
  view: ViewContext,
  place: Place,
): Promise<string> => {
  if (kind === 'run') return aboutRun(Number(subject), view);
  if (kind === 'schedule') return aboutSchedule(subject, view);
  const folder = folderOf(place, subject);
  if ((await pipelinesOf(folder)).includes(subject)) return `${subject} is in ${folder}.`;
  throw new EtlError('ETL_PIPELINE_UNKNOWN', { pipeline: subject, folder, suggestion: '' });
};

/** Errors: ETL_RUN_UNKNOWN, ETL_SCHEDULE_UNKNOWN, ETL_PIPELINE_UNKNOWN. */
export const aboutSubject = async (
  found: Found,
  view: ViewContext,
  place: Place,
): Promise<readonly string[]> => {
  const about = await aboutKind(found, view, place);
  const { name, says } = found.action;
  const isEnqueued = name === 'run' || name === 'retry';
  return [`${about} ${says}`, ...(isEnqueued ? await sayNoWorker(view.client) : [])];
};
