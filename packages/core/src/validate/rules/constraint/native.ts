import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt } from '../../../json/index.js'
import type { Run } from '../../run/run.js'
import { containedOf, referenceOf } from '../reference/resolve-locally.js'

/** As R4, R5 and STU3 publish it. */
const REF_1 = [
  "reference.startsWith('#').not() or (reference.substring(1).trace('url') in %rootResource.contained.id.trace('ids'))",
  "reference.startsWith('#').not() or (reference.substring(1).trace('url') in %rootResource.contained.id.trace('ids')) or (reference='#' and %rootResource!=%resource)",
  "reference.startsWith('#').not() or (reference.substring(1).trace('url') in %resource.contained.id.trace('ids'))",
]

const HTML_CHECKS = 'htmlChecks()'
const ELE_1 = 'hasValue() or (children().count() > id.count())'

const DOM_3 =
  "contained.where((('#'+id in (%resource.descendants().reference | %resource.descendants().as(canonical) | %resource.descendants().as(uri) | %resource.descendants().as(url))) or descendants().where(reference = '#').exists() or descendants().where(as(canonical) = '#').exists() or descendants().where(as(canonical) = '#').exists()).not()).trace('unmatched', id).empty()"

const SDF_8 =
  "(%resource.kind = 'logical' or element.first().path = %resource.type) and element.tail().all(path.startsWith(%resource.snapshot.element.first().path&'.'))"
const SDF_8A =
  "(%resource.kind = 'logical' or element.first().path.startsWith(%resource.type)) and (element.tail().empty() or element.tail().all(path.startsWith(%resource.differential.element.first().path.replaceMatches('\\\\..*','')&'.')))"

/** Whether a node meets a constraint; `undefined` when its expression must be evaluated. */
export type NativeConstraint = (run: Run, node: FhirNode) => boolean | undefined

/**
 * Constraints in code, by their published expression: those that apply many times in every resource, and those whose expression is wrong or takes too long
 * for the largest resources.
 */
export const NATIVE_CONSTRAINTS: ReadonlyMap<string, NativeConstraint> = new Map<string, NativeConstraint>([
  ...REF_1.map((expression): [string, NativeConstraint] => [expression, leadsToContained]),
  [ELE_1, hasContent],
  // `checkResource` checks dom-3 and says what is not referred to; `checkNarrative` checks txt-1 and txt-2 and says what is wrong.
  [DOM_3, () => true],
  [HTML_CHECKS, () => true],
  ['text.`div`.exists()', hasNarrative],
  // `checkCodeSystem` checks csd-1 and `checkQuestionnaire` que-2; both let other requests run.
  ['concept.code.combine($this.descendants().concept.code).isDistinct()', isCheckedOn('CodeSystem')],
  ['descendants().linkId.isDistinct()', isCheckedOn('Questionnaire')],
  [SDF_8, (_run, { parent, value }) => pathsFit(parent?.value, value, (first, type) => first === type)],
  [SDF_8A, (_run, { parent, value }) => pathsFit(parent?.value, value, (first, type) => first.startsWith(type))],
])

const SMALL = /^\d{1,9}$/

/**
 * Whether a JSON value certainly meets a constraint: those above that concern only the value itself or are checked elsewhere, and the one on the number of
 * occurrences.
 */
export const SURELY_MET: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ...REF_1.map((expression): [string, (value: unknown) => boolean] => [expression, leadsElsewhere]),
  [ELE_1, (value: unknown) => hasMember(value)],
  [DOM_3, () => true],
  [HTML_CHECKS, () => true],
  ["empty() or ($this = '*') or (toInteger() >= 0)", (value: unknown) => value === '*' || (typeof value === 'string' && SMALL.test(value))],
])

function leadsElsewhere(value: unknown): boolean {
  return isObject(value) && (typeof value['reference'] !== 'string' || !value['reference'].startsWith('#'))
}

/** A constraint that the check of one type reports; on other types the expression decides. */
function isCheckedOn(checked: string): NativeConstraint {
  return (_run, { type }) => (type.name === checked ? true : undefined)
}

/** dom-6. The narrative of a resource also covers the resources that it contains. */
function hasNarrative(_run: Run, { slot, value }: FhirNode): boolean {
  if (slot?.name === 'contained' || !isObject(value)) return true
  const { text } = value
  return isObject(text) && (Object.hasOwn(text, 'div') || Object.hasOwn(text, '_div'))
}

/** ele-1. Unknown members count as content; they are reported separately. */
function hasContent(_run: Run, { value, extra }: FhirNode): boolean {
  return (value !== undefined && value !== null && !isObject(value)) || hasMember(value) || hasMember(extra)
}

function hasMember(json: unknown): boolean {
  return isObject(json) && Object.keys(json).some((name) => name !== 'id')
}

/** ref-1. A Reference without `reference` is not a local one, and `#` alone is the container of a contained resource. */
function leadsToContained(run: Run, node: FhirNode): boolean {
  const reference = referenceOf(node)
  return reference === undefined || !reference.startsWith('#') || containedOf(run, node, reference.slice(1)) !== undefined
}

/** sdf-8 and sdf-8a. The first element is that of the type, except in a logical model, and the others are below it. */
function pathsFit(definition: unknown, elements: unknown, isFirst: (path: string, type: string) => boolean): boolean {
  if (!isObject(definition) || !isObject(elements)) return true
  const [first = '', ...rest] = objectsAt(elements, 'element').map((element) => stringAt(element, 'path') ?? '')
  const start = `${first.split('.', 1)[0]}.`
  const isOfType = definition['kind'] === 'logical' || isFirst(first, stringAt(definition, 'type') ?? '')
  return isOfType && rest.every((path) => path.startsWith(start))
}
