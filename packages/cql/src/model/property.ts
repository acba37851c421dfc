import type { TypeModel } from 'fhir-ops/fhirpath'
import type { TypeDefinition, ElementSlot } from 'fhir-ops/internal/fhirpath'
import { resourceElement } from './fhir-types.js'
import { decimalOfNumber } from '../values/decimal.js'
import { parseDateTime, parseTime } from '../values/temporal.js'
import { isCode, isConcept, isInterval, isList, isQuantity, isRatio, isVocabulary, type FhirElement, type Value } from '../values/value.js'

/**
 * Reads an element of a value by its name: of FHIR elements according to the model, of System values and tuples from their members.
 *
 * Repeating elements return a list, which is empty if there are none. For a list, the elements of all its items are combined.
 */
export function propertyOf(value: Value, name: string, model: TypeModel, offset: number): Value {
  if (value === null || typeof value !== 'object') return null
  if (isList(value)) {
    return value.flatMap((item) => {
      const element = propertyOf(item, name, model, offset)
      return element === null ? [] : isList(element) ? element : [element]
    })
  }
  if (value.kind === 'fhir') return fhirProperty(value, name, { model, offset })
  if (value.kind === 'tuple') return value.elements.get(name) ?? null
  const key = `${value.kind}.${name}`
  return Object.hasOwn(SYSTEM_ELEMENTS, key) ? (SYSTEM_ELEMENTS[key]?.(value) ?? null) : null
}

/** The names of the elements that a value may have; empty for numbers, texts, dates and lists. */
export function elementNames(value: Value): readonly string[] {
  if (value === null || typeof value !== 'object' || isList(value)) return []
  if (value.kind === 'fhir') return [...value.type.elements.keys(), ...(value.type.kind === 'primitive' ? ['value'] : [])]
  if (value.kind === 'tuple') return [...value.elements.keys()]
  const prefix = `${value.kind}.`
  return Object.keys(SYSTEM_ELEMENTS).flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []))
}

/** Elements of System values. */
const SYSTEM_ELEMENTS: Readonly<Record<string, (value: Value) => Value>> = {
  'quantity.value': (value) => (isQuantity(value) ? value.value : null),
  'quantity.unit': (value) => (isQuantity(value) ? value.unit : null),
  'ratio.numerator': (value) => (isRatio(value) ? value.numerator : null),
  'ratio.denominator': (value) => (isRatio(value) ? value.denominator : null),
  'interval.low': (value) => (isInterval(value) ? value.low : null),
  'interval.high': (value) => (isInterval(value) ? value.high : null),
  'interval.lowClosed': (value) => isInterval(value) && value.lowClosed,
  'interval.highClosed': (value) => isInterval(value) && value.highClosed,
  'code.code': (value) => (isCode(value) ? value.code : null),
  'code.system': (value) => (isCode(value) ? value.system : null),
  'code.version': (value) => (isCode(value) ? value.version : null),
  'code.display': (value) => (isCode(value) ? value.display : null),
  'concept.codes': (value) => (isConcept(value) ? value.codes : null),
  'concept.display': (value) => (isConcept(value) ? value.display : null),
  'valueSet.id': (value) => (isVocabulary(value) ? value.id : null),
  'valueSet.version': (value) => (isVocabulary(value) ? value.version : null),
  'codeSystem.id': (value) => (isVocabulary(value) ? value.id : null),
  'codeSystem.version': (value) => (isVocabulary(value) ? value.version : null),
}

function fhirProperty(
  element: FhirElement,
  name: string,
  { model, offset }: { readonly model: TypeModel; readonly offset: number },
): Value {
  if (element.type.kind === 'primitive' && name === 'value') return systemValueOf(element, offset) ?? null
  const slots = element.type.elements.get(name)
  return slots === undefined ? null : firstSlotValue(element, typedSlots(slots, model), model)
}

/** A slot with the type of its content; `undefined` if the model does not know it. */
interface TypedSlot extends Pick<ElementSlot, 'isCollection' | 'jsonName' | 'siblingName'> {
  readonly type: TypeDefinition | undefined
}

