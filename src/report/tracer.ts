// The tracer that a host may hand in. Types alone: a host's compiler needs nothing of OpenTelemetry here.

/**
 * The part of OpenTelemetry's `Tracer` that we use. A program with a tracer has the package `@opentelemetry/api`, which is loaded when a
 * tracer is given.
 */
export interface Tracer {
  // A method, so that the narrower parameters of the real one fit.
  startSpan(name: string, options?: object, context?: object): object;
}
