// What --json prints, by command, from which docs/reference/json.schema.json is made.

import type { DataTestResult } from '../core/data-test.ts';
import type { FileState } from '../core/file-state.ts';
import type { RunFailure } from '../core/model.ts';
import type { RunEvent } from '../core/run-event.ts';
import type { RunDetails } from '../ledger/history/history.ts';
import type { ListedHeld } from '../ledger/production/held-files.ts';
import type { KeptVersion, PruneResult } from '../ledger/production/upkeep.ts';
import type { RejectedRun, RejectRow } from '../ledger/rejects/list-rejects.ts';
import type { FaultKind } from '../ledger/rejects/store.ts';
import type { AddedRun, RunQueueState } from '../queue/run-queue-state.ts';
import type { Delivery } from '../report/notify/outbox.ts';
import type { RunPlan } from '../run/plan/contract.ts';
import type { Finding } from '../tools/doctor.ts';
import type { PreviewFile } from '../tools/preview.ts';
import type { ReadCorrections, Withdrawn } from '../tools/read-corrections.ts';
import type { RollbackResult } from '../tools/rollback.ts';
import type { VerifyReport } from '../tools/verify/report.ts';
import type { Schedule, ScheduleSlot } from '../worker/schedule/contract.ts';
import type { ShownReject } from './commands/show-rejects.ts';
import type { RunShown } from './text/status-text.ts';

/** An event of a run, as one line. */
type EventLine = RunEvent & {
  /** When it was printed, ISO 8601, UTC. */
  readonly time: string;
  /** Number of the run; missing before `started`. */
  readonly run?: number;
};

/** The last line of a command that fails. */
interface ErrorLine {
  readonly type: 'error';
  /** When it was printed, ISO 8601, UTC. */
  readonly time: string;
  readonly run?: number;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** What the placeholders of the message stand for. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Only with --debug. */
  readonly debug?: readonly string[];
}

interface ListedTimes {
  readonly id: null;
  readonly startedAt: Date;
  readonly finishedAt: Date;
}

/** A run that failed before it had a number. */
type FailedEarly = ListedTimes & { readonly state: 'failed' } & Omit<RunFailure, 'failedAt'>;

/** A file that a run has held back. */
type HeldBack = ListedTimes & {
  readonly state: 'held back';
  readonly errorCode: string;
  readonly error: string;
} & Omit<ListedHeld, 'heldAt' | 'code' | 'problem'>;

type Runs = readonly (RunShown | FailedEarly | HeldBack)[];
type OneRun = Omit<RunDetails, 'run'> & { readonly run: RunShown };

/** Without a run that has rejects, only the total, which is 0, and empty lists are printed. */
type MaybeRun = Partial<RejectedRun> & { readonly total: number };

/** One document, or one line, of each command. */
export interface JsonOutput {
  readonly error: ErrorLine;
  readonly run: EventLine;
  readonly load: EventLine | RunPlan;
  readonly reload: EventLine;
  readonly unload: EventLine;
  readonly preview: PreviewFile;
  readonly plan: RunPlan;
  readonly status: Runs | OneRun;
  readonly runs: Runs;
  readonly show: OneRun;
  readonly test: { readonly type: 'test' } & DataTestResult;
  readonly verify: VerifyReport;
  readonly files: readonly FileState[];
  readonly rollback: RollbackResult | readonly KeptVersion[];
  readonly 'rejects list': MaybeRun & {
    readonly kinds: readonly FaultKind[];
    readonly kindsTotal: number;
    readonly rejects: readonly RejectRow[];
  };
  readonly 'rejects show': MaybeRun & { readonly rejects: readonly ShownReject[] };
  readonly 'rejects export':
    | { readonly total: 0; readonly records: 0 }
    | {
        readonly runId: number;
        readonly table: string;
        readonly output?: string;
        readonly records: number;
        readonly corrected: number;
        /** Records that were written as text, because their fields are unknown. */
        readonly raw: number;
        /** Records of which only the beginning is known. */
        readonly cut: number;
      };
  readonly 'rejects replay': ReadCorrections;
  readonly 'rejects withdraw': Withdrawn;
  readonly enqueue: AddedRun & { readonly pipeline: string };
  readonly 'schedule set': Schedule;
  readonly 'schedule list': readonly Schedule[];
  readonly 'schedule history': readonly ScheduleSlot[];
  readonly 'schedule pause': { readonly schedule: string; readonly paused: true };
  readonly 'schedule resume': { readonly schedule: string; readonly resumed: true };
  readonly 'schedule remove': { readonly schedule: string; readonly removed: true };
  readonly 'schedule run-now': AddedRun & { readonly schedule: string };
  readonly queue: RunQueueState;
  readonly cancel: { readonly run: number; readonly state: 'cancelled' };
  readonly retry: AddedRun & { readonly run: number };
  readonly 'notifications list': readonly Delivery[];
  readonly 'notifications send': {
    readonly delivered: number;
    readonly pending: number;
    readonly givenUp: number;
    /** Variables of receivers that are not set. */
    readonly missing: readonly string[];
  };
  readonly prune: PruneResult;
  readonly doctor: { readonly type: 'finding' } & Finding;
  readonly 'db status': {
    readonly running: boolean;
    readonly pid?: number;
    readonly address?: string;
    readonly directory?: string;
    readonly logFile?: string;
  };
}
