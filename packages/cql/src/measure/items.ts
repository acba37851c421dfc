import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import type { Evaluation } from '../compile/compiler.js'
import type { HelperContext } from '../model/fhir-helpers.js'
import { referenceOf } from '../model/fhir-types.js'
import { systemValueOf } from '../model/property.js'
import { decimalOfText, shortDecimalText } from '../values/decimal.js'
import { closedInterval, endOf, startOf } from '../values/interval.js'
import { writingSteps } from '../values/size.js'
import { DAY, fieldsAt, temporalOf } from '../values/temporal.js'
import { literalText } from '../values/text.js'
import { isDecimal, isFhir, isInterval, isList, isTemporal, type Value } from '../values/value.js'
import type { CompiledCriterion } from './criterion.js'

/** The items that satisfy a criterion, by reference. */
export type Items = ReadonlyMap<string, Value>

/** The empty set of items. */
export const NO_ITEMS: Items = new Map()

/** Returns the items of one subject that satisfy a criterion, by reference: the subject itself for true, or the items of a list. */
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
    return new Map(items.flatMap((item) => (item === null ? [] : [[keyOf(item, subjectKey, evaluation), item] as const])))
  }
}

/** The boolean of a CQL or FHIR value; `undefined` for any other value. */
export function truthOf(value: Value, { offset }: HelperContext): boolean | undefined {
  const plain = value !== null && isFhir(value) ? systemValueOf(value, offset) : value
  return typeof plain === 'boolean' ? plain : undefined
}

/** The prefix of the keys of a subject's items. */
export function keyOfSubject(subject: Evaluation['subject']): string {
  return subject === null ? '' : referenceOf(subject)
}

/** The key of an item: the reference of a resource; for any other item the subject's reference, `#` and the item's text, which is equal for equal items. */
export function keyOf(item: Value, subjectKey: string, evaluation: Evaluation): string {
  if (item !== null && isFhir(item) && item.type.kind === 'resource') return referenceOf(item)
  evaluation.spend(writingSteps(item))
  return `${subjectKey}#${literalText(plain(item))}`
}

/** The normal form of a value, which is the same for equal values: closed intervals, moments in UTC, decimals without trailing zeros. */
function plain(value: Value): Value {
  if (isInterval(value)) return closedInterval(plain(startOf(value)), plain(endOf(value)))
  if (isDecimal(value)) return decimalOfText(shortDecimalText(value)) ?? value
  if (!isTemporal(value) || value.kind !== 'dateTime' || value.precision <= DAY || value.offset === 0) return value
  return temporalOf('dateTime', fieldsAt(value.low, 0).slice(0, value.precision + 1)) ?? value
}

/** Checks that all items are resources of the basis if that is a resource type, and that none is a resource otherwise. */
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

/** Whether a result, a boolean or items, is true or has an item. */
function hasItem(value: Value): boolean {
  return isList(value) ? value.some((item) => item !== null) : value !== null && value !== false
}

function misfit({ place, basis = 'boolean' }: CompiledCriterion, what: string): OperationError {
  return new OperationError('definition-invalid', `${place} ${what}, while its basis is ${quoted(basis)}.`)
}
