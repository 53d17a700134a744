// The error of something that must fail.

import { EtlError } from '../../src/index.ts';

/** Awaits what is to be refused, and returns the refusal; anything else fails the test. */
export const failureOf = async (attempt: Promise<unknown>): Promise<EtlError> => {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof EtlError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};

/** Calls what is to be refused, and returns the refusal; anything else fails the test. */
export const refusalOf = (action: () => unknown): EtlError => {
  try {
    action();
  } catch (error) {
    if (error instanceof EtlError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};
