import type { TypeModel } from 'fhir-ops/fhirpath'
import type { LibraryTerminology, NodeTrace, RetrieveRequest } from '../compile/compiler.js'
import type { ElmNode } from '../elm/node.js'
import type { UnitConversion } from '../values/units.js'
import type { ExternalFunctions } from './external.js'
import type { Value } from '../values/value.js'

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
