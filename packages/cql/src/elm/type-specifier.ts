import { invalidElm } from '../problem.js'
import { localName, namespaceOf, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from './node.js'

/** The namespace of CQL's own types. */
export const SYSTEM = 'urn:hl7-org:elm-types:r1'

/** The elements of a tuple type, sorted by name, so that equal types have equal texts. */
export type TupleElements = readonly (readonly [name: string, type: TypeSpecifier])[]

/** A type of CQL. */
export type TypeSpecifier =
  | { readonly kind: 'named'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'list'; readonly element: TypeSpecifier }
  | { readonly kind: 'interval'; readonly point: TypeSpecifier }
  | { readonly kind: 'choice'; readonly choices: readonly TypeSpecifier[] }
  | { readonly kind: 'tuple'; readonly elements: TupleElements }

/** Maximum nesting of a type. */
const MAX_TYPE_DEPTH = 100

/** Reads a type specifier node. @throws {OperationError} `definition-invalid` for a type that is nested more than 100 deep. */
export function readTypeSpecifier(node: ElmNode, depth = 1): TypeSpecifier {
  if (depth > MAX_TYPE_DEPTH) throw invalidElm(node, `Types may be nested ${MAX_TYPE_DEPTH} deep.`)
  switch (typeOf(node)) {
    case 'ListTypeSpecifier':
      return { kind: 'list', element: specifierAt(node, 'elementType', depth + 1) }
    case 'IntervalTypeSpecifier':
      return { kind: 'interval', point: specifierAt(node, 'pointType', depth + 1) }
    case 'ChoiceTypeSpecifier': {
      const choices = [...nodesAt(node, 'choice'), ...nodesAt(node, 'type')]
      return { kind: 'choice', choices: choices.map((choice) => readTypeSpecifier(choice, depth + 1)) }
    }
    case 'TupleTypeSpecifier':
      return { kind: 'tuple', elements: tupleElements(node, depth + 1) }
    default:
      return namedType(textAt(node, 'name') ?? `{${SYSTEM}}Any`)
  }
}

/** The type with a qualified name. */
export function namedType(qualified: string): TypeSpecifier {
  return { kind: 'named', namespace: namespaceOf(qualified), name: localName(qualified) }
}

/** The static type of an expression, if the translator wrote it. */
export function resultTypeOf(node: ElmNode): TypeSpecifier | undefined {
  const specifier = nodeAt(node, 'resultTypeSpecifier')
  if (specifier !== undefined) return readTypeSpecifier(specifier)
  const name = textAt(node, 'resultTypeName')
  return name === undefined ? undefined : namedType(name)
}

/** The type that an `As`, `Is`, `Convert` or similar node names. */
export function statedType(node: ElmNode, prefix: string): TypeSpecifier | undefined {
  const specifier = nodeAt(node, `${prefix}TypeSpecifier`)
  if (specifier !== undefined) return readTypeSpecifier(specifier)
  const name = textAt(node, `${prefix}Type`)
  return name === undefined ? undefined : namedType(name)
}

/** Whether a type is a System type of this name. */
export function isSystem(type: TypeSpecifier | undefined, name: string): boolean {
  return type?.kind === 'named' && type.namespace === SYSTEM && type.name === name
}

/** The elements of a tuple type. Older translators write the type of an element as `type`. */
function tupleElements(node: ElmNode, depth: number): TupleElements {
  const elements = nodesAt(node, 'element').map((element) => {
    const member = nodeAt(element, 'elementType') === undefined ? 'type' : 'elementType'
    return [textAt(element, 'name') ?? '', specifierAt(element, member, depth)] as const
  })
  return elements.toSorted(([one], [other]) => (one < other ? -1 : 1))
}

function specifierAt(node: ElmNode, member: string, depth: number): TypeSpecifier {
  const part = nodeAt(node, member)
  return part === undefined ? { kind: 'named', namespace: SYSTEM, name: 'Any' } : readTypeSpecifier(part, depth)
}
