// Which files may be pipelines, by their names. Workers, the commands and the shell's completion ask.

/** Whether it is a TypeScript or JavaScript file, and not only a declaration of types. */
export const isPipelineFile = (name: string): boolean => /(?<!\.d)\.[cm]?[jt]s$/.test(name);
