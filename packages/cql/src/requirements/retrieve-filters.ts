import type { Coding, DataRequirementCodeFilter, DataRequirementDateFilter, Period } from 'fhir/r4.js'
import type { RequiredData } from 'fhir-ops/internal/evaluate'
import type { Filter } from '../compile/compiler.js'
import { conjunctsOf, elementOf } from '../compile/narrowing.js'
import { isHelperCall } from '../elm/library.js'
import { localName, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { canonicalOfRef, definedIn, unitOf, type References, type Unit } from './units.js'

/** Returns the value of an expression that is a period, if no data determines it. */
export type PeriodReader = (node: ElmNode, unit: Unit) => Period | undefined

interface RetrievePlace {
  readonly unit: Unit
  readonly periodOf: PeriodReader
  /** The condition of the query over the retrieve. */
  readonly filter: Filter | undefined
}

/** Converts a retrieve to a DataRequirement, with its codes and dates as far as the ELM states them. */
export function requirementOf(references: References, node: ElmNode, { unit, periodOf, filter }: RetrievePlace): RequiredData {
  const profile = textAt(node, 'templateId')
  const codeFilter = codeFilterOf(references, node, unit)
  const dateFilter = rangeOf(node, { unit, periodOf }) ?? (filter && conditionOf(filter, { unit, periodOf }))
  return {
    type: localName(textAt(node, 'dataType') ?? ''),
    ...(profile !== undefined && { profile: [profile] }),
    ...(codeFilter !== undefined && { codeFilter: [codeFilter] }),
    ...(dateFilter !== undefined && { dateFilter: [dateFilter] }),
  }
}

function codeFilterOf(references: References, node: ElmNode, unit: Unit): DataRequirementCodeFilter | undefined {
  const [path, codes] = [textAt(node, 'codeProperty'), nodeAt(node, 'codes')]
  if (path === undefined || codes === undefined) return undefined
  const stated = LISTING.has(typeOf(codes)) ? (nodeAt(codes, 'operand') ?? codes) : codes
  if (typeOf(stated) === 'ValueSetRef') {
    const valueSet = canonicalOfRef(references, stated, { unit, section: 'valueSets' })
    return valueSet === undefined ? undefined : { path, valueSet }
  }
  const code = codingsOf(references, stated, unit)
  return code.length === 0 ? undefined : { path, code: [...code] }
}

const LISTING: ReadonlySet<string> = new Set(['ToList', 'ExpandValueSet'])

/** The codes that a node names: one code, those of a concept, or those of a list of codes; empty for any other expression. */
export function codingsOf(references: References, node: ElmNode, unit: Unit): readonly Coding[] {
  switch (typeOf(node)) {
    case 'CodeRef': {
      const target = unitOf(references, node, unit)
      return definedIn(target, 'codes', node).map((def) =>
        codingOf(references, def, { unit: target ?? unit, system: 'codeSystem', code: 'id' }),
      )
    }
    case 'Code':
      return [codingOf(references, node, { unit, system: 'system', code: 'code' })]
    case 'ConceptRef': {
      const target = unitOf(references, node, unit)
      return definedIn(target, 'concepts', node).flatMap((def) =>
        nodesAt(def, 'code').flatMap((code) => codingsOf(references, { ...code, type: 'CodeRef' }, target ?? unit)),
      )
    }
    case 'Property':
      return textAt(node, 'path') === 'codes' ? codingsOf(references, nodeAt(node, 'source') ?? {}, unit) : []
    case 'List':
      return nodesAt(node, 'element').flatMap((element) => codingsOf(references, element, unit))
    default:
      return []
  }
}

interface CodePlace {
  readonly unit: Unit
  /** Member with the reference to the code system. */
  readonly system: string
  readonly code: string
}

function codingOf(references: References, node: ElmNode, { unit, system, code }: CodePlace): Coding {
  const ref = nodeAt(node, system)
  const canonical = ref === undefined ? undefined : canonicalOfRef(references, ref, { unit, section: 'codeSystems' })
  const [url, version] = canonical?.split('|') ?? []
  const [text, display] = [textAt(node, code), textAt(node, 'display')]
  return {
    ...(url !== undefined && { system: url }),
    ...(version !== undefined && { version }),
    ...(text !== undefined && { code: text }),
    ...(display !== undefined && { display }),
  }
}

type PeriodPlace = Pick<RetrievePlace, 'periodOf' | 'unit'>

/** The date range of a retrieve, with its value if no data determines it. */
function rangeOf(node: ElmNode, { unit, periodOf }: PeriodPlace): DataRequirementDateFilter | undefined {
  const [path, range] = [textAt(node, 'dateProperty'), nodeAt(node, 'dateRange')]
  if (path === undefined || range === undefined) return undefined
  const valuePeriod = periodOf(range, unit)
  return { path, ...(valuePeriod !== undefined && { valuePeriod }) }
}

/** The date filter of a condition that an element, or the start or end of one, is within a period that no data determines: `E.period during "Measurement Period"`. */
function conditionOf({ where, alias }: Filter, { unit, periodOf }: PeriodPlace): DataRequirementDateFilter | undefined {
  const reading = { alias, references: { isHelper: (node: ElmNode) => isHelperCall(unit.node, node) } }
  for (const node of conjunctsOf(where)) {
    const [element, range] = WITHIN.has(typeOf(node)) ? nodesAt(node, 'operand') : []
    const [whole, valuePeriod] = [element && elementOf(element, reading), range && periodOf(range, unit)]
    const path = element && whole && [whole, boundIn(element)].join('')
    if (path !== undefined && valuePeriod !== undefined && isOfWhole(textAt(node, 'precision'), valuePeriod)) return { path, valuePeriod }
  }
  return undefined
}

/** The path of the bound that a node reads of a period: a period that starts within another need not be within it. */
function boundIn(node: ElmNode): string {
  const bound = BOUNDS.get(typeOf(node))
  const [only] = nodesAt(node, 'operand')
  return bound ?? (only === undefined ? '' : boundIn(only))
}

const BOUNDS: ReadonlyMap<string, string> = new Map([
  ['Start', '.start'],
  ['End', '.end'],
])

/** Whether being within a period at a precision means being within the period itself. It does for days, if the bounds of the period have no time. */
function isOfWhole(precision: string | undefined, { start, end }: Period): boolean {
  return precision === undefined || (precision === 'Day' && [start, end].every((bound) => bound?.includes('T') !== true))
}

const WITHIN: ReadonlySet<string> = new Set(['In', 'IncludedIn'])
