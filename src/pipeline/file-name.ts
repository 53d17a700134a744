// Tells pipeline files by their names, for workers, commands and the shell's completion.

/** True for a TypeScript or JavaScript file, except declaration files (.d.ts). */
export const isPipelineFile = (name: string): boolean => /(?<!\.d)\.[cm]?[jt]s$/.test(name);
