import { quoted } from '../../errors/index.js'
import { codeOfItems, codeOfTruth, type Code } from '../code.js'
import { isNode, systemTypeOf, type Item, type SystemValue, type TypeInfo } from '../item.js'
import type { TypeSpecifier } from '../parser.js'
import { isSubtype, SYSTEM_TYPE_NAMES, type TypeModel } from '../model.js'
import { evaluationProblem } from '../problem.js'
import { itemsFunction, type Call, type FunctionDefinition } from './definition.js'

/** Functions on types. @see https://hl7.org/fhirpath/N1/#types */
export const TYPE_FUNCTIONS: readonly FunctionDefinition[] = [
  { name: 'is', arity: [1, 1], takesType: true, compile: ({ input, type, model }) => isOfType(input, named(type), model) },
  { name: 'as', arity: [1, 1], takesType: true, compile: ({ input, type, model }) => asType(input, named(type), model) },
  {
    name: 'ofType',
    arity: [1, 1],
    takesType: true,
    compile: ({ input, type, model }) => {
      const test = typeTest(named(type), model)
      return codeOfItems((scope) => input.items(scope).filter(test))
    },
  },
  itemsFunction('type', [0, 0], (input) => input.map(typeInfo)),
]

function named(type: Call['type']): NonNullable<Call['type']> {
  return type ?? { name: '' }
}

function typeInfo(item: Item): TypeInfo {
  if (isNode(item)) {
    const isBackbone = item.type.name.includes('.')
    const name = isBackbone ? (item.type.base ?? 'BackboneElement') : item.type.name
    return { kind: 'type', namespace: 'FHIR', name, baseType: `FHIR.${item.type.base ?? 'Any'}` }
  }
  const name = typeof item === 'object' && item.kind === 'type' ? 'TypeInfo' : systemTypeOf(item)
  return { kind: 'type', namespace: 'System', name, baseType: 'System.Any' }
}

const SYSTEM_TYPES: ReadonlySet<string> = new Set(SYSTEM_TYPE_NAMES)

/** Compiles a test whether the single item of `operand` is of a type; empty when there is none. */
export function isOfType(operand: Code, type: TypeSpecifier, model: TypeModel): Code {
  const test = typeTest(type, model)
  return codeOfTruth((scope) => {
    const items = operand.items(scope)
    const [item] = items
    if (items.length > 1) throw evaluationProblem(`'is' needs a single item, but there are ${items.length}`)
    return item === undefined ? undefined : test(item)
  })
}

/**
 * Compiles a filter for the items of `operand` that are of a type. R4's expressions apply `as` to collections, so several items are allowed, and they
 * use names of System types for primitive types, so `as String` also accepts a FHIR `string`.
 */
export function asType(operand: Code, type: TypeSpecifier, model: TypeModel): Code {
  const test = typeTest(type, model)
  const primitive =
    type.namespace === undefined && SYSTEM_TYPES.has(type.name) ? type.name.charAt(0).toLowerCase() + type.name.slice(1) : undefined
  return codeOfItems((scope) => operand.items(scope).filter((item) => test(item) || (isNode(item) && item.type.name === primitive)))
}

/**
 * Creates the test for a type. A name without namespace is a FHIR type if the model has one, otherwise a System type. No item is of an unknown
 * `System` type.
 *
 * @throws {OperationError} `fhirpath-invalid` for any other unknown name.
 */
function typeTest({ namespace, name }: TypeSpecifier, model: TypeModel): (item: Item) => boolean {
  const isFhir = namespace !== 'System' && model.type(name) !== undefined
  const isSystem = SYSTEM_TYPES.has(name) && namespace !== 'FHIR'
  if (!isFhir && !isSystem && namespace !== 'System') {
    throw evaluationProblem(`there is no type ${quoted(namespace === undefined ? name : `${namespace}.${name}`)}`)
  }
  return (item) =>
    isNode(item) ? isFhir && isSubtype(model, item.type, name) : isSystem && isSystemValue(item) && systemTypeOf(item) === name
}

function isSystemValue(item: Item): item is SystemValue {
  return typeof item !== 'object' || (item.kind !== 'node' && item.kind !== 'type')
}
