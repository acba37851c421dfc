import type { TypeModel } from 'fhir-ops/fhirpath'
import { isSubtype } from 'fhir-ops/internal/fhirpath'
import { isSystem, SYSTEM, type TupleElements, type TypeSpecifier } from '../elm/type-specifier.js'
import { isElementOfType } from '../model/fhir-types.js'
import { isFhir, isInterval, isList, isTuple, kindOf, type Interval, type Tuple, type Value } from '../values/value.js'

/** Whether a value is of a type. */
export function isOfType(value: Value, type: TypeSpecifier, model: TypeModel): boolean {
  switch (type.kind) {
    case 'list':
      return isList(value) && value.every((item) => item === null || isOfType(item, type.element, model))
    case 'interval':
      return isInterval(value) && fitsPoint(value, type.point, model)
    case 'choice':
      return type.choices.some((choice) => isOfType(value, choice, model))
    case 'tuple':
      return isTuple(value) && fitsElements(value, type.elements, model)
    case 'named':
      return isOfNamedType(value, type.namespace, type.name, model)
  }
}

/** Whether all values of a type are of another. */
export function isWithin(type: TypeSpecifier, other: TypeSpecifier, model: TypeModel): boolean {
  if (isSystem(other, 'Any')) return true
  if (type.kind === 'choice') return type.choices.every((choice) => isWithin(choice, other, model))
  if (other.kind === 'choice') return other.choices.some((choice) => isWithin(type, choice, model))
  if (type.kind === 'list' && other.kind === 'list') return isWithin(type.element, other.element, model)
  if (type.kind === 'interval' && other.kind === 'interval') return isWithin(type.point, other.point, model)
  if (type.kind !== 'named' || other.kind !== 'named') return JSON.stringify(type) === JSON.stringify(other)
  if (type.namespace !== other.namespace) return false
  const definition = type.namespace === SYSTEM ? undefined : model.type(type.name)
  return type.name === other.name || (definition !== undefined && isSubtype(model, definition, other.name))
}

/** The type in which any FHIR value is of a type that the model does not know: the values do not tell of which profile they are. */
export function widened(type: TypeSpecifier, model: TypeModel): TypeSpecifier {
  switch (type.kind) {
    case 'list':
      return { ...type, element: widened(type.element, model) }
    case 'interval':
      return { ...type, point: widened(type.point, model) }
    case 'choice':
      return { ...type, choices: type.choices.map((choice) => widened(choice, model)) }
    case 'tuple':
      return { ...type, elements: type.elements.map(([name, element]) => [name, widened(element, model)] as const) }
    case 'named':
      return type.namespace === SYSTEM || model.type(type.name) !== undefined ? type : ANY_OF_FHIR
  }
}

const ANY_OF_FHIR: TypeSpecifier = {
  kind: 'choice',
  choices: ['Resource', 'Element'].map((name) => ({ kind: 'named', namespace: 'http://hl7.org/fhir', name })),
}

/** Whether a tuple has exactly the elements of a type. Null is of every type. */
function fitsElements({ elements }: Tuple, types: TupleElements, model: TypeModel): boolean {
  if (elements.size !== types.length) return false
  for (const [name, type] of types) {
    const value = elements.get(name)
    if (value === undefined || (value !== null && !isOfType(value, type, model))) return false
  }
  return true
}

function isOfNamedType(value: Value, namespace: string, name: string, model: TypeModel): boolean {
  if (namespace !== SYSTEM) return isFhir(value) && isElementOfType(model, value, name)
  if (name === 'Any') return true
  if (name === 'Vocabulary') return kindOf(value) === 'valueSet' || kindOf(value) === 'codeSystem'
  return Object.hasOwn(KINDS, name) && KINDS[name] === kindOf(value)
}

function fitsPoint({ low, high, pointType }: Interval, type: TypeSpecifier, model: TypeModel): boolean {
  const point = low ?? high
  if (point !== null) return isOfType(point, type, model)
  return pointType === undefined || (type.kind === 'named' && (type.name === pointType || type.name === 'Any'))
}

const KINDS: Readonly<Record<string, string>> = {
  Boolean: 'boolean',
  Integer: 'integer',
  Long: 'long',
  Decimal: 'decimal',
  String: 'string',
  Date: 'date',
  DateTime: 'dateTime',
  Time: 'time',
  Quantity: 'quantity',
  Ratio: 'ratio',
  Code: 'code',
  Concept: 'concept',
  ValueSet: 'valueSet',
  CodeSystem: 'codeSystem',
}
