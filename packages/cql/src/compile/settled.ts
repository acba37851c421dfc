import { isNode, MAX_DEPTH, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'

/** What the value of a node follows from, beside what its library says: aliases and operands by their names, and the subject. */
export type Free = ReadonlySet<string>

/** Says of references what the analysis cannot know. */
export interface KnownReferences {
  /** Whether a reference is to the subject of the context. */
  isSubject(node: ElmNode): boolean
  /** Whether a call is one of FHIRHelpers. */
  isHelper(node: ElmNode): boolean
}

/** The subject among what a value follows from. */
export const SUBJECT = 'subject'

/** The name of an alias among what a value follows from. */
export const aliasNamed = (name: string): string => `alias ${name}`

/** The name of an operand among what a value follows from. */
export const operandNamed = (name: string): string => `operand ${name}`

/** Node types whose value follows from that of their parts. Neither parameters, retrieves, the time nor terminology are among them. */
const FOLLOWING: ReadonlySet<string> = new Set(
  `
    Null Literal Quantity Tuple Instance List Interval Code CodeRef Concept ConceptRef As Is ToBoolean
    ToConcept ToDate ToDateTime ToDecimal ToInteger ToList ToQuantity ToString And Or Not Xor Implies IsNull
    IsTrue IsFalse Coalesce If Case Equal NotEqual Equivalent Less LessOrEqual Greater GreaterOrEqual Start End
    In Contains IncludedIn Includes Overlaps OverlapsBefore OverlapsAfter Before After SameAs SameOrBefore
    SameOrAfter Add Subtract Multiply Divide Negate DateFrom DateTimeComponentFrom DurationBetween
    DifferenceBetween Exists SingletonFrom First Last Count Distinct Flatten
  `
    .trim()
    .split(/\s+/),
)

/** Members of nodes in which nothing is evaluated. */
const INERT: ReadonlySet<string> = new Set([
  'annotation',
  'asTypeSpecifier',
  'isTypeSpecifier',
  'resultTypeSpecifier',
  'signature',
  'trackback',
])

const NOTHING: Free = new Set()

/** Finds for nodes what their value follows from; `undefined` for one that may follow from anything else. */
export function freeNames(references: KnownReferences): (node: ElmNode) => Free | undefined {
  const known = new Map<ElmNode, Free | undefined>()
  const free = (node: ElmNode, depth: number): Free | undefined => {
    if (known.has(node)) return known.get(node)
    const found = depth > MAX_DEPTH ? undefined : freeIn(node, (part) => free(part, depth + 1), references)
    known.set(node, found)
    return found
  }
  return (node) => free(node, 0)
}

type Find = (part: ElmNode) => Free | undefined

function freeIn(node: ElmNode, find: Find, references: KnownReferences): Free | undefined {
  switch (typeOf(node)) {
    case 'AliasRef':
    case 'QueryLetRef':
      return new Set([aliasNamed(textAt(node, 'name') ?? '')])
    case 'OperandRef':
      return new Set([operandNamed(textAt(node, 'name') ?? '')])
    case 'ExpressionRef':
      return references.isSubject(node) ? new Set([SUBJECT]) : undefined
    case 'FunctionRef':
      return references.isHelper(node) ? together(nodesAt(node, 'operand'), find) : undefined
    case 'Property':
      return freeInProperty(node, find)
    case 'Query':
      return freeInQuery(node, find)
    case '':
      return freeInParts(node, find)
    default:
      return FOLLOWING.has(typeOf(node)) ? freeInParts(node, find) : undefined
  }
}

function freeInProperty(node: ElmNode, find: Find): Free | undefined {
  const source = nodeAt(node, 'source')
  if (source !== undefined) return find(source)
  const alias = textAt(node, 'scope')
  return alias === undefined ? undefined : new Set([aliasNamed(alias)])
}

function freeInParts(node: ElmNode, find: Find): Free | undefined {
  if (Object.hasOwn(node, 'libraryName')) return undefined
  const parts = Object.entries(node).flatMap(([member, value]) => (INERT.has(member) ? [] : Array.isArray(value) ? value : [value]))
  return together(parts.filter(isNode), find)
}

function together(parts: readonly ElmNode[], find: Find): Free | undefined {
  let all = NOTHING
  for (const part of parts) {
    const own = find(part)
    if (own === undefined) return undefined
    if (own.size > 0) all = all.size === 0 ? own : all.union(own)
  }
  return all
}

/** A name means the nearest query that has it. Relationships, aggregates and orders are not looked into. */
function freeInQuery(node: ElmNode, find: Find): Free | undefined {
  const others = ['relationship', 'aggregate', 'sort'].some((member) => nodesAt(node, member).length > 0)
  if (others) return undefined
  const bound = new Set<string>()
  let all = NOTHING
  const add = (part: ElmNode | undefined): boolean => {
    const own = part === undefined ? NOTHING : find(part)
    if (own !== undefined) all = all.union(own.difference(bound))
    return own !== undefined
  }
  for (const [member, name] of [
    ['source', 'alias'],
    ['let', 'identifier'],
  ] as const)
    for (const part of nodesAt(node, member)) {
      if (!add(nodeAt(part, 'expression'))) return undefined
      bound.add(aliasNamed(textAt(part, name) ?? ''))
    }
  return add(nodeAt(node, 'where')) && add(nodeAt(nodeAt(node, 'return') ?? {}, 'expression')) ? all : undefined
}
