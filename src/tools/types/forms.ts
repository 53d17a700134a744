// The forms in which `etl types` writes. The command imports only this file for its help.

export const typeForms = ['interfaces', 'kysely', 'drizzle'] as const;
export type TypeForm = (typeof typeForms)[number];
