import type { TypeModel } from 'fhir-ops/fhirpath'
import type { CodeTest, RetrieveRequest } from '../compile/compiler.js'
import { FHIR_HELPERS } from '../model/fhir-helpers.js'
import { propertyOf, systemValueOf } from '../model/property.js'
import { includes, pointIn, pointOrder } from '../values/interval.js'
import type { UnitConversion } from '../values/units.js'
import { isFhir, isInterval, isList, isTemporal, type FhirElement, type Value } from '../values/value.js'

/** What finding resources takes. */
export interface RetrieverOptions {
  readonly model: TypeModel
  readonly convert: UnitConversion
  /** Offset in minutes of times that have none. */
  readonly offset: number
}

/** What a retrieve finds among resources of its type: those with its codes, in its date range. */
export function selected(
  resources: readonly FhirElement[],
  { codePath, codes, datePath, dateRange }: RetrieveRequest,
  options: RetrieverOptions,
): readonly FhirElement[] {
  if (codes === undefined && dateRange === null) return resources
  return resources.filter(
    (resource) =>
      (codes === undefined || hasCode(propertyOf(resource, codePath ?? 'code', options.model, options.offset), codes, options)) &&
      (dateRange === null || isDuring(resource, datePath, dateRange, options)),
  )
}

function hasCode(value: Value, test: CodeTest, options: RetrieverOptions): boolean {
  if (value === null) return false
  if (isList(value)) return value.some((item) => hasCode(item, test, options))
  if (!isFhir(value)) return false
  const { model, offset } = options
  if (value.type.name === 'CodeableConcept') return hasCode(propertyOf(value, 'coding', model, offset), test, options)
  if (value.type.kind === 'primitive') {
    const code = systemValueOf(value, offset)
    return typeof code === 'string' && test(undefined, code)
  }
  const code = textOf(propertyOf(value, 'code', model, offset), offset)
  return code !== undefined && test(textOf(propertyOf(value, 'system', model, offset), offset), code)
}

function textOf(value: Value, offset: number): string | undefined {
  const text = isFhir(value) ? systemValueOf(value, offset) : value
  return typeof text === 'string' ? text : undefined
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
