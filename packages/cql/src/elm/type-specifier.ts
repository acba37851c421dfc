import { localName, namespaceOf, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from './node.js'

/** The namespace of CQL's own types. */
export const SYSTEM = 'urn:hl7-org:elm-types:r1'

/** A type of CQL. */
export type TypeSpecifier =
  | { readonly kind: 'named'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'list'; readonly element: TypeSpecifier }
  | { readonly kind: 'interval'; readonly point: TypeSpecifier }
  | { readonly kind: 'choice'; readonly choices: readonly TypeSpecifier[] }
  | { readonly kind: 'tuple' }

/** Reads a type specifier node. */
export function readTypeSpecifier(node: ElmNode): TypeSpecifier {
  switch (typeOf(node)) {
    case 'ListTypeSpecifier':
      return { kind: 'list', element: specifierAt(node, 'elementType') }
    case 'IntervalTypeSpecifier':
      return { kind: 'interval', point: specifierAt(node, 'pointType') }
    case 'ChoiceTypeSpecifier':
      return { kind: 'choice', choices: [...nodesAt(node, 'choice'), ...nodesAt(node, 'type')].map(readTypeSpecifier) }
    case 'TupleTypeSpecifier':
      return { kind: 'tuple' }
    default:
      return namedType(textAt(node, 'name') ?? `{${SYSTEM}}Any`)
  }
}

/** The type with a qualified name. */
export function namedType(qualified: string): TypeSpecifier {
  return { kind: 'named', namespace: namespaceOf(qualified), name: localName(qualified) }
}

/** The static type of an expression, where the translator wrote it down. */
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

function specifierAt(node: ElmNode, member: string): TypeSpecifier {
  const part = nodeAt(node, member)
  return part === undefined ? { kind: 'named', namespace: SYSTEM, name: 'Any' } : readTypeSpecifier(part)
}
