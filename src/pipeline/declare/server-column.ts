// Columns that the server fills, as a user writes them. Nothing is checked here.

/** Key of the raw declaration; registered, so that two copies of sluice understand each other. */
const serverColumnState: unique symbol = Symbol.for('sluice.server-column') as never;

/** As it was written: plain JavaScript may have put anything here. */
interface WrittenColumn {
  readonly kind: 'generated' | 'identity';
  readonly type?: unknown;
  readonly expression?: unknown;
  readonly when?: unknown;
}

/** A column that no file has a value for. */
export interface ServerColumn {
  readonly [serverColumnState]: WrittenColumn;
}

const made = (written: WrittenColumn): ServerColumn =>
  Object.freeze({ [serverColumnState]: Object.freeze(written) });

export const serverColumns = {
  /** A column that the server computes from others of its row, and stores: `column.generated('numeric(12,2)', 'price * pieces')`. */
  generated: (sqlType: string, expression: string): ServerColumn =>
    made({ kind: 'generated', type: sqlType, expression }),
  /** A bigint by which the server numbers the rows that come. by default: a statement may give another number. */
  identity: (when: 'always' | 'by default' = 'always'): ServerColumn => made({ kind: 'identity', when }),
};

/** What was declared, or undefined when the value is no such column. */
export const serverColumnOf = (value: unknown): WrittenColumn | undefined =>
  typeof value === 'object' && value !== null
    ? (value as Partial<ServerColumn>)[serverColumnState]
    : undefined;
