// The tracer that a host may pass in. Hosts without OpenTelemetry can still compile this type.

/** An OpenTelemetry `Tracer`. A program that passes one needs the package `@opentelemetry/api`. */
export interface Tracer {
  // Declared as a method: TypeScript checks parameters loosely, so OpenTelemetry's Tracer fits.
  /** Starts a span, as OpenTelemetry's method of this name does. */
  startSpan(name: string, options?: object, context?: object): object;
}
