// column.generated and column.identity: columns that the server fills. definePipeline checks them.

/** Key of the declaration. Symbol.for, so that two copies of sluice share the key. */
const serverColumnState: unique symbol = Symbol.for('sluice.server-column') as never;

/** The declaration, unchecked: a pipeline in JavaScript can pass values of any type. */
interface WrittenColumn {
  readonly kind: 'generated' | 'identity';
  readonly type?: unknown;
  readonly expression?: unknown;
  readonly when?: unknown;
}

/** A column that the server fills. */
export interface ServerColumn {
  readonly [serverColumnState]: WrittenColumn;
}

const made = (written: WrittenColumn): ServerColumn =>
  Object.freeze({ [serverColumnState]: Object.freeze(written) });

/** Builders of columns that the server fills. */
export interface ServerColumns {
  /**
   * A stored generated column, which the server computes from other columns of the row:
   * `column.generated('numeric(12,2)', 'price * pieces')`.
   */
  readonly generated: (sqlType: string, expression: string) => ServerColumn;
  /**
   * A bigint identity column, with which the server numbers new rows. With 'by default', an insert
   * statement may provide its own number.
   */
  readonly identity: (when?: 'always' | 'by default') => ServerColumn;
}

export const serverColumns: ServerColumns = {
  generated: (sqlType, expression) => made({ kind: 'generated', type: sqlType, expression }),
  identity: (when = 'always') => made({ kind: 'identity', when }),
};

/** Returns the declaration of a server-filled column, or undefined for any other value. */
export const serverColumnOf = (value: unknown): WrittenColumn | undefined =>
  typeof value === 'object' && value !== null
    ? (value as Partial<ServerColumn>)[serverColumnState]
    : undefined;
