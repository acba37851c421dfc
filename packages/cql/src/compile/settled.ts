import { isNode, MAX_DEPTH, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { isFhir, type Value } from '../values/value.js'
import type { Compute, Evaluation, KeptValues, References, Scope } from './compiler.js'

/** The place of an expression in its library. */
export interface ExpressionPlace {
  readonly scope: Scope
  readonly references: Pick<References, 'isHelper' | 'isSubject'>
}

/** The resources on which a value depends: items of enclosing queries, by their alias, and the subject. */
interface Needs {
  readonly aliases: readonly string[]
  readonly subject: boolean
}

/** Finds expressions that depend on one resource alone: an item of a query, or the subject. */
export interface Settled {
  /** Returns a function that reads the only resource on which the value of an expression depends; `undefined` for all other expressions. */
  resourceOf(node: ElmNode, place: ExpressionPlace): ((evaluation: Evaluation) => Value) | undefined
}

const known = new Map<string, Settled>()

/** The result is the same for all compilations of a library for subjects of a type, so it is shared: the search takes a quarter of the time of compiling. */
export function settledFor(subjectType: string): Settled {
  const settled = known.get(subjectType) ?? createSettled()
  known.set(subjectType, settled)
  return settled
}

function createSettled(): Settled {
  const found = new WeakMap<ElmNode, Needs | 'more'>()
  const needsOf: FindNeeds = (node, references, depth) => {
    const needs =
      found.get(node) ?? (depth > MAX_DEPTH ? 'more' : needsIn(node, references, (part) => needsOf(part, references, depth + 1)))
    found.set(node, needs)
    return needs
  }
  return {
    resourceOf: (node, { scope, references }) => {
      // These nodes only refer to values that exist already.
      if (typeOf(node) === 'AliasRef' || typeOf(node) === 'ExpressionRef') return undefined
      const needs = needsOf(node, references, 0)
      if (needs === 'more') return undefined
      const {
        aliases: [alias, ...others],
        subject,
      } = needs
      if (subject) return alias === undefined ? (evaluation) => evaluation.subject : undefined
      const slot = alias === undefined || others.length > 0 ? undefined : scope.aliases.get(alias)
      return slot === undefined ? undefined : ({ slots }) => slots[slot] ?? null
    },
  }
}

type FindNeeds = (node: ElmNode, references: ExpressionPlace['references'], depth: number) => Needs | 'more'

/** Wraps an expression so that its value is kept with the resource on which it depends, if that resource is kept. */
export function keptValue(compute: Compute, node: ElmNode, resourceOf: (evaluation: Evaluation) => Value): Compute {
  let known: KeptValues | undefined
  let place = 0
  return (evaluation) => {
    const { keptValues } = evaluation
    const resource = keptValues === undefined ? null : resourceOf(evaluation)
    const values = isFhir(resource) ? resource.values : undefined
    if (keptValues === undefined || values === undefined) return compute(evaluation)
    if (keptValues !== known) {
      known = keptValues
      place = keptValues.placeOf(node)
    }
    const before = values[place]
    if (before !== undefined) return before
    const value = compute(evaluation)
    keptValues.keep(values, place, value)
    return value
  }
}

const NOTHING: Needs = { aliases: [], subject: false }

/** Nodes whose values depend only on their parts: not on parameters, the time, terminology, other resources or other libraries. */
const PLAIN: ReadonlySet<string> = new Set(
  [
    'And As Case Coalesce Code CodeRef CodeSystemRef Concatenate Concept ConceptRef Convert Count DateFrom DateTimeComponentFrom DifferenceBetween Distinct',
    'DurationBetween End Equal Equivalent Exists First Flatten Greater GreaterOrEqual If Implies In IncludedIn Instance Interval Is IsFalse IsNull IsTrue Last',
    'Less LessOrEqual List Literal Lower Max Min Not NotEqual Null Or Property Quantity Query SingletonFrom Start TimeFrom ToBoolean ToConcept ToDate',
    'ToDateTime ToDecimal ToInteger ToList ToQuantity ToString ToTime Tuple Union Upper ByColumn ByDirection',
    'ChoiceTypeSpecifier IntervalTypeSpecifier ListTypeSpecifier NamedTypeSpecifier TupleTypeSpecifier',
  ].flatMap((line) => line.split(' ')),
)

function needsIn(
  node: ElmNode,
  { isHelper, isSubject }: ExpressionPlace['references'],
  needsOf: (part: ElmNode) => Needs | 'more',
): Needs | 'more' {
  const type = typeOf(node)
  if (type === 'FunctionRef' && isHelper(node)) return needsOfParts(node, needsOf)
  if (textAt(node, 'libraryName') !== undefined) return 'more'
  if (type === 'AliasRef' || type === 'QueryLetRef') return { aliases: [textAt(node, 'name') ?? ''], subject: false }
  if (type === 'ExpressionRef') return isSubject(node) ? { aliases: [], subject: true } : 'more'
  // Sources, elements of tuples and other parts have no type.
  if (type !== '' && !PLAIN.has(type)) return 'more'
  if (type === 'Query') return needsOfQuery(node, needsOf)
  const scope = type === 'Property' ? textAt(node, 'scope') : undefined
  const needs = needsOfParts(node, needsOf)
  return scope === undefined ? needs : both({ aliases: [scope], subject: false }, needs)
}

function needsOfParts(node: ElmNode, needsOf: (part: ElmNode) => Needs | 'more', without?: string): Needs | 'more' {
  let all: Needs | 'more' = NOTHING
  for (const [member, value] of Object.entries(node)) {
    if (member === 'annotation' || member === without) continue
    for (const part of Array.isArray(value) ? value : [value]) if (isNode(part) && all !== 'more') all = both(all, needsOf(part))
  }
  return all
}

/** The needs of a query. Its source may refer to an item of an enclosing query that has the same alias as its own items. */
function needsOfQuery(node: ElmNode, needsOf: (part: ElmNode) => Needs | 'more'): Needs | 'more' {
  const [source, ...others] = nodesAt(node, 'source')
  const isPlain = others.length === 0 && nodesAt(node, 'relationship').length === 0 && nodeAt(node, 'aggregate') === undefined
  if (source === undefined || !isPlain) return 'more'
  const inner = needsOfParts(node, needsOf, 'source')
  const own = new Set([textAt(source, 'alias'), ...nodesAt(node, 'let').map((part) => textAt(part, 'identifier'))])
  const free = inner === 'more' ? inner : { ...inner, aliases: inner.aliases.filter((alias) => !own.has(alias)) }
  return both(needsOf(source), free)
}

/** Maximum number of names that are tracked. The value of one resource depends on fewer. */
const MANY = 8

function both(some: Needs | 'more', others: Needs | 'more'): Needs | 'more' {
  if (some === 'more' || others === 'more') return 'more'
  const aliases = others.aliases.length === 0 ? some.aliases : [...new Set([...some.aliases, ...others.aliases])]
  return aliases.length > MANY ? 'more' : { aliases, subject: some.subject || others.subject }
}
