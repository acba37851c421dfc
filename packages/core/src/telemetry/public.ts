export { observedStorage } from './observed-storage.js'
export type { Attributes, InstrumentOptions, Meter, Span, Telemetry, Tracer } from './telemetry.js'
