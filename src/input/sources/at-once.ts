// Works on several files at a time, because most of the time is spent waiting.

import pMap from 'p-map';

export const filesAtOnceMax = 16;

/** Gives works of several callers their turns: at most `atOnce` of them at a time. */
export const createTurns = (atOnce = filesAtOnceMax) => {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((begin) => void waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
};

/** Undefined: the file was not begun, because another file failed. */
type Outcome<Result> = { readonly result: Result } | { readonly error: unknown } | undefined;

/** Calls `work` for several files, or tables, at once. Throws the first error in the order of the files. */
export const withFilesAtOnce = async <File, Result>(
  files: Iterable<File> | AsyncIterable<File>,
  work: (file: File, index: number) => Promise<Result>,
  atOnce = filesAtOnceMax,
): Promise<Result[]> => {
  let hasFailed = false;
  const attempt = async (file: File, index: number): Promise<Outcome<Result>> => {
    if (hasFailed) return undefined;
    try {
      return { result: await work(file, index) };
    } catch (error) {
      hasFailed = true;
      return { error };
    }
  };
  let listingFailed: { readonly error: unknown } | undefined;
  async function* listed(): AsyncGenerator<File, void> {
    try {
      for await (const file of files) {
        if (hasFailed) return;
        yield file;
      }
    } catch (error) {
      listingFailed = { error };
    }
  }
  const outcomes = await pMap(listed(), attempt, { concurrency: atOnce });
  const results = outcomes.flatMap((outcome) => {
    if (outcome === undefined) return [];
    if ('error' in outcome) throw outcome.error;
    return [outcome.result];
  });
  if (listingFailed !== undefined) throw listingFailed.error;
  return results;
};
