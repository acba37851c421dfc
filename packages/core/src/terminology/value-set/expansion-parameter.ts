import { extensionAt, objectAt, objectsAt, stringAt, type JsonObject } from '../../json/index.js'

const EXPANSION_PARAMETER = 'http://hl7.org/fhir/StructureDefinition/valueset-expansion-parameter'

/** What a value set wants a parameter of its expansions to be, as text; `undefined` when it says nothing. */
export function expansionParameterText(resource: JsonObject, name: string): string | undefined {
  const stated = objectsAt(objectAt(resource, 'compose'), 'extension').filter((item) => stringAt(item, 'url') === EXPANSION_PARAMETER)
  const found = stated.find((item) => textOf(extensionAt(item, 'name')) === name)
  return found === undefined ? undefined : textOf(extensionAt(found, 'value'))
}

function textOf(extension: JsonObject | undefined): string | undefined {
  const value = extension?.['valueCode'] ?? extension?.['valueString'] ?? extension?.['valueBoolean']
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined
}
