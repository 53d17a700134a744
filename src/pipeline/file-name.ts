// Tells pipeline files by their names, for workers, commands and the shell's completion.

export const isPipelineFile = (name: string): boolean => /(?<!\.d)\.[cm]?[jt]s$/.test(name);
