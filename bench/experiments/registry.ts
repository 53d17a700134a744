// All experiments, in order.

import { bankByClients } from './bank-by-clients.ts';
import { commitModes } from './commit-modes.ts';
import type { Experiment } from './contract.ts';
import { hourlyLoad } from './hourly-load.ts';
import { insertsAndCrash } from './inserts-and-crash.ts';
import { life } from './life.ts';
import { sameTransaction } from './same-transaction.ts';
import { updateLog } from './update-log.ts';

export const experiments: readonly Experiment[] = [
  hourlyLoad,
  insertsAndCrash,
  bankByClients,
  commitModes,
  updateLog,
  life,
  sameTransaction,
];
