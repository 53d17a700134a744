// A worker's Prometheus metrics of schedules: outcomes of slots, the next slot, and the delay.

import type { Gauge, Registry } from 'prom-client';
import { createAsker, loadPromClient } from '../scrape.ts';
import type { SlotOutcome } from './contract.ts';
import type { ComingSlot } from './store.ts';

/**
 * Calls `readSlots` at every scrape until `over` is aborted. Returns a function that counts a
 * handled slot.
 */
export const createScheduleMetrics = (
  registry: Registry,
  readSlots: () => Promise<readonly ComingSlot[]>,
  isWell: () => boolean,
  over: AbortSignal,
): ((schedule: string, outcome: SlotOutcome) => void) => {
  const prometheus = loadPromClient();
  const registers = [registry];
  const slots = new prometheus.Counter({
    name: 'sluice_schedule_slots_total',
    help: 'Slots that this worker handled',
    labelNames: ['schedule', 'outcome'] as const,
    registers,
  });
  const ask = createAsker(readSlots, over, isWell);
  const gauge = (name: string, help: string, valueOf: (slot: ComingSlot) => number): void => {
    const made: Gauge<'schedule'> = new prometheus.Gauge({
      name,
      help,
      labelNames: ['schedule'] as const,
      registers,
      collect: async () => {
        // Removes the values of removed and paused schedules.
        made.reset();
        for (const slot of (await ask()) ?? []) made.set({ schedule: slot.schedule }, valueOf(slot));
      },
    });
  };
  gauge(
    'sluice_schedule_next_slot_timestamp_seconds',
    'First slot that no worker has handled, in seconds since 1970',
    ({ slotSeconds }) => slotSeconds,
  );
  gauge('sluice_schedule_late_seconds', 'How long that slot has been due', ({ lateSeconds }) => lateSeconds);
  return (schedule, outcome) => slots.inc({ schedule, outcome });
};
