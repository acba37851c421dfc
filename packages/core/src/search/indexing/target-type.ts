import { isObject, stringAt } from '../../json/index.js'
import { isResourceType } from '../../storage/index.js'
import { localReference } from '../kinds/reference.js'

const TYPES = 'http://hl7.org/fhir/StructureDefinition/'

/**
 * The type of what a Reference leads to, as far as it says itself: by its address, on this server or another, or by `type`, where it has an
 * identifier only.
 *
 * @param address The `reference` of the Reference, if it has one.
 * @param base Address of this server.
 */
export function targetType(address: string | undefined, reference: unknown, base: string | undefined): string | undefined {
  const type = isObject(reference) ? stringAt(reference, 'type') : undefined
  const named = type?.startsWith(TYPES) === true ? type.slice(TYPES.length) : type
  return typeInAddress(address ?? '', base) ?? (named !== undefined && isResourceType(named) ? named : undefined)
}

function typeInAddress(address: string, base: string | undefined): string | undefined {
  const local = localReference(address, base)
  if (local !== undefined || !/^https?:/.test(address)) return local?.type
  const segments = address.split('/')
  return (localReference(segments.slice(-2).join('/'), undefined) ?? localReference(segments.slice(-4).join('/'), undefined))?.type
}
