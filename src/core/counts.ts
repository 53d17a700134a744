// Sums of record counts.

import type { Counts } from './model.ts';

export const noCounts: Counts = { records: 0, copied: 0, rejected: 0, filtered: 0 };

export const addCounts = (a: Counts, b: Counts): Counts => ({
  records: a.records + b.records,
  copied: a.copied + b.copied,
  rejected: a.rejected + b.rejected,
  filtered: a.filtered + b.filtered,
});

export const countsOfTable = (all: readonly (Counts & { readonly table: string })[], name: string): Counts =>
  all.filter(({ table }) => table === name).reduce<Counts>(addCounts, noCounts);
