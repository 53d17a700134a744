// The strategies by the declared `publish`: a new one is a file beside this and a line here.

import type { Extent, PublishMode } from '../../core/declaration/declaration.ts';
import { append } from './append.ts';
import type { Client } from '../../db/client.ts';
import type { Strategy } from './contract.ts';
import type { BuiltOver, Found } from '../table/built-over.ts';
import { history } from './history/history.ts';
import { inPlace } from './replace/in-place.ts';
import { lookAndRebuild, rebuild } from './merge/rebuild.ts';
import { merge } from './merge/merge.ts';
import type { DeclaredTable } from '../table/tables.ts';
import type { ProductionTable } from '../table/production.ts';
import { partitions } from './replace/partitions.ts';
import { swap } from './replace/swap.ts';

/** What a mode publishes with. The first that takes the existing table is chosen, and the last takes any. They share one `build`. */
export interface Mode {
  /** All rows of the table. */
  readonly whole: readonly Strategy[];
  /** The rows of some files, into the existing table; undefined: every run of the mode brings all rows. */
  readonly part?: readonly Strategy[];
  /** What some of them have to know about the rows: asked once, before any lock. */
  readonly look?: (client: Client, over: BuiltOver) => Promise<Found | undefined>;
}

export const modes: Readonly<Record<PublishMode, Mode>> = {
  replace: { whole: [partitions, swap, inPlace] },
  append: { whole: [partitions, swap, inPlace], part: [append] },
  merge: { whole: [partitions, swap, inPlace], part: [rebuild, merge], look: lookAndRebuild },
  history: { whole: [partitions, swap, inPlace], part: [history] },
  touched: { whole: [partitions, swap, inPlace], part: [partitions, inPlace] },
};

const strategiesOf = (mode: PublishMode, extent: Extent): readonly Strategy[] => modes[mode][extent]!;

export const chooseStrategy = (
  table: DeclaredTable,
  production: ProductionTable | undefined,
  found?: Found,
): Strategy =>
  strategiesOf(table.mode, table.extent).find((strategy) => strategy.takes(table, production, found))!;

/** Completes the rows of a table for any of them: production may change until one is chosen. */
export const buildFor = (mode: PublishMode, extent: Extent): Strategy['build'] =>
  strategiesOf(mode, extent)[0]!.build;

/** All of them, each once. */
export const strategies: readonly Strategy[] = [
  ...new Set(Object.values(modes).flatMap(({ whole, part = [] }) => [...whole, ...part])),
];

/** The one of this name; undefined for the name of a later version of ours. */
export const strategyNamed = (name: string): Strategy | undefined =>
  strategies.find((strategy) => strategy.name === name);
