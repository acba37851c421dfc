import type { TypeModel } from 'fhir-ops/fhirpath'
import type { MemberKind } from 'fhir-ops/internal/input'
import { isObject } from 'fhir-ops/internal/json'
import type { LibraryTerminology, NodeTrace, RetrieveRequest } from '../compile/compiler.js'
import type { ElmNode } from '../elm/node.js'
import type { UnitConversion } from '../values/units.js'
import type { Value } from '../values/value.js'

/**
 * A function that a library declares as `external`. It is called with the values of its operands, null for what is unknown, which it must not change, and gives
 * the same for the same operands. It gives its result at once: evaluations do not wait.
 */
export type ExternalFunction = (...operands: readonly Value[]) => Value

/** External functions by the identifier of the library that declares them, and by their name. */
export type ExternalFunctions = Readonly<Record<string, Readonly<Record<string, ExternalFunction>>>>

/** What the option is, in plain JavaScript. */
export const EXTERNAL_FUNCTIONS: MemberKind = {
  words: 'functions by library and name, such as { Risk: { Score: (age) => 1 } }',
  is: (value) => isObject(value) && Object.values(value).every((own) => isObject(own) && Object.values(own).every(isFunction)),
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

/** What libraries are compiled with. */
export interface LibraryOptions {
  /** The FHIR types. */
  readonly model: TypeModel
  /** Type of the subjects, which is the context of a library that states none. Default Patient. */
  readonly subjectType?: string
  /** Conversion of UCUM units. */
  readonly convert: UnitConversion
  /** Offset in minutes of dates and times that are written without one. Default 0. */
  readonly offset?: number
  /** The ELM of an included library by its identifier, without the namespace, and version; `undefined` when there is none. */
  readonly include?: (id: string, version: string | undefined) => unknown
  /** The value of a parameter, by its name and the type, or point type of an interval, that it declares; `undefined` leaves its default. */
  readonly parameters?: (name: string, type: string | undefined) => Value | undefined
  /** Value sets and code systems. Without it, what needs them is refused. */
  readonly terminology?: LibraryTerminology
  /** What libraries declare as external functions. Without it, what calls one is refused. */
  readonly functions?: ExternalFunctions | undefined
  /** Learns of each retrieve while it is compiled, without codes and range. */
  readonly onRetrieve?: (request: RetrieveRequest, node: ElmNode) => void
  /** Looks on at every node. Without it, nothing is there that could. */
  readonly trace?: NodeTrace | undefined
  /** How many places of an evaluation are taken: those of aliases and operands, and those of values that are kept. The same object for all compilations whose definitions one evaluation computes. */
  readonly taken?: { slots: number; memo: number }
}
