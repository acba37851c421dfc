import { OperationError } from '../errors/index.js'
import { isListOf, isObject, isString, type JsonObject } from '../json/index.js'

/** Tests for members of an element, for those that must not be read as absent when they are malformed. */
export type ElementShape = readonly (readonly [name: string, isRight: (value: unknown) => boolean])[]

const MODIFIERS = 'modifierExtension'
const RULES = 'implicitRules'

/**
 * Returns the name of the first member that does not have the shape of R4, or changes the meaning of the element: no engine knows a modifier extension.
 * `undefined` if there is none.
 *
 * @see https://hl7.org/fhir/R4/extensibility.html#modifierExtension
 */
export function wrongMember(element: JsonObject, shape: ElementShape = []): string | undefined {
  if (element[MODIFIERS] !== undefined) return MODIFIERS
  return shape.find(([name, isRight]) => element[name] !== undefined && !isRight(element[name]))?.[0]
}

/** True for the value of a primitive that is a JSON string. */
export function isText(value: unknown): boolean {
  return isString(value)
}

/** True for the value of a repeating complex element. */
export function isElementList(value: unknown): boolean {
  return isListOf(value, isObject)
}

/** Rules that allow an element to be absent where a later release has a code that R4 lacks, such as an operator of a filter; engines read the extension. */
const LATER_OPERATORS = 'https://hl7.org/fhir/implicit-rules/omitted-mandatory-interversion-code'

/** The implicit rules that engines know. */
export const IMPLICIT_RULES: ElementShape[number] = [RULES, (value) => value === LATER_OPERATORS]

/** Of maps, no implicit rules are known. */
export const NO_IMPLICIT_RULES: ElementShape[number] = [RULES, () => false]

/**
 * Creates the error for a definition with an element that has not the shape of R4, or that means something else than R4 says.
 *
 * @param name The definition, as the subject of a sentence.
 * @param place FHIRPath of the element.
 */
export function unusableElement(name: string, place: string): OperationError {
  const member = place.slice(place.lastIndexOf('.') + 1)
  const [code, problem] =
    member === MODIFIERS || member === RULES
      ? (['not-supported', `unknown ${member}`] as const)
      : (['definition-invalid', 'a malformed element'] as const)
  return new OperationError(code, `${name} has ${problem}.`, { expression: [place] })
}
