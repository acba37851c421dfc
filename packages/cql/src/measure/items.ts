import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import type { Evaluation } from '../compile/compiler.js'
import { literalText } from '../values/text.js'
import { isFhir, isList, type FhirElement, type Value } from '../values/value.js'
import type { CompiledCriterion } from './criterion.js'

/** The items that satisfy a criterion, by reference. */
export type Items = ReadonlyMap<string, Value>

/** What satisfies a criterion, by reference: the subject itself for true, else the items of the list. */
export function itemsOf(population: CompiledCriterion, evaluation: Evaluation): Items {
  const given = population.ofSubject?.(evaluation) ?? null
  const value = population.anyItem === true ? hasItem(given) : given
  const { subject } = evaluation
  if (value === null || value === false) return new Map()
  if (value === true) {
    if (population.basis !== undefined && population.basis !== 'boolean') throw misfit(population, 'gives a boolean')
    return subject === null ? new Map() : new Map([[referenceOf(subject), subject]])
  }
  if (population.basis === 'boolean') throw misfit(population, `gives ${isList(value) ? 'a list' : 'a value'}`)
  const subjectKey = subject === null ? '' : referenceOf(subject)
  const items = isList(value) ? value : [value]
  checkTypes(items, population)
  return new Map(
    items.flatMap((item) =>
      item === null ? [] : [[isFhir(item) ? referenceOf(item) : `${subjectKey}#${literalText(item)}`, item] as const],
    ),
  )
}

/** Resources must be of the type that the basis names; one in lower case, such as `date`, names none. */
function checkTypes(items: readonly Value[], population: CompiledCriterion): void {
  const { basis = '' } = population
  if (!/^[A-Z]/.test(basis)) return
  const other = items
    .filter((item) => item !== null)
    .find((item) => isFhir(item) && item.type.kind === 'resource' && item.type.name !== basis)
  if (other !== undefined && isFhir(other)) throw misfit(population, `gives ${other.type.name}`)
}

/** Whether a result, which is a truth value or items, says that there is something. */
function hasItem(value: Value): boolean {
  return isList(value) ? value.some((item) => item !== null) : value !== null && value !== false
}

function misfit({ place, basis = 'boolean' }: CompiledCriterion, what: string): OperationError {
  return new OperationError('definition-invalid', `${place} ${what}, while its basis is ${quoted(basis)}.`)
}

/** `Encounter/e1`; an element that is no resource is named by its content. */
export function referenceOf({ type, json }: FhirElement): string {
  const id = typeof json === 'object' && json !== null && 'id' in json && typeof json.id === 'string' ? json.id : JSON.stringify(json)
  return `${type.name}/${id}`
}
