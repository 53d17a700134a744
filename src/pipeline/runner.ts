// What a thread needs to run TypeScript: this package's own sources, before they are compiled.

/** Options for a `Worker` whose module this is: compiled ones need nothing, TypeScript is transpiled as it is imported. */
export const runnerOptions = ({ pathname }: URL): { execArgv?: string[] } =>
  pathname.endsWith('.ts') ? { execArgv: ['--import', import.meta.resolve('jiti/register')] } : {};
