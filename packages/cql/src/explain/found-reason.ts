import type { NearMiss } from 'fhir-ops/internal/explain'
import type { RetrieveRequest } from '../compile/compiler.js'
import { selected } from '../data/retrieve.js'
import { type ElmNode, nodeAt, nodesAt, textAt } from '../elm/node.js'
import { propertyOf } from '../model/property.js'
import { type FhirElement, type Value, isFhir, isList } from '../values/value.js'
import { gapBetween, hoursOf, missOf, quote } from './comparison.js'
import type { Because, ReasonScope } from './reason-scope.js'
import { shownValue, systemValue } from './shown-value.js'
import { type Entry, type Tally, conjunctsOf, idOf, within } from './trace.js'

/** Maximum number of resources that are compared to find near misses. */
const MAX_LOOKED_AT = 1_000
const MAX_NEAREST = 3

/** Describes what a retrieve found or, if it found nothing, which resources of its type exist and what they lack. */
export function retrieveReason(entry: Entry, scope: ReasonScope): { readonly detail: string; readonly nearest: readonly NearMiss[] } {
  const { node, library } = entry.of
  const text = scope.texts.of(node, library)
  const { request, value, count } = entry
  if (request === undefined) return { detail: `${quote(text)} was not evaluated`, nearest: [] }
  if (count > 0)
    return { detail: `${quote(text)} finds ${countText(count, request.type)}: ${shownValue(value, scope.context)}`, nearest: [] }
  const locator = textAt(node, 'locator')
  const place = { clause: text, ...(locator !== undefined && { locator }) }
  const all = scope.retrieve({ ...request, ...ANY, ofProfile: request.ofProfile })
  const ofType = all.length > 0 || request.ofProfile === undefined ? all : scope.retrieve({ ...request, ...ANY })
  if (all.length < ofType.length) return outsideOfProfile(ofType, request, place)
  if (all.length === 0) return { detail: `there is no ${request.type}${request.unfiltered ? '' : ' of the subject'}`, nearest: [] }
  const coded = request.codes === undefined ? all : selected(all.slice(0, MAX_LOOKED_AT), { ...request, dateRange: null }, scope.options)
  if (coded.length > 0) return outsideOfDates(coded, request, scope, place)
  const codes = nodeAt(node, 'codes')
  const wanted = codes === undefined ? 'the codes that are asked for' : scope.texts.of(codes, library)
  const nearest = all.slice(0, MAX_NEAREST).map((resource): NearMiss => {
    const code = codeOf(resource, request, scope)
    return {
      resource: idOf(resource),
      missedBy: 'code',
      ...place,
      text: `${idOf(resource)} has the code ${code}, which is not in ${wanted}.`,
    }
  })
  const first = nearest[0]
  return {
    detail: `${countText(all.length, request.type)}, none with a code of ${wanted}${first === undefined ? '' : `; ${stripped(first.text)}`}`,
    nearest,
  }
}

/** Overrides for a request that finds all resources of its type. */
const ANY = { codes: undefined, dateRange: null, ofProfile: undefined }

function outsideOfProfile(
  resources: readonly FhirElement[],
  { type, profile = '', ofProfile }: RetrieveRequest,
  place: Pick<NearMiss, 'clause' | 'locator'>,
): { readonly detail: string; readonly nearest: readonly NearMiss[] } {
  const nearest = resources.slice(0, MAX_NEAREST).map((resource): NearMiss => {
    const text = `${idOf(resource)}: ${quote(ofProfile?.missing(resource) ?? '')} is not as the profile asks.`
    return { resource: idOf(resource), missedBy: 'condition', ...place, text }
  })
  const first = nearest[0]
  return {
    detail: `${countText(resources.length, type)}, none of the profile ${profile}${first === undefined ? '' : `; ${stripped(first.text)}`}`,
    nearest,
  }
}

function outsideOfDates(
  coded: readonly FhirElement[],
  { type, codes, datePath = '', dateRange }: RetrieveRequest,
  { context }: ReasonScope,
  place: Pick<NearMiss, 'clause' | 'locator'>,
): { readonly detail: string; readonly nearest: readonly NearMiss[] } {
  const range = shownValue(dateRange, context)
  const dated = coded.map((resource) => {
    const date = datePath.split('.').reduce<Value>((value, name) => propertyOf(value, name, context.model, context.offset), resource)
    return { resource, date, gap: gapBetween(systemValue(date, context), dateRange) }
  })
  const nearest = dated
    .toSorted((one, other) => hoursOf(one.gap) - hoursOf(other.gap))
    .slice(0, MAX_NEAREST)
    .map(({ resource, date, gap }): NearMiss => {
      const shown = shownValue(date, context)
      const why =
        date === null
          ? `${datePath} is absent`
          : gap === undefined
            ? `${shown} is not known to be within ${range}`
            : `${shown} ${gap.words} ${range}`
      return {
        resource: idOf(resource),
        missedBy: date === null ? 'absent' : 'date',
        ...place,
        ...(gap !== undefined && { distance: { value: gap.value, unit: gap.unit } }),
        text: `${idOf(resource)}: ${why}.`,
      }
    })
  const first = nearest[0]
  return {
    detail: `${countText(coded.length, type)}${codes === undefined ? '' : ' with the code'}, none within ${range}${first === undefined ? '' : `; nearest is ${stripped(first.text)}`}`,
    nearest,
  }
}

function codeOf(resource: FhirElement, { codePath = 'code' }: RetrieveRequest, { context }: ReasonScope): string {
  const code = propertyOf(resource, codePath, context.model, context.offset)
  const first = isList(code) ? (code[0] ?? null) : code
  return first !== null && isFhir(first) && first.type.kind === 'resource' ? idOf(first) : shownValue(first, context)
}

/** `1 Observation`, `2 Observations`. */
function countText(count: number, type: string): string {
  const plural = type.endsWith('y') ? `${type.slice(0, -1)}ies` : type.endsWith('s') ? type : `${type}s`
  return `${count} ${count === 1 ? type : plural}`
}

function stripped(sentence: string): string {
  return sentence.replace(/\.$/, '')
}

/** The reason for the result of a query. */
interface QueryReason {
  readonly detail: string
  readonly nearest: readonly NearMiss[]
  /** Why a source is empty, if that decides. */
  readonly inner?: Because
}

/** A condition of a query, with the alias of the items that it tests. */
interface Condition {
  readonly node: ElmNode
  readonly alias: string
  /** For a condition on a related item, the source of that item. */
  readonly source?: ElmNode | undefined
}

/**
 * Explains why a query returns nothing: a source is empty, or no item meets a condition. In the latter case it names the items that meet most parts of the
 * condition, and what they lack; parts that were not evaluated because another was false are evaluated for these items.
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

/** The conditions of a query in the order of their evaluation. */
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

/** An item and the parts of the condition that it does not meet. */
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

/** Describes what an item lacks, part by part. */
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

/** Describes why a part does not hold: a comparison itself, anything else by the node that decides it. */
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
