// The implementation of each mode. A new mode is a line here, and a line in meanings.ts.

import type { PublishMode } from '../../core/declaration.ts';
import type { Mode, Strategy, Ways } from './contract.ts';
import { append } from './append/mode.ts';
import { history } from './history/mode.ts';
import { merge } from './merge/mode.ts';
import { allRows, replace, touched } from './replace/mode.ts';
import type { Found } from '../table/built-over.ts';
import type { ProductionTable } from '../table/production.ts';
import type { DeclaredTable } from '../table/tables.ts';

const modes: Readonly<Record<PublishMode, Mode>> = { replace, touched, append, merge, history };

export const modeOf = ({ mode }: Pick<DeclaredTable, 'mode'>): Mode => modes[mode.name];

export const waysOf = (table: Pick<DeclaredTable, 'mode' | 'extent'>): Ways =>
  table.extent === 'whole' ? allRows : modeOf(table).part!;

export const chooseStrategy = (
  table: DeclaredTable,
  production: ProductionTable | undefined,
  found?: Found,
): Strategy => waysOf(table).strategies.find((strategy) => strategy.takes(table, production, found))!;

export const ways: readonly Ways[] = [allRows, ...Object.values(modes).flatMap(({ part }) => part ?? [])];

export const strategies: readonly Strategy[] = [...new Set(ways.flatMap((one) => one.strategies))];

/** Returns undefined if only a later version of sluice knows the strategy. */
export const strategyNamed = (name: string): Strategy | undefined =>
  strategies.find((strategy) => strategy.name === name);
