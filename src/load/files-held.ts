// Files that turn out to be bad after a run was planned.

import { EtlError } from '../core/errors/errors.ts';
import type { SourceFile } from '../core/model.ts';
import { plural } from '../core/wording.ts';

type BadFile = Pick<SourceFile, 'table' | 'source' | 'location' | 'member' | 'reading' | 'fingerprint'>;

/** Thrown when all other files are loaded: the run plans again, without these files. */
export class FilesHeld extends Error {
  readonly errors: ReadonlyMap<BadFile, EtlError>;

  constructor(errors: ReadonlyMap<BadFile, EtlError>) {
    super(`${plural(errors.size, 'file')} held back`);
    this.errors = errors;
  }
}

/** True if this error holds back only its file, so that the run does not stop. */
export type HoldsBack = (file: BadFile, error: EtlError) => boolean;

/** Collects bad files, so that the others can be loaded to their end. */
export const collectBad = (files: readonly SourceFile[], holdsBack: HoldsBack) => {
  const bad = new Map<BadFile, EtlError>();
  const hold: HoldsBack = (file, error) => {
    const isHeld = holdsBack(file, error);
    if (isHeld) bad.set(file, error);
    return isHeld;
  };
  const judge = (): void => {
    if (bad.size > 0) throw new FilesHeld(bad);
  };
  return {
    hold,
    /** Errors: FilesHeld if files are bad. */
    judge,
    /** Throws what ended the loading: FilesHeld if the error is about a file that can be held back. */
    judgeError: (error: unknown): never => {
      const { table, file: name } = error instanceof EtlError ? error.details : {};
      const file = files.find((one) => one.table === table && one.name === name);
      if (file !== undefined && hold(file, error as EtlError)) judge();
      throw error;
    },
  };
};
