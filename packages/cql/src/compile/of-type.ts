import type { TypeModel } from 'fhir-ops/fhirpath'
import { SYSTEM, type TupleElements, type TypeSpecifier } from '../elm/type-specifier.js'
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
