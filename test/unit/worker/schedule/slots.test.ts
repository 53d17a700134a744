// Slots of schedules at fixed instants, across clock changes.

import { describe, expect, it } from 'vitest';
import { EtlError } from '../../../../src/core/errors/errors.ts';
import { readCalendar } from '../../../../src/worker/schedule/slots.ts';

/** Returns the slots between two instants, in the zone's time. */
const slotsBetween = (cron: string, timeZone: string, from: string, to: string): readonly string[] => {
  const calendar = readCalendar('s', cron, timeZone);
  const slots: string[] = [];
  for (let at = calendar.next(Date.parse(from)); at <= Date.parse(to); at = calendar.next(at))
    slots.push(calendar.show(at));
  return slots;
};

const cases: readonly {
  name: string;
  cron: string;
  zone: string;
  from: string;
  to: string;
  slots: readonly string[];
}[] = [
  {
    name: 'every day, where no clock is changed',
    cron: '0 2 * * *',
    zone: 'UTC',
    from: '2026-03-28T02:00:00Z',
    to: '2026-03-30T02:00:00Z',
    slots: ['2026-03-29T02:00:00+00:00', '2026-03-30T02:00:00+00:00'],
  },
  {
    name: 'a time that the clock jumps over is due at the jump, once',
    cron: '30 2 * * *',
    zone: 'Europe/Berlin',
    from: '2026-03-28T00:00:00Z',
    to: '2026-03-30T12:00:00Z',
    slots: ['2026-03-28T02:30:00+01:00', '2026-03-29T03:00:00+02:00', '2026-03-30T02:30:00+02:00'],
  },
  {
    name: 'asked after the jump, the day has had its slot',
    cron: '30 2 * * *',
    zone: 'Europe/Berlin',
    from: '2026-03-29T01:00:00Z',
    to: '2026-03-30T12:00:00Z',
    slots: ['2026-03-30T02:30:00+02:00'],
  },
  {
    name: 'several times within the jump are one slot',
    cron: '*/15 2,3 * * *',
    zone: 'Europe/Berlin',
    from: '2026-03-29T00:00:00Z',
    to: '2026-03-29T12:00:00Z',
    slots: ['00', '15', '30', '45'].map((minute) => `2026-03-29T03:${minute}:00+02:00`),
  },
  {
    name: 'a time that the clock shows twice is due the first time',
    cron: '30 2 * * *',
    zone: 'Europe/Berlin',
    from: '2026-10-24T12:00:00Z',
    to: '2026-10-26T12:00:00Z',
    slots: ['2026-10-25T02:30:00+02:00', '2026-10-26T02:30:00+01:00'],
  },
  {
    name: 'asked between the two, the day has had its slot',
    cron: '30 2 * * *',
    zone: 'Europe/Berlin',
    from: '2026-10-25T00:30:00Z',
    to: '2026-10-26T12:00:00Z',
    slots: ['2026-10-26T02:30:00+01:00'],
  },
  {
    name: 'asked when the clock has just been set back, too',
    cron: '0,30 1,2,3 * * *',
    zone: 'Europe/Berlin',
    from: '2026-10-25T01:00:00Z',
    to: '2026-10-25T12:00:00Z',
    slots: ['2026-10-25T03:00:00+01:00', '2026-10-25T03:30:00+01:00'],
  },
  {
    name: 'every hour is every hour that passes, in spring',
    cron: '15 * * * *',
    zone: 'Europe/Berlin',
    from: '2026-03-29T00:00:00Z',
    to: '2026-03-29T02:30:00Z',
    slots: ['2026-03-29T01:15:00+01:00', '2026-03-29T03:15:00+02:00', '2026-03-29T04:15:00+02:00'],
  },
  {
    name: 'every hour is every hour that passes, in autumn',
    cron: '15 * * * *',
    zone: 'Europe/Berlin',
    from: '2026-10-24T23:30:00Z',
    to: '2026-10-25T02:30:00Z',
    slots: ['2026-10-25T02:15:00+02:00', '2026-10-25T02:15:00+01:00', '2026-10-25T03:15:00+01:00'],
  },
  {
    name: 'a day that begins at one',
    cron: '0 0 * * *',
    zone: 'America/Santiago',
    from: '2026-09-05T12:00:00Z',
    to: '2026-09-07T12:00:00Z',
    slots: ['2026-09-06T01:00:00-03:00', '2026-09-07T00:00:00-03:00'],
  },
  {
    name: 'a jump of half an hour',
    cron: '15 2 * * *',
    zone: 'Australia/Lord_Howe',
    from: '2026-10-03T00:00:00Z',
    to: '2026-10-05T00:00:00Z',
    slots: ['2026-10-04T02:30:00+11:00', '2026-10-05T02:15:00+11:00'],
  },
  {
    name: 'a sixth field in front is the second',
    cron: '*/20 59 23 * * *',
    zone: 'Europe/Berlin',
    from: '2026-03-28T22:59:00Z',
    to: '2026-03-29T21:59:20Z',
    slots: ['28T23:59:20+01:00', '28T23:59:40+01:00', '29T23:59:00+02:00', '29T23:59:20+02:00'].map(
      (slot) => `2026-03-${slot}`,
    ),
  },
  {
    name: 'every so many seconds is so many seconds that pass, also where the clock is set back',
    cron: '*/30 * * * * *',
    zone: 'Europe/Berlin',
    from: '2026-10-25T00:59:29.500Z',
    to: '2026-10-25T01:00:30.500Z',
    slots: ['02:59:30+02:00', '02:00:00+01:00', '02:00:30+01:00'].map((slot) => `2026-10-25T${slot}`),
  },
  {
    name: 'a year ahead, over both changes of the clock',
    cron: '0 2 29 2 *',
    zone: 'America/New_York',
    from: '2026-11-21T00:00:00Z',
    to: '2028-12-01T00:00:00Z',
    slots: ['2028-02-29T02:00:00-05:00'],
  },
];

