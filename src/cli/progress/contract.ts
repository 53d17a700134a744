// What every display of a running run can do.

import type { RunEvent } from '../../core/model.ts';

export interface ProgressDisplay {
  event(event: RunEvent): void;
  /** A message that is not part of the progress: a notice, a log line. */
  note(text: string): void;
  /** Ends the display and restores the terminal; it may be called twice. */
  close(): void;
}
