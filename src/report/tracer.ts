// The tracer that a host may pass in. Hosts without OpenTelemetry can still compile this type.

/** An OpenTelemetry `Tracer`. A program that passes one needs the package `@opentelemetry/api`. */
export interface Tracer {
  // A method: its parameters are checked loosely, so that OpenTelemetry's Tracer fits.
  startSpan(name: string, options?: object, context?: object): object;
}
