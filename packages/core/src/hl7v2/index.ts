export { isHl7Message, parseHl7, type Hl7Message, type Hl7AckOptions } from './message.js'
export type { Hl7Component, Hl7Field, Hl7Repetition, Hl7Segment } from './segment.js'
export type { Hl7Separators } from './separators.js'
