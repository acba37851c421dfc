/** Prefix of the canonical URLs of FHIR's own types and extensions: `http://hl7.org/fhir/StructureDefinition/Patient`. */
export const TYPE_URL = 'http://hl7.org/fhir/StructureDefinition/'

/** The JSON property of a choice element that holds a value of the type: `deceasedBoolean`. */
export function choiceName(element: string, type: string): string {
  return element + type.charAt(0).toUpperCase() + type.slice(1)
}
