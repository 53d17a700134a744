// The id of a slot's job prevents enqueuing the slot twice.

import { describe, expect, it } from 'vitest';
import { jobOfSlot } from '../../../../src/worker/schedule/store.ts';

describe('the job of a slot', () => {
  it.each([
    { name: 'names its minute', slot: '2026-01-02T03:04:00Z', job: 'schedule-s-2026-01-02T0304Z' },
    { name: 'names its second, if any', slot: '2026-01-02T03:04:05Z', job: 'schedule-s-2026-01-02T030405Z' },
    { name: 'names midnight', slot: '2026-01-02T00:00:00Z', job: 'schedule-s-2026-01-02T0000Z' },
  ])('$name', ({ slot, job }) => expect(jobOfSlot('s', new Date(slot))).toBe(job));

  it('is another one for each second of a day', () => {
    const day = Date.parse('2026-01-02T00:00:00Z');
    const jobs = Array.from({ length: 86_400 }, (_, second) =>
      jobOfSlot('s', new Date(day + second * 1_000)),
    );
    expect(new Set(jobs).size).toBe(86_400);
  });
});