describe('slots', () => {
  it.each(cases)('$name', ({ cron, zone, from, to, slots }) =>
    expect(slotsBetween(cron, zone, from, to)).toEqual(slots),
  );

  it.each(['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'America/Santiago', 'Asia/Tokyo'])(
    'of every day are one a day through a year, wherever the search begins: %s',
    (zone) => {
      for (const cron of ['30 2 * * *', '0 0 * * *', '15 1 * * *']) {
        const slots = slotsBetween(cron, zone, '2026-01-01T12:00:00Z', '2027-01-01T12:00:00Z');
        expect(new Set(slots.map((slot) => slot.slice(0, 10))).size).toBe(365);
        expect(slots.length).toBe(365);
        const calendar = readCalendar('s', cron, zone);
        for (const slot of slots) expect(calendar.show(calendar.next(Date.parse(slot) - 1))).toBe(slot);
      }
    },
  );
});

describe('the newest slot', () => {
  const newest = (cron: string, first: string, now: string): string => {
    const calendar = readCalendar('s', cron, 'UTC');
    return calendar.show(calendar.newest(Date.parse(first), Date.parse(now))).slice(0, 19);
  };
  it.each([
    {
      name: 'is the first when no other came',
      cron: '0 2 * * *',
      now: '2026-01-01T02:00',
      slot: '2026-01-01T02:00',
    },
    { name: 'of a week', cron: '0 2 * * *', now: '2026-01-08T01:59', slot: '2026-01-07T02:00' },
    {
      name: 'of every minute of a year',
      cron: '* * * * *',
      now: '2027-01-01T01:59',
      slot: '2027-01-01T01:59',
    },
    { name: 'of a yearly one', cron: '0 2 1 1 *', now: '2031-12-31T00:00', slot: '2031-01-01T02:00' },
    {
      name: 'of every second of a year',
      cron: '* * * * * *',
      now: '2027-01-01T01:59',
      slot: '2027-01-01T01:59',
    },
  ])('$name', ({ cron, now, slot }) =>
    expect(newest(cron, '2026-01-01T02:00:00Z', `${now}:00Z`)).toBe(`${slot}:00`),
  );
});

describe('refused', () => {
  const problemOf = (cron: string, zone: string): string => {
    try {
      readCalendar('nightly', cron, zone);
    } catch (error) {
      if (error instanceof EtlError) return `${error.code} ${error.message}`;
    }
    return 'taken';
  };
  it.each([
    { name: 'four fields', cron: '0 2 * *', zone: 'UTC', says: "cron '0 2 * *': it must have five fields" },
    { name: 'seven fields', cron: '0 0 2 * * * *', zone: 'UTC', says: "cron '0 0 2 * * * *': it must" },
    { name: 'a second that no minute has', cron: '60 0 2 * * *', zone: 'UTC', says: "cron '60 0 2 * * *': " },
    { name: 'an hour that no day has', cron: '0 25 * * *', zone: 'UTC', says: "cron '0 25 * * *': " },
    { name: 'a day that no year has', cron: '0 0 30 2 *', zone: 'UTC', says: "cron '0 0 30 2 *': " },
    {
      name: 'a random time',
      cron: 'H 2 * * *',
      zone: 'UTC',
      says: "cron 'H 2 * * *': H, a random time",
    },
    {
      name: 'a zone that is none',
      cron: '0 2 * * *',
      zone: 'Europe/Berlni',
      says: 'time zone: Invalid time zone',
    },
  ])('$name', ({ cron, zone, says }) =>
    expect(problemOf(cron, zone)).toContain(`ETL_SCHEDULE_INVALID schedule nightly is not valid: ${says}`),
  );
});
