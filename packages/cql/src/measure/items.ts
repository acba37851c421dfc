import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import type { Evaluation } from '../compile/compiler.js'
import type { HelperContext } from '../model/fhir-helpers.js'
import { systemValueOf } from '../model/property.js'
import { decimalOfText, shortDecimalText } from '../values/decimal.js'
import { closedInterval, endOf, startOf } from '../values/interval.js'
import { DAY, fieldsAt, temporalOf } from '../values/temporal.js'
import { literalText } from '../values/text.js'
import { isDecimal, isFhir, isInterval, isList, isTemporal, type FhirElement, type Value } from '../values/value.js'
import type { CompiledCriterion } from './criterion.js'

/** The items that satisfy a criterion, by reference. */
export type Items = ReadonlyMap<string, Value>

/** Nothing. */
export const NO_ITEMS: Items = new Map()

/** What satisfies criteria for one subject, by reference: the subject itself for true, else the items of the list. */
export function itemsFor(evaluation: Evaluation, helpers: HelperContext): (population: CompiledCriterion) => Items {
  const { subject } = evaluation
  let own: Items | undefined
  return (population) => {
    const given = population.ofSubject?.(evaluation) ?? null
    const whole = truthOf(given, helpers) ?? given
    const value = population.anyItem === true ? hasItem(whole) : whole
    if (value === null || value === false) return NO_ITEMS
    if (value === true) {
      if (population.basis !== undefined && population.basis !== 'boolean') throw misfit(population, 'gives a boolean')
      return (own ??= subject === null ? NO_ITEMS : new Map([[referenceOf(subject), subject]]))
    }
    if (population.basis === 'boolean') throw misfit(population, `gives ${isList(value) ? 'a list' : 'a value'}`)
    const subjectKey = keyOfSubject(subject)
    const items = isList(value) ? value : [value]
    checkTypes(items, population, helpers.model)
    return new Map(items.flatMap((item) => (item === null ? [] : [[keyOf(item, subjectKey), item] as const])))
  }
}

/** What a truth value of CQL or FHIR says; `undefined` for any other value. */
export function truthOf(value: Value, { offset }: HelperContext): boolean | undefined {
  const plain = value !== null && isFhir(value) ? systemValueOf(value, offset) : value
  return typeof plain === 'boolean' ? plain : undefined
}

/** What the keys of a subject's items begin with. */
export function keyOfSubject(subject: Evaluation['subject']): string {
  return subject === null ? '' : referenceOf(subject)
}

/** The reference of a resource; of any other item that of the subject, `#` and the item's text, which is the same for equal items. */
export function keyOf(item: Value, subjectKey: string): string {
  return item !== null && isFhir(item) && item.type.kind === 'resource' ? referenceOf(item) : `${subjectKey}#${literalText(plain(item))}`
}

/** The form that equal values have in common: closed intervals, moments in UTC, decimals without zeros at their end. */
function plain(value: Value): Value {
  if (isInterval(value)) return closedInterval(plain(startOf(value)), plain(endOf(value)))
  if (isDecimal(value)) return decimalOfText(shortDecimalText(value)) ?? value
  if (!isTemporal(value) || value.kind !== 'dateTime' || value.precision <= DAY || value.offset === 0) return value
  return temporalOf('dateTime', fieldsAt(value.low, 0).slice(0, value.precision + 1)) ?? value
}

/** Where the basis is a type of resource, all items must be such resources; no other basis has resources. */
function checkTypes(items: readonly Value[], population: CompiledCriterion, model: TypeModel): void {
  const { basis } = population
  if (basis === undefined) return
  const isOfResources = model.type(basis)?.kind === 'resource'
  for (const item of items) {
    if (item === null) continue
    const name = isFhir(item) && item.type.kind === 'resource' ? item.type.name : undefined
    if (name === undefined ? isOfResources : name !== basis) throw misfit(population, `gives ${name ?? 'what is not a resource'}`)
  }
}

/** Whether a result, which is a truth value or items, says that there is something. */
function hasItem(value: Value): boolean {
  return isList(value) ? value.some((item) => item !== null) : value !== null && value !== false
}

function misfit({ place, basis = 'boolean' }: CompiledCriterion, what: string): OperationError {
  return new OperationError('definition-invalid', `${place} ${what}, while its basis is ${quoted(basis)}.`)
}

/** `Encounter/e1`; an element that is not a resource is named by its content. */
export function referenceOf({ type, json }: FhirElement): string {
  const id = typeof json === 'object' && json !== null && 'id' in json && typeof json.id === 'string' ? json.id : JSON.stringify(json)
  return `${type.name}/${id}`
}
