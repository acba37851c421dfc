import type { Extension, ParametersParameter } from 'fhir/r4.js'
import type { TypeModel } from 'fhir-ops/fhirpath'
import type { StratumValue } from 'fhir-ops/internal/evaluate'
import type { Evaluation } from '../compile/compiler.js'
import { FHIR_HELPERS, type HelperContext } from '../model/fhir-helpers.js'
import { systemValueOf } from '../model/property.js'
import { fhirQuantity, toParameterEntries } from '../results/parameters.js'
import { writingSteps } from '../values/size.js'
import { decimalOf, isUncertain } from '../values/compare.js'
import { numberOf, shortDecimalText } from '../values/decimal.js'
import { literalText, plainTextOf } from '../values/text.js'
import { isCode, isConcept, isFhir, isList, isQuantity, type Code, type FhirElement, type Value } from '../values/value.js'
import type { CompiledCriterion } from './criterion.js'

const NULL_STRATUM: StratumValue = { concept: { text: 'null' } }

/** Converts a result to the value of a stratum; `undefined` for resources and lists, which are more than one value. */
export function stratumValueOf(value: Value, context: HelperContext): StratumValue | undefined {
  if (value === null) return NULL_STRATUM
  if (isCode(value)) return { concept: { coding: [codingOf(value)] } }
  if (isConcept(value)) return { concept: { coding: value.codes.map(codingOf), ...(value.display !== null && { text: value.display }) } }
  if (isQuantity(value)) {
    const unit = value.unit === '1' ? '' : ` ${value.unit}`
    return { concept: { text: `${shortDecimalText(value.value)}${unit}` }, quantity: { ...fhirQuantity(value) } }
  }
  // A number that is known only to lie in a range, such as an age from a year of birth, is written as in CQL.
  if (isUncertain(value)) return { concept: { text: literalText(value) } }
  // FHIR strings must not be empty, so an empty one is written as in CQL.
  if (value === '') return { concept: { text: "''" } }
  if (isList(value)) return undefined
  if (isFhir(value)) return stratumOfElement(value, context)
  const amount = typeof value === 'object' ? decimalOf(value) : undefined
  const text = amount === undefined ? plainTextOf(value) : shortDecimalText(amount)
  return text === undefined ? undefined : { concept: { text } }
}

function stratumOfElement(value: FhirElement, context: HelperContext): StratumValue | undefined {
  if (value.type.kind === 'primitive') return stratumValueOf(systemValueOf(value, context.offset) ?? null, context)
  if (value.type.name === 'CodeableConcept' && isRecord(value.json)) return { concept: { ...value.json } }
  if (value.type.name === 'Coding' && isRecord(value.json)) return { concept: { coding: [{ ...value.json }] } }
  // True also for ages, durations and other profiles of quantities.
  return value.type.elements.has('comparator') ? stratumOfQuantity(value, context) : undefined
}

/** A quantity as recorded: with its comparator, and in the unit of its code. */
function stratumOfQuantity(value: FhirElement, context: HelperContext): StratumValue {
  const amount = FHIR_HELPERS['ToQuantityIgnoringComparator']?.(value, context) ?? null
  if (!isQuantity(amount) || !isRecord(value.json)) return NULL_STRATUM
  const { comparator, system, code, unit: written } = value.json
  const unit = code ?? written
  const text = [comparator, shortDecimalText(amount.value), unit === '1' ? undefined : unit].filter((part) => typeof part === 'string')
  const quantity = { value: numberOf(amount.value), comparator, unit, system, code }
  const present = Object.entries(quantity).filter(([, member]) => member !== undefined)
  return { concept: { text: text.join(' ') }, quantity: Object.fromEntries(present) }
}

function codingOf({ code, system, version, display }: Code): Readonly<Record<string, string>> {
  return {
    ...(system !== null && { system }),
    ...(version !== null && { version }),
    ...(code !== null && { code }),
    ...(display !== null && { display }),
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The supporting evidence that a subject is in a population, as extensions `value` of `cqf-supportingEvidence`. */
export function evidenceValues({ ofSubject, ofItem }: CompiledCriterion, evaluation: Evaluation, model: TypeModel): readonly Extension[] {
  const value = ofSubject === undefined ? (ofItem?.(evaluation, evaluation.subject) ?? null) : ofSubject(evaluation)
  evaluation.spend(writingSteps(value))
  return toParameterEntries('value', value, model).map(extensionOf)
}

/** Converts a parameter to an extension: resources become references, parts are nested, an absent value keeps the extensions that state the reason. */
function extensionOf({ name, part, resource, extension = [], ...values }: ParametersParameter): Extension {
  if (resource !== undefined) return { url: name, valueReference: { reference: `${resource.resourceType}/${resource.id ?? ''}` } }
  const absent = Object.entries(values).flatMap(([member, value]) => (member.startsWith('_') ? extensionsIn(value) : []))
  const nested = [...extension, ...absent, ...(part ?? []).map(extensionOf)]
  const present = Object.fromEntries(Object.entries(values).filter(([member]) => !member.startsWith('_')))
  return { url: name, ...(nested.length > 0 && { extension: nested }), ...present }
}

function extensionsIn(element: unknown): readonly Extension[] {
  return typeof element === 'object' && element !== null && 'extension' in element && Array.isArray(element.extension)
    ? element.extension.filter(isExtension)
    : []
}

function isExtension(value: unknown): value is Extension {
  return typeof value === 'object' && value !== null && 'url' in value && typeof value.url === 'string'
}
