// All commands, in the order of the help.

import type { CliCommand } from '../command.ts';
import { completionCommand } from './completion.ts';
import { dbCommand } from './db.ts';
import { doctorCommand } from './doctor.ts';
import { enqueueCommand } from './enqueue.ts';
import { filesCommand, reloadCommand, unloadCommand } from './files.ts';
import { initCommand } from './init.ts';
import { loadCommand } from './load.ts';
import { planCommand } from './plan.ts';
import { notificationsCommand } from './notifications.ts';
import { previewCommand } from './preview.ts';
import { pruneCommand } from './prune.ts';
import { cancelCommand, queueCommand, retryCommand } from './queue.ts';
import { rejectsCommand } from './rejects.ts';
import { rollbackCommand } from './rollback.ts';
import { runCommand } from './run.ts';
import { runsCommand, showCommand, statusCommand } from './runs.ts';
import { scheduleCommand } from './schedule.ts';
import { testCommand } from './test.ts';
import { typesCommand } from './write-types.ts';
import { uiCommand } from './ui.ts';
import { verifyCommand } from './verify.ts';
import { workerCommand } from './worker.ts';

export const commands: readonly CliCommand[] = [
  loadCommand,
  initCommand,
  previewCommand,
  planCommand,
  runCommand,
  statusCommand,
  runsCommand,
  showCommand,
  uiCommand,
  testCommand,
  verifyCommand,
  typesCommand,
  filesCommand,
  reloadCommand,
  unloadCommand,
  rollbackCommand,
  rejectsCommand,
  workerCommand,
  enqueueCommand,
  scheduleCommand,
  queueCommand,
  cancelCommand,
  retryCommand,
  notificationsCommand,
  pruneCommand,
  doctorCommand,
  dbCommand,
  completionCommand,
];
