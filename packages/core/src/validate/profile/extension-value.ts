import { objectsAt, type JsonObject } from '../../json/index.js'

/** The beginning of the urls of FHIR's own extensions. */
export const EXTENSION = 'http://hl7.org/fhir/StructureDefinition/'
/** What R5 added to ElementDefinition, as R4 writes it. */
export const R5_ELEMENT = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-ElementDefinition.'

/** The value of FHIR's own extension of a name on a part of a definition. */
export function extensionValue(element: JsonObject, name: string): unknown {
  return extensionValues(element, EXTENSION + name)[0]
}

/** The values of all extensions with a url. */
export function extensionValues(element: JsonObject, url: string): readonly unknown[] {
  const extensions = objectsAt(element, 'extension').filter((candidate) => candidate['url'] === url)
  return extensions.map(valueIn).filter((value) => value !== undefined)
}

/** The value of an extension, of whatever type. */
export function valueIn(extension: JsonObject): unknown {
  return Object.entries(extension).find(([name]) => name.startsWith('value'))?.[1]
}
