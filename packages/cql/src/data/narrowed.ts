import type { TypeDefinition } from 'fhir-ops/internal/fhirpath'
import type { Narrowing, NarrowingDates, RetrieveRequest } from '../compile/compiler.js'
import { memberOf } from '../model/property.js'
import { parseDateTime, type Temporal } from '../values/temporal.js'
import type { FhirElement } from '../values/value.js'
import type { KeptSpans, Spans } from './kept-columns.js'

/** Whether the condition of a query may let a resource pass, as far as single elements tell. It looks at JSON only, at a fraction of what the condition costs. */
export type MayPass = (resource: FhirElement) => boolean

/** What may pass the condition of the query over a retrieve; `undefined` where that is everything. */
export type Narrower = (request: RetrieveRequest) => MayPass | undefined

/** @param spans Where the dates of resources that are kept are remembered. */
export function createNarrower(spans: KeptSpans): Narrower {
  const known = new WeakMap<readonly Narrowing[], MayPass>()
  return ({ type, narrowing = [] }) => {
    if (narrowing.length === 0) return undefined
    const before = known.get(narrowing)
    if (before !== undefined) return before
    const made = allOf(testsOf(narrowing, (path) => spans(type, path)))
    known.set(narrowing, made)
    return made
  }
}

/** Dates first, which are numbers. */
function testsOf(narrowing: readonly Narrowing[], spansAt: (path: string) => Spans): readonly MayPass[] {
  const byPath = [...Map.groupBy(narrowing, ({ path }) => path)]
  return [
    ...byPath.flatMap(([path, all]) => {
      const dates = all.flatMap((one) => one.dates ?? [])
      return dates.length === 0 ? [] : [testOfDates(path, dates, spansAt(path))]
    }),
    ...byPath.flatMap(([path, all]) => {
      const codes = all.flatMap((one) => (one.codes === undefined ? [] : [new Set<unknown>(one.codes)]))
      return codes.length === 0 ? [] : [testOfCodes(path, codes)]
    }),
  ]
}

function allOf(tests: readonly MayPass[]): MayPass {
  const [only, other] = tests
  if (only === undefined || other === undefined) return only ?? (() => true)
  if (tests.length === 2) return (resource) => only(resource) && other(resource)
  return (resource) => tests.every((test) => test(resource))
}

/** What is absent is not left out here: conditions on it are null. */
function testOfCodes(path: string, codes: readonly ReadonlySet<unknown>[]): MayPass {
  let known: TypeDefinition | undefined
  let member: string | undefined
  return ({ type, json }) => {
    if (type !== known) {
      member = codeMember(type, path)
      known = type
    }
    const value = member === undefined ? undefined : memberOf(json, member)
    return typeof value !== 'string' || codes.every((all) => all.has(value))
  }
}

/** The member in JSON of an element that is a code, of which there is at most one. */
function codeMember({ elements }: TypeDefinition, path: string): string | undefined {
  const [slot, ...others] = elements.get(path) ?? []
  return slot !== undefined && others.length === 0 && slot.type === 'code' && !slot.isCollection ? slot.jsonName : undefined
}

/** Offsets make up to a day, comparisons by days another one. */
const MARGIN_MS = 3 * 86_400_000

function testOfDates(path: string, dates: readonly NarrowingDates[], spans: Spans): MayPass {
  const from = Math.max(...dates.map((one) => one.from ?? -Infinity)) - MARGIN_MS
  const to = Math.min(...dates.map((one) => one.to ?? Infinity)) + MARGIN_MS
  return (resource) => {
    const { at } = resource
    if (at === undefined) return true
    const last = spans.ends[at]
    if (last !== undefined && !Number.isNaN(last)) return last >= from && (spans.starts[at] ?? to) <= to
    const [start, end] = spanOf(resource, path)
    spans.set(at, start, end)
    return end >= from && start <= to
  }
}

/** The first and the last moment that a date, or a period, may have; without end where it has none that can be read. */
function spanOf({ type, json }: FhirElement, path: string): readonly [start: number, end: number] {
  for (const { jsonName } of type.elements.get(path) ?? []) {
    const value = memberOf(json, jsonName)
    if (value === undefined) continue
    const isMoment = typeof value === 'string'
    return [
      momentOf(isMoment ? value : memberOf(value, 'start'))?.low ?? -Infinity,
      momentOf(isMoment ? value : memberOf(value, 'end'))?.high ?? Infinity,
    ]
  }
  return [-Infinity, Infinity]
}

function momentOf(text: unknown): Temporal | undefined {
  return typeof text === 'string' ? parseDateTime(text, 0) : undefined
}
