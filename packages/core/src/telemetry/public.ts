export { observedStorage } from './observed-storage.js'
export type { Span, Telemetry } from './telemetry.js'
