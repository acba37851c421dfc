import type { NearMiss } from 'fhir-ops/internal/explain'
import { nodeAt, nodesAt, textAt, type ElmNode } from '../elm/node.js'
import { isFhir, type Value } from '../values/value.js'
import { hoursOf, missOf, quote } from './comparison.js'
import type { Because, ReasonScope } from './reason-scope.js'
import { countText } from './retrieve-reason.js'
import { shownValue } from './shown-value.js'
import { conjunctsOf, idOf, within, type Entry, type Tally } from './trace.js'

/** Why a query gives what it gives. */
interface QueryReason {
  readonly detail: string
  readonly nearest: readonly NearMiss[]
  /** Where a source decides, why that is empty. */
  readonly inner?: Because
}

/** A condition of a query, with the alias of what it is about. */
interface Condition {
  readonly node: ElmNode
  readonly alias: string
  /** Where the condition is on a related item: where that comes from. */
  readonly source?: ElmNode | undefined
}

const MAX_NEAREST = 3

/**
 * Why a query gives nothing: a source is empty, or no item meets a condition. Then the items are named that meet most of its parts, with what
 * they lack; parts that were not evaluated, since another was false, are evaluated for them.
 */
export function queryReason(entry: Entry, scope: ReasonScope, because: (entry: Entry, scope: ReasonScope) => Because): QueryReason {
  const { node, library } = entry.of
  if (entry.count > 0) return { detail: `${quote(scope.texts.of(node, library))} gives ${itemsText(entry, scope)}`, nearest: [] }
  for (const source of nodesAt(node, 'source')) {
    const given = entry.children.find(({ of }) => of.node === nodeAt(source, 'expression'))
    if (given !== undefined && (given.value === null || isEmpty(given))) return { detail: '', nearest: [], inner: because(given, scope) }
  }
  for (const condition of conditionsIn(node)) {
    const tally = tallyOf(entry, condition.node)
    const related = entry.children.find(({ of }) => of.node === condition.source)
    if (tally === undefined && related !== undefined && (related.value === null || isEmpty(related)))
      return { detail: '', nearest: [], inner: because(related, scope) }
    if (tally !== undefined && tally.true === 0) return conditionReason(entry, { condition, tally }, scope, because)
  }
  return { detail: `${quote(scope.texts.of(node, library))} gives ${shownValue(entry.value, scope.context)}`, nearest: [] }
}

function isEmpty({ value, count }: Entry): boolean {
  return Array.isArray(value) && count === 0
}

function itemsText({ value, count }: Entry, { context }: ReasonScope): string {
  return `${count} ${count === 1 ? 'item' : 'items'}: ${shownValue(value, context)}`
}

/** The conditions in the order in which they are evaluated. */
function conditionsIn(node: ElmNode): readonly Condition[] {
  const related = nodesAt(node, 'relationship').flatMap((one): readonly Condition[] => {
    const suchThat = nodeAt(one, 'suchThat')
    return suchThat === undefined ? [] : [{ node: suchThat, alias: textAt(one, 'alias') ?? '', source: nodeAt(one, 'expression') }]
  })
  const where = nodeAt(node, 'where')
  return [...related, ...(where === undefined ? [] : [{ node: where, alias: textAt(nodesAt(node, 'source')[0] ?? {}, 'alias') ?? '' }])]
}

function tallyOf({ tallies }: Entry, node: ElmNode): Tally | undefined {
  return [...(tallies ?? [])].find(([of]) => of.node === node)?.[1]
}

interface Failed {
  readonly condition: Condition
  readonly tally: Tally
}

/** An item with the parts of the condition that it does not meet. */
interface Row {
  readonly item: Value
  readonly missing: readonly Entry[]
}

