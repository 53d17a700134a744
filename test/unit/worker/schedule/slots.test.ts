// Slots of schedules at fixed instants, across clock changes.

import { describe, expect, it } from 'vitest';
import { readCalendar } from '../../../../src/worker/schedule/slots.ts';
import { refusalOf } from '../../../helpers/failure.ts';

/** Returns the slots between two instants, in the zone's time. */
const slotsBetween = (cron: string, timeZone: string, from: string, to: string): readonly string[] => {
  const calendar = readCalendar('s', cron, timeZone);
  const slots: string[] = [];
  for (let at = calendar.next(Date.parse(from)); at <= Date.parse(to); at = calendar.next(at))
    slots.push(calendar.show(at));
  return slots;
};

const cases: [name: string, cronInZone: string, fromTo: string, slots: string[]][] = [
  [
    'every day, where no clock is changed',
    '0 2 * * * in UTC',
    '2026-03-28T02:00:00Z to 2026-03-30T02:00:00Z',
    ['2026-03-29T02:00:00+00:00', '2026-03-30T02:00:00+00:00'],
  ],
  [
    'a time that the clock jumps over is due at the jump, once',
    '30 2 * * * in Europe/Berlin',
    '2026-03-28T00:00:00Z to 2026-03-30T12:00:00Z',
    ['2026-03-28T02:30:00+01:00', '2026-03-29T03:00:00+02:00', '2026-03-30T02:30:00+02:00'],
  ],
  [
    'asked after the jump, the day has had its slot',
    '30 2 * * * in Europe/Berlin',
    '2026-03-29T01:00:00Z to 2026-03-30T12:00:00Z',
    ['2026-03-30T02:30:00+02:00'],
  ],
  [
    'several times within the jump are one slot',
    '*/15 2,3 * * * in Europe/Berlin',
    '2026-03-29T00:00:00Z to 2026-03-29T12:00:00Z',
    ['00', '15', '30', '45'].map((minute) => `2026-03-29T03:${minute}:00+02:00`),
  ],
  [
    'a time that the clock shows twice is due the first time',
    '30 2 * * * in Europe/Berlin',
    '2026-10-24T12:00:00Z to 2026-10-26T12:00:00Z',
    ['2026-10-25T02:30:00+02:00', '2026-10-26T02:30:00+01:00'],
  ],
  [
    'asked between the two, the day has had its slot',
    '30 2 * * * in Europe/Berlin',
    '2026-10-25T00:30:00Z to 2026-10-26T12:00:00Z',
    ['2026-10-26T02:30:00+01:00'],
  ],
  [
    'asked when the clock has just been set back, too',
    '0,30 1,2,3 * * * in Europe/Berlin',
    '2026-10-25T01:00:00Z to 2026-10-25T12:00:00Z',
    ['2026-10-25T03:00:00+01:00', '2026-10-25T03:30:00+01:00'],
  ],
  [
    'every hour is every hour that passes, in spring',
    '15 * * * * in Europe/Berlin',
    '2026-03-29T00:00:00Z to 2026-03-29T02:30:00Z',
    ['2026-03-29T01:15:00+01:00', '2026-03-29T03:15:00+02:00', '2026-03-29T04:15:00+02:00'],
  ],
  [
    'every hour is every hour that passes, in autumn',
    '15 * * * * in Europe/Berlin',
    '2026-10-24T23:30:00Z to 2026-10-25T02:30:00Z',
    ['2026-10-25T02:15:00+02:00', '2026-10-25T02:15:00+01:00', '2026-10-25T03:15:00+01:00'],
  ],
  [
    'a day that begins at one',
    '0 0 * * * in America/Santiago',
    '2026-09-05T12:00:00Z to 2026-09-07T12:00:00Z',
    ['2026-09-06T01:00:00-03:00', '2026-09-07T00:00:00-03:00'],
  ],
  [
    'a jump of half an hour',
    '15 2 * * * in Australia/Lord_Howe',
    '2026-10-03T00:00:00Z to 2026-10-05T00:00:00Z',
    ['2026-10-04T02:30:00+11:00', '2026-10-05T02:15:00+11:00'],
  ],
  [
    'a sixth field in front is the second',
    '*/20 59 23 * * * in Europe/Berlin',
    '2026-03-28T22:59:00Z to 2026-03-29T21:59:20Z',
    ['28T23:59:20+01:00', '28T23:59:40+01:00', '29T23:59:00+02:00', '29T23:59:20+02:00'].map(
      (slot) => `2026-03-${slot}`,
    ),
  ],
  [
    'every so many seconds is so many seconds that pass, also where the clock is set back',
    '*/30 * * * * * in Europe/Berlin',
    '2026-10-25T00:59:29.500Z to 2026-10-25T01:00:30.500Z',
    ['02:59:30+02:00', '02:00:00+01:00', '02:00:30+01:00'].map((slot) => `2026-10-25T${slot}`),
  ],
  [
    'a year ahead, over both changes of the clock',
    '0 2 29 2 * in America/New_York',
    '2026-11-21T00:00:00Z to 2028-12-01T00:00:00Z',
    ['2028-02-29T02:00:00-05:00'],
  ],
];

describe('slots', () => {
  it.each(cases)('%s', (_, cronInZone, fromTo, slots) => {
    const [cron, zone] = cronInZone.split(' in ') as [string, string];
    const [from, to] = fromTo.split(' to ') as [string, string];
    expect(slotsBetween(cron, zone, from, to)).toEqual(slots);
  });

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
    ['is the first when no other came', '0 2 * * *', '2026-01-01T02:00', '2026-01-01T02:00'],
    ['of a week', '0 2 * * *', '2026-01-08T01:59', '2026-01-07T02:00'],
    ['of every minute of a year', '* * * * *', '2027-01-01T01:59', '2027-01-01T01:59'],
    ['of a yearly one', '0 2 1 1 *', '2031-12-31T00:00', '2031-01-01T02:00'],
    ['of every second of a year', '* * * * * *', '2027-01-01T01:59', '2027-01-01T01:59'],
  ])('%s', (_, cron, now, slot) =>
    expect(newest(cron, '2026-01-01T02:00:00Z', `${now}:00Z`)).toBe(`${slot}:00`),
  );
});

it.each([
  ['four fields', '0 2 * *', 'UTC', "cron '0 2 * *': it must have five fields"],
  ['seven fields', '0 0 2 * * * *', 'UTC', "cron '0 0 2 * * * *': it must"],
  ['a second that no minute has', '60 0 2 * * *', 'UTC', "cron '60 0 2 * * *': "],
  ['an hour that no day has', '0 25 * * *', 'UTC', "cron '0 25 * * *': "],
  ['a day that no year has', '0 0 30 2 *', 'UTC', "cron '0 0 30 2 *': "],
  ['a random time', 'H 2 * * *', 'UTC', "cron 'H 2 * * *': H, a random time"],
  ['a zone that is none', '0 2 * * *', 'Europe/Berlni', 'time zone: Invalid time zone'],
])('refused %s', (_, cron, zone, says) => {
  const { code, message } = refusalOf(() => readCalendar('nightly', cron, zone));
  expect(code).toBe('ETL_SCHEDULE_INVALID');
  expect(message).toContain(`schedule nightly is not valid: ${says}`);
});