const typed = new WeakMap<TypeModel, WeakMap<readonly ElementSlot[], readonly TypedSlot[]>>()

function typedSlots(slots: readonly ElementSlot[], model: TypeModel): readonly TypedSlot[] {
  const ofModel = typed.get(model)
  const known = ofModel?.get(slots)
  if (known !== undefined) return known
  const made = slots.map(({ jsonName, siblingName, isCollection, type }) => ({
    jsonName,
    siblingName,
    isCollection,
    type: model.type(type),
  }))
  if (ofModel === undefined) typed.set(model, new WeakMap([[slots, made]]))
  else ofModel.set(slots, made)
  return made
}

/**
 * Creates a function that reads an element by its name, as `propertyOf` does. The slots of a type are looked up once as long as successive values are of the
 * same type, as they are in a query.
 */
export function propertyReader(name: string, model: TypeModel, offset: number): (value: Value) => Value {
  let known: TypeDefinition | undefined
  let slots: readonly TypedSlot[] | undefined
  return (value) => {
    if (value === null || typeof value !== 'object' || isList(value) || value.kind !== 'fhir') return propertyOf(value, name, model, offset)
    const { type } = value
    if (type.kind === 'primitive' && name === 'value') return systemValueOf(value, offset) ?? null
    if (type !== known) {
      const found = type.elements.get(name)
      slots = found === undefined ? undefined : typedSlots(found, model)
      known = type
    }
    return slots === undefined ? null : firstSlotValue(value, slots, model)
  }
}

function firstSlotValue(element: FhirElement, slots: readonly TypedSlot[], model: TypeModel): Value {
  for (const slot of slots) {
    const found = slotValue(element, slot, model)
    if (found !== null) return found
  }
  return slots[0]?.isCollection === true ? [] : null
}

function slotValue(element: FhirElement, { jsonName, siblingName, isCollection, type }: TypedSlot, model: TypeModel): Value {
  const holder = element.type.kind === 'primitive' ? element.extra : element.json
  const [json, extra] = [memberOf(holder, jsonName), memberOf(holder, siblingName)]
  if ((json === undefined && extra === undefined) || type === undefined) return null
  if (!isCollection) return elementOf(json, extra, { type, model })
  const [items, extras] = [listOf(json), listOf(extra)]
  const elements: FhirElement[] = []
  for (let index = 0; index < Math.max(items.length, extras.length); index++) {
    const element = elementOf(items[index], extras[index], { type, model })
    if (element !== null) elements.push(element)
  }
  return elements
}

/** The items of a repeating element; content with a single value instead of a list is accepted. */
function listOf(json: unknown): readonly unknown[] {
  if (json === undefined || json === null) return []
  return Array.isArray(json) ? json : [json]
}

function elementOf(
  json: unknown,
  extra: unknown,
  { type, model }: { readonly type: TypeDefinition; readonly model: TypeModel },
): FhirElement | null {
  if (type.kind === 'resource') return resourceElement(model, json) ?? null
  if (extra !== undefined && extra !== null) return { kind: 'fhir', type, json: json ?? undefined, extra }
  return { kind: 'fhir', type, json: json ?? undefined }
}

/** A member of a JSON object; `undefined` if the value is not an object or does not have it. */
export function memberOf(json: unknown, name: string): unknown {
  if (!isRecord(json)) return undefined
  const member = json[name]
  // Most requested members are absent; then nothing is inherited either, and the second check is not needed.
  return member !== undefined && Object.hasOwn(json, name) ? member : undefined
}

function isRecord(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null
}

/** The System value of a FHIR primitive; `undefined` for elements that are not primitive, null for one without a value. */
export function systemValueOf({ type, json }: FhirElement, offset: number): Value | undefined {
  if (type.kind !== 'primitive') return undefined
  if (typeof json === 'boolean') return json
  if (typeof json === 'number') return type.system === 'Integer' ? json : (decimalOfNumber(json) ?? null)
  if (typeof json !== 'string') return null
  if (type.system === 'Date') return parseDateTime(json, 0, 'date') ?? null
  if (type.system === 'DateTime') return parseDateTime(json, offset) ?? null
  return type.system === 'Time' ? (parseTime(json) ?? null) : json
}