function conditionReason(
  entry: Entry,
  { condition, tally }: Failed,
  scope: ReasonScope,
  because: (entry: Entry, scope: ReasonScope) => Because,
): QueryReason {
  const { library } = entry.of
  const rows = entry.children
    .filter(({ of }) => of.node === condition.node)
    .map((row) => rowOf(row, condition, scope))
    .toSorted((one, other) => one.missing.length - other.missing.length || distanceOf(one, scope) - distanceOf(other, scope))
  const common = rows[0]?.missing.find(({ of }) => rows.every(({ missing }) => missing.some((other) => other.of.node === of.node)))
  const failed = common?.of.node ?? condition.node
  const nearest = rows.slice(0, MAX_NEAREST).flatMap((row) => missesOf(row, scope, because))
  const first = nearest[0]
  const source = sourceText(entry, condition, scope)
  const items = countText(tally.total, typeName(rows[0]?.item ?? null))
  const verb = tally.null > 0 && tally.false === 0 ? 'it is unknown whether one meets' : 'none meets'
  return {
    detail: `${items}${source}, ${verb} ${quote(scope.texts.of(failed, library))}${first === undefined ? '' : `; nearest is ${first.text.replace(/\.$/, '')}`}`,
    nearest,
  }
}

function sourceText({ of }: Entry, { source, alias }: Condition, { texts }: ReasonScope): string {
  const own = nodesAt(of.node, 'source').find((one) => textAt(one, 'alias') === alias)
  const expression = source ?? nodeAt(own ?? {}, 'expression')
  return expression === undefined ? '' : ` of ${quote(texts.of(expression, of.library))}`
}

function typeName(item: Value): string {
  return item !== null && isFhir(item) ? item.type.name : 'item'
}

function rowOf(row: Entry, { alias }: Condition, { tracer, evaluation }: ReasonScope): Row {
  const { slots = [], of } = row
  const slot = of.scope.aliases.get(alias)
  const missing = conjunctsOf(of.node).flatMap((node) => {
    const evaluated = within(row, node) ?? tracer.again(node, slots, evaluation)
    return evaluated === undefined || evaluated.value === true ? [] : [evaluated]
  })
  return { item: slot === undefined ? null : (slots[slot] ?? null), missing }
}

function distanceOf({ missing: [first] }: Row, scope: ReasonScope): number {
  if (first === undefined) return 0
  const { distance, missedBy } = missOf(first, scope)
  return missedBy === 'absent' ? Infinity : hoursOf(distance)
}

/** What an item lacks, part by part. */
function missesOf({ item, missing }: Row, scope: ReasonScope, because: (entry: Entry, scope: ReasonScope) => Because): readonly NearMiss[] {
  const resource = item !== null && isFhir(item) && item.type.kind === 'resource' ? idOf(item) : undefined
  const [only] = missing
  if (only === undefined) return []
  const misses = missing.slice(0, 3).map((part) => ({ part, ...partMiss(part, scope, because) }))
  const [first] = misses
  const locator = textAt(only.of.node, 'locator')
  return [
    {
      ...(resource !== undefined && { resource }),
      missedBy: first?.missedBy ?? 'condition',
      clause: scope.texts.of(only.of.node, only.of.library),
      ...(locator !== undefined && { locator }),
      ...(first?.distance !== undefined && { distance: first.distance }),
      text: `${resource ?? shownValue(item, scope.context)}: ${misses.map(({ detail }) => detail).join(', and ')}.`,
    },
  ]
}

/** A comparison is described as it is, everything else by what decides it. */
function partMiss(part: Entry, scope: ReasonScope, because: (entry: Entry, scope: ReasonScope) => Because): ReturnType<typeof missOf> {
  const own = missOf(part, scope)
  if (own.missedBy !== 'condition' && own.missedBy !== 'value') return own
  const { detail, nearest } = because(part, scope)
  const [near] = nearest
  return detail === ''
    ? own
    : {
        missedBy: near?.missedBy ?? own.missedBy,
        detail,
        ...((near?.distance ?? own.distance) !== undefined && { distance: near?.distance ?? own.distance }),
      }
}
