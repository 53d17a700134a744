// What tests ask of finished spans, wherever they were collected.

/** A span as tests look at it. */
export interface FlatSpan {
  readonly name: string;
  readonly trace: string;
  readonly id: string;
  readonly parent: string | undefined;
  /** Of the process or tracer that made it. */
  readonly from: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Code of an error, when it failed. */
  readonly failed: string | undefined;
}

/** Names from the root down to each span, without repetitions: chunks are many. */
export const paths = (spans: readonly FlatSpan[]): readonly string[] => {
  const byId = new Map(spans.map((span) => [span.id, span]));
  const pathOf = ({ name, parent }: FlatSpan): string => {
    const above = parent === undefined ? undefined : byId.get(parent);
    if (parent !== undefined && above === undefined) return `? > ${name}`;
    return above === undefined ? name : `${pathOf(above)} > ${name}`;
  };
  return [...new Set(spans.map(pathOf))].toSorted();
};

/** Sum of a number over the spans of a name. */
export const sumOf = (spans: readonly FlatSpan[], name: string, attribute: string): number =>
  spans
    .filter((span) => span.name === name)
    .reduce((sum, { attributes }) => sum + Number(attributes[attribute]), 0);
