import { asType, isOfType, typeTest } from '../compile-type.js'
import { codeOfItems } from '../code.js'
import { isNode, type Item, type TypeInfo } from '../item.js'
import { systemTypeOf } from '../to-system.js'
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
