// What each mode does. A new mode is a line here, and one in meanings.ts.

import type { PublishMode } from '../../core/declaration/declaration.ts';
import type { Mode, Strategy, Ways } from './contract.ts';
import { append } from './append/mode.ts';
import { history } from './history/mode.ts';
import { merge } from './merge/mode.ts';
import { allRows, replace, touched } from './replace/mode.ts';
import type { Found } from '../table/built-over.ts';
import type { ProductionTable } from '../table/production.ts';
import type { DeclaredTable } from '../table/tables.ts';

const modes: Readonly<Record<PublishMode, Mode>> = { replace, touched, append, merge, history };

/** What the mode of a table does. */
export const modeOf = ({ mode }: Pick<DeclaredTable, 'mode'>): Mode => modes[mode.name];

/** How the rows that a run brings to a table are published. */
export const waysOf = (table: Pick<DeclaredTable, 'mode' | 'extent'>): Ways =>
  table.extent === 'whole' ? allRows : modeOf(table).part!;

export const chooseStrategy = (
  table: DeclaredTable,
  production: ProductionTable | undefined,
  found?: Found,
): Strategy => waysOf(table).strategies.find((strategy) => strategy.takes(table, production, found))!;

/** All ways, each once. */
export const ways: readonly Ways[] = [allRows, ...Object.values(modes).flatMap(({ part }) => part ?? [])];

/** All strategies, each once. */
export const strategies: readonly Strategy[] = [...new Set(ways.flatMap((one) => one.strategies))];

/** The one of this name; undefined for the name of a later version of ours. */
export const strategyNamed = (name: string): Strategy | undefined =>
  strategies.find((strategy) => strategy.name === name);
