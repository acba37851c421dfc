import { defineFinding, defineFormFinding, type Finding, type FindingDefinition } from './finding.js'

/** A primitive value of another JSON type than its FHIR type needs. */
export const PRIMITIVE_TYPE: FindingDefinition = defineFormFinding(
  'primitive-type',
  'error',
  'invalid',
  'Write the value as the JSON type that its FHIR type needs.',
)
/** A primitive value that does not have the format of its type. */
export const PRIMITIVE_FORM: FindingDefinition = defineFinding(
  'primitive-form',
  'error',
  'invalid',
  'Write the value in the format of its type.',
)
/** A text that is empty or blank. */
export const PRIMITIVE_EMPTY: FindingDefinition = defineFinding(
  'primitive-empty',
  'error',
  'invalid',
  'Leave the element out, or give it a value.',
)
/** An allowed value that is probably not intended: a year far away, too many digits. */
export const PRIMITIVE_RANGE: FindingDefinition = defineFinding(
  'primitive-range',
  'warning',
  'invalid',
  'Check that this value is intended.',
)
/** White space at the start or end of a text, or inside a value that has none. */
export const PRIMITIVE_SPACE: FindingDefinition = defineFinding(
  'primitive-space',
  'warning',
  'invalid',
  'Remove the white space around or inside the value.',
)

/** The kinds of findings about the form of primitive values. */
export const PRIMITIVE_FINDINGS: readonly FindingDefinition[] = [
  PRIMITIVE_TYPE,
  PRIMITIVE_FORM,
  PRIMITIVE_EMPTY,
  PRIMITIVE_RANGE,
  PRIMITIVE_SPACE,
]

/** A problem with the form of a value. If it has a severity, which is then below `error`, the value can still be used. */
export interface PrimitiveProblem {
  readonly finding: FindingDefinition
  readonly text: string
  readonly severity?: Finding['severity']
  readonly code?: Finding['code']
}

/**
 * Returns the problem of a value of a primitive type; `undefined` when there is none.
 *
 * @param source The number as it was written.
 */
export type PrimitiveCheck = (value: unknown, source: string, now: Date) => PrimitiveProblem | undefined
