import type { Narrowing, NarrowingDates, RetrieveRequest } from '../compile/compiler.js'
import { memberOf } from '../model/property.js'
import { parseDateTime } from '../values/temporal.js'
import type { FhirElement } from '../values/value.js'
import type { KeptSubject, KeptView } from './kept-subject.js'
import { selected, type RetrieverOptions } from './retrieve.js'

/** What a retrieve finds among the resources of its type that are kept of a subject. */
export type KeptRetrieve = (subject: KeptSubject, resources: readonly FhirElement[]) => readonly FhirElement[]

/** Looks once at each resource of a kept population for what retrieves ask of codes and dates, so that evaluations of other periods compare numbers. */
export interface KeptViews {
  /** `undefined` for a retrieve whose codes only its evaluation tells. */
  retrieve(request: RetrieveRequest, options: RetrieverOptions): KeptRetrieve | undefined
  /** How much memory the views take, by an estimate. Those of subjects that are kept no longer count until all are forgotten. */
  bytes(): number
  /** How much they may take from now on; what is beyond is made each time. */
  limit(bytes: number): void
}

const VIEW_BYTES = 160
const ROW_BYTES = 24
const CHARACTER_BYTES = 2

/** Begins the views of a population, whose subjects have none. */
export function createKeptViews(): KeptViews {
  const places = new Map<string, number>()
  const room = { used: 0, most: Infinity }
  const placeOf = (key: string): number => {
    const place = places.get(key) ?? places.size
    if (place === places.size) room.used += key.length * CHARACTER_BYTES
    places.set(key, place)
    return place
  }
  const keep = ({ views }: KeptSubject, place: number, view: KeptView): KeptView => {
    const bytes = VIEW_BYTES + view.found.length * ROW_BYTES
    if (room.used + bytes > room.most) return view
    room.used += bytes
    views[place] = view
    return view
  }
  return {
    bytes: () => room.used,
    limit: (bytes) => {
      room.most = bytes
    },
    retrieve: (request, options) => {
      const settled = settledPart(request)
      if (settled === undefined) return undefined
      const place = placeOf(JSON.stringify([options.offset, settled.key]))
      const { path, tests } = settled
      const { from, to } = boundsOf(request.narrowing ?? [], path)
      const all = { ...request, dateRange: null }
      const isRanged = request.dateRange !== null
      return (subject, resources) => {
        const view = subject.views[place] ?? keep(subject, place, viewOf(selected(resources, all, options), { path, tests, options }))
        const found = within(view, from, to)
        return isRanged ? selected(found, { ...request, codes: undefined }, options) : found
      }
    },
  }
}

/** What a retrieve asks that is the same for all periods. */
interface Settled {
  /** What it is known by. */
  readonly key: unknown
  /** The element whose dates are compared. */
  readonly path: string | undefined
  readonly tests: readonly Narrowing[]
}

function settledPart({ type, codePath, codes, listedCodes, narrowing = [] }: RetrieveRequest): Settled | undefined {
  const listed = codes === undefined ? [] : listedCodes?.()
  if (listed === undefined) return undefined
  const tests = narrowing.filter((one) => one.codes !== undefined)
  const path = narrowing.find(({ dates }) => dates !== undefined)?.path
  const asked = codes === undefined ? [] : [codePath, listed.map(({ system, code }) => [system, code])]
  return { key: [type, asked, path, tests.map((test) => [test.path, test.codes])], path, tests }
}

interface Viewing extends Pick<Settled, 'path' | 'tests'> {
  readonly options: RetrieverOptions
}

function viewOf(resources: readonly FhirElement[], { path, tests, options }: Viewing): KeptView {
  const found = tests.length === 0 ? resources : resources.filter((resource) => tests.every((test) => mayBe(resource, test)))
  if (path === undefined) return { found, starts: [], ends: [] }
  const spans = found.map((resource) => spanOf(firstMember(resource, path), options.offset))
  return { found, starts: spans.map(([start]) => start), ends: spans.map(([, end]) => end) }
}

/** What is absent is not left out here: conditions on it are null. */
function mayBe(resource: FhirElement, { path, codes = [] }: Narrowing): boolean {
  const [slot, ...others] = resource.type.elements.get(path) ?? []
  const isCode = slot?.type === 'code' && !slot.isCollection && others.length === 0
  const value = isCode ? memberOf(resource.json, slot.jsonName) : undefined
  return typeof value !== 'string' || codes.includes(value)
}

function firstMember({ type, json }: FhirElement, path: string): unknown {
  for (const { jsonName } of type.elements.get(path) ?? []) {
    const value = memberOf(json, jsonName)
    if (value !== undefined) return value
  }
  return undefined
}

/** The first and last moment of a date or period, as far as they are known. */
function spanOf(value: unknown, offset: number): readonly [start: number, end: number] {
  const [start, end] = typeof value === 'string' ? [value, value] : [memberOf(value, 'start'), memberOf(value, 'end')]
  const [first, last] = [start, end].map((text) => (typeof text === 'string' ? parseDateTime(text, offset) : undefined))
  return [first?.low ?? -Infinity, last?.high ?? Infinity]
}

/** Offsets make up to a day, comparisons by days another one. */
const MARGIN_MS = 3 * 86_400_000

/** What all that is said of the dates of an element lets pass. */
function boundsOf(narrowing: readonly Narrowing[], path: string | undefined): Required<NarrowingDates> {
  const dates = narrowing.flatMap((one) => (one.path === path ? (one.dates ?? []) : []))
  return {
    from: Math.max(...dates.map(({ from = -Infinity }) => from)) - MARGIN_MS,
    to: Math.min(...dates.map(({ to = Infinity }) => to)) + MARGIN_MS,
  }
}

function within({ found, starts, ends }: KeptView, from: number, to: number): readonly FhirElement[] {
  if (starts.length === 0) return found
  const inside: FhirElement[] = []
  let at = 0
  for (const resource of found) {
    if ((ends[at] ?? Infinity) >= from && (starts[at] ?? -Infinity) <= to) inside.push(resource)
    at++
  }
  return inside
}
