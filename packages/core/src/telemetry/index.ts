export {
  observedStorage,
  withinSpan,
  type Attributes,
  type InstrumentOptions,
  type Meter,
  type Span,
  type Telemetry,
  type Tracer,
} from './telemetry.js'
