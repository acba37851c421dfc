import { BOUNDARY_FUNCTIONS, MATH_FUNCTIONS } from './math.js'
import { CONVERSION_FUNCTIONS } from './conversion.js'
import type { FunctionDefinition } from './definition.js'
import { ENCODING_FUNCTIONS, STRING_FUNCTIONS } from './strings.js'
import { EXISTENCE_FUNCTIONS, FILTERING_FUNCTIONS, SUBSETTING_FUNCTIONS, TREE_FUNCTIONS } from './collections.js'
import { FHIR_FUNCTIONS, HOST_FUNCTIONS } from './fhir.js'
import { TYPE_FUNCTIONS } from './types.js'
import { UTILITY_FUNCTIONS } from './utility.js'

/** Every function that an expression may call, by name. */
export const FUNCTIONS: ReadonlyMap<string, FunctionDefinition> = new Map(
  [
    ...EXISTENCE_FUNCTIONS,
    ...FILTERING_FUNCTIONS,
    ...SUBSETTING_FUNCTIONS,
    ...CONVERSION_FUNCTIONS,
    ...STRING_FUNCTIONS,
    ...ENCODING_FUNCTIONS,
    ...MATH_FUNCTIONS,
    ...TREE_FUNCTIONS,
    ...TYPE_FUNCTIONS,
    ...UTILITY_FUNCTIONS,
    ...BOUNDARY_FUNCTIONS,
    ...FHIR_FUNCTIONS,
    ...HOST_FUNCTIONS,
  ].map((definition) => [definition.name, definition]),
)

/**
 * Finds a function by name.
 *
 * @throws {TypeError} for a name that is not in `FUNCTIONS`.
 */
export function functionOf(name: string): FunctionDefinition {
  const definition = FUNCTIONS.get(name)
  if (definition === undefined) throw new TypeError(`There is no function '${name}'.`)
  return definition
}

/** Functions of drafts that follow N1, the release of FHIRPath that R4 uses; some tools know them. */
const NEWER: ReadonlySet<string> = new Set(['coalesce', 'convertsToLong', 'repeatAll', 'sort', 'toLong'])

/** Describes the problem of a call: an unknown function, or a wrong number of arguments; `undefined` when there is none. */
export function callProblem(name: string, count: number): string | undefined {
  const definition = FUNCTIONS.get(name)
  if (definition === undefined && NEWER.has(name)) return `${name}() is newer than FHIRPath N1, which R4 uses, and is not supported`
  if (definition === undefined) return `there is no function '${name.slice(0, 60)}'`
  const [least, most] = definition.arity
  if (count >= least && count <= most) return undefined
  return `${name}() takes ${least === most ? least : `${least} to ${most}`} arguments, not ${count}`
}
