// Works on several files at a time, because most of the time is spent waiting.

import pMap from 'p-map';

export const filesAtOnceMax = 16;

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
