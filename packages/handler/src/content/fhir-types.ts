import { resourceTypes } from 'fhir-ops/storage'

/** The types of FHIR, which go together in what is about all types; bots are kept apart. */
export function fhirTypes(): readonly string[] {
  return resourceTypes().filter((type) => type !== 'Bot')
}
