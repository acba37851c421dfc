import type { NearMiss, ReasonStep } from 'fhir-ops/internal/explain'
import { nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { missOf, operandNodes, quote } from './comparison.js'
import type { Because, ReasonScope } from './reason-scope.js'
import { queryReason, retrieveReason } from './found-reason.js'
import { shownValue } from './shown-value.js'
import type { Entry } from './trace.js'

/** Maximum number of steps of one reason. */
export const MAX_STEPS = 60
/** Maximum number of near misses of one reason. */
export const MAX_NEAREST = 5
/** Maximum number of operands that decide together and are all named. */
const MAX_TOLD = 3

type Rule = (entry: Entry, scope: ReasonScope) => Because

/** Finds what decides the value of a node, down to the retrieve, comparison or absent element. */
export function because(entry: Entry, scope: ReasonScope): Because {
  if (scope.left.steps-- <= 0) return leaf(entry, scope, 'what decides this is nested too deep to be followed')
  const rule = RULES.get(typeOf(entry.of.node)) ?? comparison
  return rule(entry, scope)
}

/** A step for a node. */
function stepFor(entry: Entry, { texts, context, definitions }: ReasonScope, kind: ReasonStep['kind'] = 'clause'): ReasonStep {
  const { node, library } = entry.of
  const [text, result] = [texts.of(node, library), entry.count > 1 ? `${entry.count} items` : shownValue(entry.value, context)]
  const locator = textAt(node, 'locator')
  return {
    kind,
    result,
    library: definitions.libraries.find(({ id }) => id === library)?.name ?? library,
    ...(locator !== undefined && { locator }),
    text: `${quote(text)} is ${result}.`,
  }
}

/** A node that is not explained further. */
function leaf(entry: Entry, scope: ReasonScope, detail: string): Because {
  return { links: [linkOf(entry, scope)], detail, nearest: [], steps: [stepFor(entry, scope)] }
}

function linkOf(entry: Entry, { texts, context }: ReasonScope): string {
  return `${quote(texts.of(entry.of.node, entry.of.library))} is ${entry.count > 0 ? 'not empty' : shownValue(entry.value, context)}`
}

/** An inner reason, with the node that contains it. */
function through(entry: Entry, inner: Because, scope: ReasonScope, named: 'named' | 'unnamed' = 'named'): Because {
  return {
    links: named === 'named' ? [linkOf(entry, scope), ...inner.links] : inner.links,
    detail: inner.detail,
    nearest: inner.nearest,
    steps: [stepFor(entry, scope), ...inner.steps].slice(0, MAX_STEPS),
  }
}

/** Combines several reasons that hold together. */
function together(entry: Entry, all: readonly Because[], scope: ReasonScope): Because {
  const [only] = all
  if (only === undefined) return leaf(entry, scope, 'nothing of it was evaluated')
  if (all.length === 1) return through(entry, only, scope, 'unnamed')
  const details = all.slice(0, MAX_TOLD).map(({ links, detail }) => {
    const last = links.at(-1)
    return last === undefined || (detail !== '' && last.endsWith(' is not empty'))
      ? detail
      : [last, detail].filter((text) => text !== '').join(': ')
  })
  return {
    links: [linkOf(entry, scope)],
    detail: `${details.join('; ')}${all.length > MAX_TOLD ? `; and ${all.length - MAX_TOLD} more` : ''}`,
    nearest: all.flatMap(({ nearest }) => nearest).slice(0, MAX_NEAREST),
    steps: [stepFor(entry, scope), ...all.flatMap(({ steps }) => steps)].slice(0, MAX_STEPS),
  }
}

function childAt({ children }: Entry, node: ElmNode | undefined): Entry | undefined {
  return node === undefined ? undefined : children.find(({ of }) => of.node === node)
}

function operands(entry: Entry): readonly Entry[] {
  return nodesAt(entry.of.node, 'operand').flatMap((node) => childAt(entry, node) ?? [])
}

/** For `and`, an operand that is false decides, otherwise one that is null; if the result is true, all operands decide. */
const conjunction: Rule = (entry, scope) => {
  const all = operands(entry)
  if (entry.value === true)
    return together(
      entry,
      flat(all, 'And').map((one) => because(one, scope)),
      scope,
    )
  const deciding = all.find(({ value }) => value === entry.value) ?? all.at(-1)
  return deciding === undefined ? leaf(entry, scope, '') : through(entry, because(deciding, scope), scope, 'unnamed')
}

/** For `or`, an operand that is true decides; if there is none, all operands decide. */
const disjunction: Rule = (entry, scope) => {
  const all = flat(operands(entry), 'Or')
  const deciding = entry.value === true ? all.find(({ value }) => value === true) : undefined
  if (deciding !== undefined) return through(entry, because(deciding, scope), scope, 'unnamed')
  return together(
    entry,
    all.filter(({ value }) => entry.value !== null || value === null).map((one) => because(one, scope)),
    scope,
  )
}

function flat(all: readonly Entry[], type: string): readonly Entry[] {
  return all.flatMap((one) => (typeOf(one.of.node) === type ? flat(operands(one), type) : [one]))
}

const ofOperand: Rule = (entry, scope) => {
  const [operand] = operands(entry)
  const inner = operand ?? childAt(entry, nodeAt(entry.of.node, 'source'))
  return inner === undefined ? comparison(entry, scope) : through(entry, because(inner, scope), scope)
}

const conversion: Rule = (entry, scope) => {
  const [operand] = operands(entry)
  return operand === undefined ? comparison(entry, scope) : because(operand, scope)
}

const ofAll: Rule = (entry, scope) =>
  together(
    entry,
    operands(entry).map((one) => because(one, scope)),
    scope,
  )

/** A reference is explained by the expression of its definition, wherever that was evaluated first. */
const reference: Rule = (entry, scope) => {
  const { node, library } = entry.of
  const root = scope.definitions.referred(node, library)
  const target = root === undefined ? undefined : scope.tracer.firstOf(root)
  if (target === undefined) return leaf(entry, scope, '')
  const inner = because(target, scope)
  return {
    ...inner,
    links: [linkOf(entry, scope), ...inner.links],
    steps: [stepFor(entry, scope, 'definition'), ...inner.steps].slice(0, MAX_STEPS),
  }
}

/** A call is explained by the body of the function. */
const call: Rule = (entry, scope) => {
  if (scope.definitions.isHelper(entry.of.node, entry.of.library)) return conversion(entry, scope)
  const body = entry.children.findLast(({ of }) => scope.definitions.roots.has(of.node))
  return body === undefined ? comparison(entry, scope) : through(entry, because(body, scope), scope)
}

/** A conditional is explained by the branch that was taken. */
const branch: Rule = (entry, scope) => {
  const last = entry.children.at(-1)
  return last === undefined ? comparison(entry, scope) : through(entry, because(last, scope), scope)
}

const implication: Rule = (entry, scope) => {
  const all = operands(entry)
  const [first, second] = all
  const deciding = entry.value === true && first?.value === false ? first : second
  return deciding === undefined ? ofAll(entry, scope) : through(entry, because(deciding, scope), scope)
}

const property: Rule = (entry, scope) => {
  if (entry.value !== null && entry.count === 0) return leaf(entry, scope, '')
  return leaf(entry, scope, entry.value === null ? `${quote(scope.texts.of(entry.of.node, entry.of.library))} is absent` : '')
}

/** A comparison, or any other node, is explained by its operands. If an operand is a count of items, or absent, that is explained in turn. */
function comparison(entry: Entry, scope: ReasonScope): Because {
  const { node, library } = entry.of
  const locator = textAt(node, 'locator')
  const { missedBy, distance, detail } = missOf(entry, scope)
  const counted = operandNodes(node)
    .flatMap((operand) => childAt(entry, operand) ?? [])
    .find(({ of, value }) => value === null || typeOf(of.node) === 'Count')
  const inner = counted === undefined || counted.children.length === 0 ? undefined : because(counted.children[0] ?? counted, scope)
  const holds = entry.value === true || entry.count > 0
  const own: readonly NearMiss[] =
    holds || distance === undefined
      ? []
      : [{ missedBy, clause: scope.texts.of(node, library), ...(locator !== undefined && { locator }), distance, text: `${detail}.` }]
  return {
    links: [linkOf(entry, scope)],
    detail: inner === undefined || inner.detail === '' || inner.detail === detail ? detail : `${detail}: ${inner.detail}`,
    nearest: [...own, ...(inner?.nearest ?? [])].slice(0, MAX_NEAREST),
    steps: [stepFor(entry, scope), ...(inner?.steps ?? [])].slice(0, MAX_STEPS),
  }
}

const retrieve: Rule = (entry, scope) => {
  const { detail, nearest } = retrieveReason(entry, scope)
  return { links: [], detail, nearest, steps: [{ ...stepFor(entry, scope, 'retrieve'), text: `${detail}.` }] }
}

const query: Rule = (entry, scope) => {
  const { detail, nearest, inner } = queryReason(entry, scope, because)
  const details = [inner?.detail, detail].filter((text) => text !== undefined && text !== '').join('; ')
  return {
    links: inner?.links ?? [],
    detail: details,
    nearest: [...nearest, ...(inner?.nearest ?? [])].slice(0, MAX_NEAREST),
    steps: [{ ...stepFor(entry, scope, 'query'), ...(detail !== '' && { text: `${detail}.` }) }, ...(inner?.steps ?? [])].slice(
      0,
      MAX_STEPS,
    ),
  }
}

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['And', conjunction],
  ['Or', disjunction],
  ['Implies', implication],
  ['Xor', ofAll],
  ['ExpressionRef', reference],
  ['FunctionRef', call],
  ['Query', query],
  ['Retrieve', retrieve],
  ['Property', property],
  ['If', branch],
  ['Case', branch],
  ...['Exists', 'Not', 'IsTrue', 'IsFalse', 'IsNull', 'AnyTrue', 'AllTrue', 'SingletonFrom', 'First', 'Last', 'Max', 'Min'].map(
    (type) => [type, ofOperand] as const,
  ),
  ...[
    'As',
    'ToList',
    'Convert',
    'Distinct',
    'Flatten',
    'ToConcept',
    'ToDateTime',
    'ToDate',
    'ToDecimal',
    'ToQuantity',
    'ToString',
    'Sort',
  ].map((type) => [type, conversion] as const),
  ...['Coalesce', 'Union', 'Intersect', 'Except'].map((type) => [type, ofAll] as const),
])
