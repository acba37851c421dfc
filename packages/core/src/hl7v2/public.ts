export { isHl7Message, parseHl7, type Hl7Message } from './message.js'
export type { Hl7Segment } from './segment.js'
