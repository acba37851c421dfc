import { EXPLANATION } from 'fhir-ops/explain'
import { extensionAt, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/json'

/** The sentences of the explanation in an answer, and the codes that may be meant; empty when it has none. */
export function explanationLines(answer: JsonObject): readonly string[] {
  const parameter = objectsAt(answer, 'parameter').find((one) => stringAt(one, 'name') === 'explanation')
  const extension = extensionAt(objectAt(answer, 'expansion'), EXPLANATION)
  return itemsIn(parameter ?? extension).flatMap(lineOf)
}

/** Parts of a parameter, or extensions of an extension: they have the same names. */
function itemsIn(element: JsonObject | undefined): readonly JsonObject[] {
  return [...objectsAt(element, 'part'), ...objectsAt(element, 'extension')]
}

function named(element: JsonObject, name: string): JsonObject | undefined {
  return itemsIn(element).find((item) => (stringAt(item, 'name') ?? stringAt(item, 'url')) === name)
}

function lineOf(item: JsonObject): readonly string[] {
  const text = stringAt(named(item, 'text'), 'valueString')
  if (text !== undefined) return [text]
  const code = stringAt(objectAt(named(item, 'coding'), 'valueCoding'), 'code')
  return code === undefined ? [] : [`Near: ${code}`]
}
