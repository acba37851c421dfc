import type { TypeModel } from 'fhir-ops/fhirpath'
import type { SubjectLinks } from 'fhir-ops/internal/evaluate'
import type { CodeTest, RetrieveRequest } from '../compile/compiler.js'
import { FHIR_HELPERS } from '../model/fhir-helpers.js'
import { memberOf, propertyOf, systemValueOf } from '../model/property.js'
import { includes, pointIn, pointOrder } from '../values/interval.js'
import type { UnitConversion } from '../values/units.js'
import { isFhir, isInterval, isTemporal, type FhirElement, type Value } from '../values/value.js'

/** Options for finding resources. */
export interface RetrieverOptions {
  readonly model: TypeModel
  readonly convert: UnitConversion
  /** Offset in minutes for times without one. */
  readonly offset: number
  /** How resources belong to the subject of the evaluation. */
  readonly links: SubjectLinks
}

/** Selects the resources of a retrieve from those of its type: by profile, codes and date range. */
export function selected(resources: readonly FhirElement[], request: RetrieveRequest, options: RetrieverOptions): readonly FhirElement[] {
  const { codePath, codes, datePath, dateRange, ofProfile } = request
  if (codes === undefined && dateRange === null && ofProfile === undefined) return resources
  return resources.filter(
    (resource) =>
      ofProfile?.missing(resource) === undefined &&
      (codes === undefined || hasCode(resource, codePath ?? 'code', codes)) &&
      (dateRange === null || isDuring(resource, datePath, dateRange, options)),
  )
}

/** Whether a resource has one of the codes. Reads the JSON without creating elements, because most resources do not match. */
function hasCode({ type, json }: FhirElement, path: string, test: CodeTest): boolean {
  const slots = path.includes('.') ? undefined : type.elements.get(path)
  return slots?.some((slot) => isCoded(memberOf(json, slot.jsonName), slot.type, test)) === true
}

function isCoded(json: unknown, type: string, test: CodeTest): boolean {
  if (json === undefined || json === null) return false
  if (Array.isArray(json)) return json.some((item) => isCoded(item, type, test))
  if (type === 'CodeableConcept') return isCoded(memberOf(json, 'coding'), 'Coding', test)
  if (typeof json === 'string') return test(undefined, json)
  const [code, system] = [memberOf(json, 'code'), memberOf(json, 'system')]
  // A coding without a system belongs to no known system. The search for a population, by system and code, does not find it either.
  return typeof code === 'string' && test(typeof system === 'string' ? system : '', code)
}

/** Whether the date or period of a resource is known to be within the range. */
function isDuring(resource: FhirElement, datePath: string | undefined, range: Value, options: RetrieverOptions): boolean {
  if (datePath === undefined || !isInterval(range)) return false
  const { model, offset, convert } = options
  const element = datePath.split('.').reduce<Value>((value, name) => propertyOf(value, name, model, offset), resource)
  const by = pointOrder(convert, undefined, offset)
  if (isTemporal(element)) return pointIn(element, range, by) === true
  if (!isFhir(element)) return false
  const point = systemValueOf(element, offset)
  if (point !== undefined) return pointIn(point, range, by) === true
  const period = FHIR_HELPERS['ToInterval']?.(element, { model, offset }) ?? null
  return isInterval(period) && includes(range, period, by) === true
}
