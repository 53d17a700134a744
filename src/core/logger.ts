// The logger that a host may pass in.

/** Four methods that pino's loggers have. Without a logger, the library logs nothing. */
export interface Logger {
  /** Receives details for finding a fault, which are many. */
  debug(fields: object, message: string): void;
  /** Receives what a run or worker does, such as its steps. */
  info(fields: object, message: string): void;
  /** Receives what an operator should know, although work goes on. */
  warn(fields: object, message: string): void;
  /** Receives failures of runs, jobs and connections. */
  error(fields: object, message: string): void;
}

const ignore = (): void => undefined;

export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
