import { decodeEscapes } from './escape.js'
import type { Hl7Separators } from './separators.js'

/** One component: its subcomponents are the leaves of a message. */
export interface Hl7Component {
  /** As written. */
  readonly text: string
  /** At least one; escapes decoded. */
  readonly subcomponents: readonly string[]
}

/** One repetition of a field. */
export interface Hl7Repetition {
  /** As written. */
  readonly text: string
  /** At least one. */
  readonly components: readonly Hl7Component[]
}

/** A field; one that the segment does not have is the empty field. */
export interface Hl7Field {
  /** As written. */
  readonly text: string
  /** At least one. */
  readonly repetitions: readonly Hl7Repetition[]
}

/** Reads a field; its parts are parsed when they are read. */
export function hl7Field(text: string, separators: Hl7Separators): Hl7Field {
  return {
    text,
    get repetitions() {
      return text.split(separators.repetition).map((part) => repetition(part, separators))
    },
  }
}

/** A field without structure and without escapes, as MSH-1 and MSH-2 are. */
export function plainField(text: string): Hl7Field {
  return { text, repetitions: [{ text, components: [{ text, subcomponents: [text] }] }] }
}

function repetition(text: string, separators: Hl7Separators): Hl7Repetition {
  return {
    text,
    get components() {
      return text.split(separators.component).map((part) => component(part, separators))
    },
  }
}

function component(text: string, separators: Hl7Separators): Hl7Component {
  return {
    text,
    get subcomponents() {
      return text.split(separators.subcomponent).map((part) => decodeEscapes(part, separators))
    },
  }
}
