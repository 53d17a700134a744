// Files that come, change and go night after night, by chance; and a plain reader of them for the models.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Chance } from './seeded.ts';

export interface Sale {
  /** Every row that was ever made has another. */
  readonly seq: number;
  /** The same come again and again, also within a file. */
  readonly id: number;
  readonly day: string;
  readonly pieces: number;
  /** When it was last changed, by a clock that late files are behind. */
  readonly at: number;
  readonly gone: boolean;
  /** Only in files written since the schema changed. */
  readonly note: string | null;
  /** Of a version: from when it is valid, and until when; null: it still is. As seconds, as `at` is. */
  readonly valid?: readonly [number, number | null];
}

/** Rows by file, in the order in which files are listed. */
export type Listed = ReadonlyMap<string, readonly Sale[]>;

export type FileEvent = 'late' | 'change' | 'vanish' | 'return' | 'rename' | 'empty' | 'twin';

/** Rows 1 to this of the first file stay, though they change, and no row of these ids is gone: others refer to them. */
export const anchors = 3;
const anchorFile = '2024-01-01.csv';
const idsMax = 25;
const twinName = 'twin.csv';
/** Between two nights: some nights reach another month. */
const daysMax = 8;

/** Day number 1 is 1 January 2024. */
const dayOf = (number: number): string =>
  new Date(Date.UTC(2024, 0, number)).toISOString().slice(0, '2024-01-01'.length);

/** `since` is `at` as a time. */
const headers = ['seq', 'id', 'day', 'pieces', 'at', 'gone', 'since'];

/** Reads a directory as somebody would who has never heard of the product. */
export const readFeed = (directory: string): Listed =>
  new Map(
    readdirSync(directory)
      .sort()
      .map((name) => {
        const [header = '', ...lines] = readFileSync(join(directory, name), 'utf8').trimEnd().split('\n');
        const names = header.split(',');
        return [
          name,
          lines.map((line): Sale => {
            const fields = Object.fromEntries(line.split(',').map((field, place) => [names[place]!, field]));
            return {
              seq: Number(fields['seq']),
              id: Number(fields['id']),
              day: fields['day']!,
              pieces: Number(fields['pieces']),
              at: Number(fields['at']),
              gone: fields['gone'] === 'y',
              note: fields['note'] ?? null,
            };
          }),
        ];
      }),
  );

export interface Feed {
  /** Files of the next night. `isWithNote`: written with the new column from now on. */
  readonly nextNight: (isWithNote: boolean) => void;
  /** Puts files back that the newest night has changed, with the times that they had; a file that came twice goes. */
  readonly undoChanges: () => void;
}

/** Begins with the anchors' file. */
export const startFeed = (directory: string, events: readonly FileEvent[], chance: Chance): Feed => {
  const { between, pick } = chance;
  mkdirSync(directory, { recursive: true });
  let [night, seq, hasNote] = [0, 0, false];
  /** Where files are kept that the newest night has changed. */
  const backup = `${directory}-before`;
  /** Where vanished files are: some come back. */
  const vanished = `${directory}-vanished`;
  for (const place of [backup, vanished]) mkdirSync(place, { recursive: true });

  const sale = (day: number): Sale => {
    seq += 1;
    const id = seq <= anchors ? seq : between(1, idsMax);
    return {
      seq,
      id,
      day: dayOf(day),
      pieces: between(1, 9),
      at: 1_000 * day + between(0, 999),
      gone: id > anchors && between(1, 6) === 1,
      note: hasNote ? pick(['new', 'used']) : null,
    };
  };
  const write = (name: string, sales: readonly Sale[]): void => {
    const isWithNote = hasNote || sales.some(({ note }) => note !== null);
    const lines = sales.map(({ note, gone, ...others }) => [
      ...Object.values(others),
      gone ? 'y' : 'n',
      new Date(1_000 * others.at).toISOString(),
      ...(isWithNote ? [note ?? 'none'] : []),
    ]);
    const all = [[...headers, ...(isWithNote ? ['note'] : [])], ...lines];
    writeFileSync(join(directory, name), all.map((fields) => `${fields.join(',')}\n`).join(''));
  };
  const some = (day: number): Sale[] => Array.from({ length: between(2, 6) }, () => sale(day));
  const twin = (): string => join(directory, `${dayOf(night)}-${twinName}`);
  /** Those that may go: not the anchors', nor one that has just changed, which may come back as it was. */
  const others = (): string[] =>
    readdirSync(directory).filter((name) => name !== anchorFile && !existsSync(join(backup, name)));

  /** A row of an anchor stays on its day. */
  const changed = (each: Sale): Sale => {
    const isMoved = each.seq > anchors && between(1, 4) === 1;
    const day = isMoved ? dayOf(night - between(0, 40)) : each.day;
    return { ...each, day, pieces: each.pieces + 1, at: each.at + 1 };
  };
  /** Some rows get other pieces, or another day; one leaves, one comes. */
  const change = (name: string): void => {
    const sales = readFeed(directory).get(name)!;
    renameSync(join(directory, name), join(backup, name));
    const dropped = between(0, sales.length);
    const kept = sales
      .filter((each, place) => place !== dropped || each.seq <= anchors)
      .map((each) => (between(0, 1) === 0 ? each : changed(each)));
    write(name, [...kept, sale(night)]);
  };
  const makers: Readonly<Record<FileEvent, () => void>> = {
    // Sorts before all others.
    late: () => write(`2023-12-${10 + night}.csv`, some(between(-20, 0))),
    change: () => change(pick(readdirSync(directory))),
    vanish: () => {
      const rest = others();
      if (rest.length < 2) return;
      const name = pick(rest);
      renameSync(join(directory, name), join(vanished, name));
    },
    return: () => {
      const [name] = readdirSync(vanished);
      if (name !== undefined) renameSync(join(vanished, name), join(directory, name));
    },
    rename: () => {
      const name = pick([...others(), anchorFile]);
      if (name !== anchorFile) renameSync(join(directory, name), join(directory, `moved-${night}-${name}`));
    },
    empty: () => write(`${dayOf(night)}-nothing.csv`, []),
    // Somebody sends a file twice.
    twin: () => {
      if (between(1, 3) === 1) copyFileSync(join(directory, pick(readdirSync(directory))), twin());
    },
  };
  return {
    nextNight: (isWithNote) => {
      hasNote = isWithNote;
      night += night === 0 ? 1 : between(1, daysMax);
      for (const name of readdirSync(backup)) rmSync(join(backup, name));
      if (night === 1) {
        write(anchorFile, [...Array.from({ length: anchors }, () => sale(1)), ...some(1)]);
        return;
      }
      // On some nights nothing comes.
      if (between(1, 6) === 1) return;
      write(`${dayOf(night)}.csv`, some(night));
      for (const event of events) if (between(1, 5) <= 2) makers[event]();
    },
    undoChanges: () => {
      rmSync(twin(), { force: true });
      for (const name of readdirSync(backup)) renameSync(join(backup, name), join(directory, name));
    },
  };
};
