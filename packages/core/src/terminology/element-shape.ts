import { OperationError } from '../errors/index.js'
import { isListOf, isObject, isString, type JsonObject } from '../json/index.js'

/** Tests for members of an element, for those that must not be read as absent when they are malformed or change the meaning of others. */
export type ElementShape = readonly (readonly [name: string, isRight: (value: unknown) => boolean])[]

/** Returns the name of the first member that does not have the shape of R4; `undefined` when all have. */
export function wrongMember(element: JsonObject, shape: ElementShape): string | undefined {
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

/** An element without modifier extensions: no engine knows one. @see https://hl7.org/fhir/R4/extensibility.html#modifierExtension */
export const UNMODIFIED: ElementShape = [['modifierExtension', (value) => Array.isArray(value) && value.length === 0]]

/** A definition that means what R4 says: without modifier extensions, and without implicit rules that no engine knows. */
export const UNMODIFIED_RESOURCE: ElementShape = [...UNMODIFIED, ['implicitRules', (value) => value === LATER_OPERATORS]]

/** Rules that allow an element to be absent where a later release has a code that R4 lacks, such as an operator of a filter; engines read the extension. */
const LATER_OPERATORS = 'https://hl7.org/fhir/implicit-rules/omitted-mandatory-interversion-code'

/**
 * Creates the error for a definition with an element that has not the shape of R4, or that means something else than R4 says.
 *
 * @param name The definition, as the subject of a sentence.
 * @param place FHIRPath of the element.
 */
export function unusableElement(name: string, place: string): OperationError {
  const member = place.slice(place.lastIndexOf('.') + 1)
  const isModifier = UNMODIFIED_RESOURCE.some(([modifier]) => modifier === member)
  const problem = isModifier ? `has ${member}, which changes its meaning in a way that is not known` : 'has a malformed element'
  return new OperationError(isModifier ? 'not-supported' : 'definition-invalid', `${name} ${problem}.`, { expression: [place] })
}
