export { isHl7Message, parseHl7, type Hl7Message, type Hl7AckOptions } from './message.js'
export type { Hl7Component, Hl7Field, Hl7Repetition, Hl7Segment, Hl7Separators } from './segment.js'
