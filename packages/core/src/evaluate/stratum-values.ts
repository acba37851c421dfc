import type { MeasureReportGroupStratifierStratum, MeasureReportGroupStratifierStratumComponent, Quantity } from 'fhir/r4.js'
import { isObject } from '../json/index.js'
import { conceptOf } from './concept.js'
import type { Stratifier, StratifierCriterion } from './measure-plan.js'
import type { Stratum, StratumValue } from './stratum.js'

/** Of R5, where the value of a stratum may be an amount. */
const VALUE_EXTENSION = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-MeasureReport.group.stratifier.stratum.value'

/** What a stratum of a report says of its values. */
export function valuesOf(
  { criteria, byComponents }: Stratifier,
  { values = [] }: Stratum,
): Pick<MeasureReportGroupStratifierStratum, 'component' | 'extension' | 'value'> {
  if (byComponents) return { component: values.map((value, index) => componentOf(value, criteria[index]?.code)) }
  const [only] = values
  if (only === undefined) return {}
  const value = conceptOf(only.concept)
  return {
    ...(isQuantity(only.quantity) && { extension: [{ url: VALUE_EXTENSION, valueQuantity: only.quantity }] }),
    ...(value !== undefined && { value }),
  }
}

function componentOf({ concept }: StratumValue, code: StratifierCriterion['code']): MeasureReportGroupStratifierStratumComponent {
  return { code: conceptOf(code) ?? {}, value: conceptOf(concept) ?? {} }
}

function isQuantity(value: unknown): value is Quantity {
  return isObject(value)
}
