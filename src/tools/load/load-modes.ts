// What a load does with the rows of the table.

export const loadModes = ['append', 'merge', 'replace'] as const;
export type LoadMode = (typeof loadModes)[number];
