import type { Target } from './http/target.js'
import { FHIR_PATH, type Service } from './service.js'

const FHIR_SEGMENTS = FHIR_PATH.split('/').slice(1)

/** True for a path at or below the FHIR base. */
export function isBelowFhir({ mount }: Pick<Service, 'mount'>, { segments }: Pick<Target, 'segments'>): boolean {
  return [...mount, ...FHIR_SEGMENTS].every((segment, index) => segments[index] === segment)
}
