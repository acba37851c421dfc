export { observedStorage, type Span, type Telemetry } from './telemetry.js'
