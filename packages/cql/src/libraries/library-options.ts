import type { TypeModel } from 'fhir-ops/fhirpath'
import type { MemberKind } from 'fhir-ops/internal/input'
import { isObject } from 'fhir-ops/internal/json'
import type { GivenSource, NodeTrace, Places } from '../compile/compiler.js'
import type { UnitConversion } from '../values/units.js'
import type { Value } from '../values/value.js'

/**
 * A function that a library declares as `external`. It is called with the values of its operands (null if unknown), which it must not change. It must return
 * the same result for the same operands, and return it synchronously: evaluations do not wait.
 */
export type ExternalFunction = (...operands: readonly Value[]) => Value

/** External functions by the identifier of the library that declares them, and by their name. */
export type ExternalFunctions = Readonly<Record<string, Readonly<Record<string, ExternalFunction>>>>

/** Shape of the option, for checks of plain JavaScript. */
export const EXTERNAL_FUNCTIONS: MemberKind = {
  words: 'functions by library and name, such as { Risk: { Score: (age) => 1 } }',
  is: (value) => isObject(value) && Object.values(value).every((own) => isObject(own) && Object.values(own).every(isFunction)),
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

/** Options of `compileLibrary`. Parameters, terminology and `onRetrieve` are those of all evaluations, unless there are `places`. */
export interface LibraryOptions extends GivenSource {
  /** The FHIR types. */
  readonly model: TypeModel
  /** Type of the subjects. It is the context of a library that declares none. Default Patient. */
  readonly subjectType?: string
  /** Conversion of UCUM units. */
  readonly convert: UnitConversion
  /** Offset in minutes for dates and times without one. Default 0. */
  readonly offset?: number
  /** Returns the ELM of an included library by its identifier, without the namespace, and version; `undefined` if there is none. */
  readonly include?: (id: string, version: string | undefined) => unknown
  /** Functions that libraries declare as external. Without it, calls of them are refused. */
  readonly functions?: ExternalFunctions | undefined
  /** Called for every compiled node, to observe evaluations. Without it, tracing costs nothing. */
  readonly trace?: NodeTrace | undefined
  /**
   * Places in evaluations. Pass the same object to all compilations whose definitions one evaluation computes. Parameters, terminology and `onRetrieve` are then
   * those of each evaluation (`Evaluation.given`) instead of these options.
   */
  readonly places?: Places
}
