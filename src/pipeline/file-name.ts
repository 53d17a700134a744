// Which files may be pipelines, by their names: what a worker serves, what a name is looked for in, and what a shell completes.

/** A TypeScript or JavaScript file that is no declaration of types. */
export const isPipelineFile = (name: string): boolean => /(?<!\.d)\.[cm]?[jt]s$/.test(name);
