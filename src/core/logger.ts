// The logger a host may hand in: four methods, as in pino and console. Silent by default.

export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const ignore = (): void => undefined;

/** A library says nothing unless it is asked to. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
