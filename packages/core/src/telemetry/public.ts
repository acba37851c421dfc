export { observedStorage } from './observed-storage.js'
export type { Attributes, Meter, Span, Telemetry, Tracer } from './telemetry.js'
