import type { KeptValues, NarrowingProof, Meets, Narrowing, RetrieveRequest } from '../compile/compiler.js'
import type { ElmNode } from '../elm/node.js'
import { memberOf } from '../model/property.js'
import { DAY, parseDateTime, type Temporal } from '../values/temporal.js'
import { bytesOfValue } from '../values/size.js'
import type { UnitConversion } from '../values/units.js'
import type { FhirElement } from '../values/value.js'
import { selected, type RetrieverOptions } from './retrieve.js'

/** The resources that a retrieve finds for a subject in any period, with the first and last moment of each in milliseconds since 1970. */
interface KeptView {
  readonly found: readonly FhirElement[]
  /** In the order of `found`; `NaN` if unknown; empty if the retrieve has no condition on dates. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** One subject with its resources, which never change. */
export interface KeptSubject {
  readonly id: string
  readonly subject: FhirElement
  /** For each kept type, by its index, the resources that refer to the subject. */
  readonly resources: readonly (readonly FhirElement[])[]
  readonly bytes: number
  /** Results of retrieves that were requested, by their index in the views of the population. */
  readonly views: (KeptView | undefined)[]
}

/** Returns the resources that a retrieve finds among the kept ones of a subject; with `meets`, only those that meet the condition of the query over it. */
type KeptRetrieve = (subject: KeptSubject, resources: readonly FhirElement[], meets?: Meets) => readonly FhirElement[]

/** Tests codes and reads dates of each resource of a kept population once for each retrieve, so that evaluations for other periods only compare numbers. */
export interface KeptViews {
  /** `undefined` for a retrieve whose codes are known only during evaluation. */
  retrieve(request: RetrieveRequest, options: RetrieverOptions): KeptRetrieve | undefined
  /** The values that depend on one resource alone, for this conversion of units. */
  values(convert: UnitConversion): KeptValues
  /** Estimated memory of the views. Views of subjects that are no longer kept count until all are dropped. */
  bytes(): number
  /** Sets the maximum memory. Views beyond it are computed for each evaluation. */
  limit(bytes: number): void
}

const VIEW_BYTES = 160
const ROW_BYTES = 24
const CHARACTER_BYTES = 2

/** Creates the views of a population, whose subjects have none yet. */
export function createKeptViews(): KeptViews {
  const places = new Map<string, number>()
  const room: Room = { used: 0, most: Infinity }
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
  const stores = new WeakMap<UnitConversion, KeptValues>()
  let expressions = 0
  return {
    values: (convert) => {
      const store = stores.get(convert) ?? createKeptValues(room, () => expressions++)
      stores.set(convert, store)
      return store
    },
    bytes: () => room.used,
    limit: (bytes) => {
      room.most = bytes
    },
    retrieve: (request, options) => {
      const settled = settledPart(request)
      if (settled === undefined) return undefined
      const place = placeOf(JSON.stringify([options.offset, settled.key]))
      const bounds = boundsOf(request.narrowing ?? [], settled.path)
      const all = { ...request, dateRange: null }
      return (subject, resources, meets) => {
        const view = subject.views[place] ?? keep(subject, place, viewOf(selected(resources, all, options), settled, options))
        const found = within(view, bounds, meets)
        return request.dateRange === null ? found : selected(found, { ...request, codes: undefined }, options)
      }
    },
  }
}

/** Bytes of memory. */
interface Room {
  used: number
  most: number
}

function createKeptValues(room: Room, newPlace: () => number): KeptValues {
  const places = new WeakMap<ElmNode, number>()
  return {
    placeOf: (expression) => {
      const place = places.get(expression) ?? newPlace()
      places.set(expression, place)
      return place
    },
    keep: (values, place, value) => {
      const bytes = bytesOfValue(value)
      if (room.used + bytes > room.most) return
      room.used += bytes
      values[place] = value
    },
  }
}

/** The conditions of a retrieve that are the same for all periods. */
interface Settled {
  /** Equal for equal conditions. */
  readonly key: unknown
  /** The element whose dates are compared. */
  readonly path: string | undefined
  /** The types of that element for which conditions are known to hold; absent where the whole condition is not known. */
  readonly types: readonly string[] | undefined
  readonly tests: readonly Narrowing[]
}

function settledPart(request: RetrieveRequest): Settled | undefined {
  const { type, codePath, codes, listedCodes, narrowing = [], isNarrowedWhole, ofProfile } = request
  const listed = codes === undefined ? [] : listedCodes?.()
  if (listed === undefined) return undefined
  const tests = narrowing.filter((one) => one.codes !== undefined)
  const dated = narrowing.filter(({ dates }) => dates !== undefined)
  const path = dated[0]?.path
  const [first, ...others] = dated.map(({ holds }) => holds?.types ?? [])
  const common = (first ?? []).filter((name) => others.every((types) => types.includes(name)))
  const types = isNarrowedWhole === true ? common : undefined
  const asked = codes === undefined ? [] : [codePath, listed.map(({ system, code }) => [system, code])]
  const key = [type, asked, path, types, tests.map((test) => [test.path, test.codes]), ofProfile?.asked() ?? []]
  return { key, path, types, tests }
}

function viewOf(resources: readonly FhirElement[], { path, types, tests }: Settled, { offset }: RetrieverOptions): KeptView {
  const answers = resources.map((resource) => tests.map((test) => answerOf(resource, test)))
  const found = resources.filter((_, at) => answers[at]?.includes('no') !== true)
  if (path === undefined && types === undefined) return { found, starts: [], ends: [] }
  const spans = resources.flatMap((resource, at) => {
    const own = answers[at] ?? []
    if (own.includes('no')) return []
    const isKnown = types === undefined || !own.includes('unknown')
    return [!isKnown ? UNKNOWN : path === undefined ? ALWAYS : spanOf(resource, { path, types, offset })]
  })
  return { found, starts: spans.map(([start]) => start), ends: spans.map(([, end]) => end) }
}

/** Whether a resource has one of the codes; unknown if the element is absent, because conditions on it are then null. */
function answerOf(resource: FhirElement, { path, codes = [] }: Narrowing): 'no' | 'unknown' | 'yes' {
  const [slot, ...others] = resource.type.elements.get(path) ?? []
  const isCode = slot?.type === 'code' && !slot.isCollection && others.length === 0
  const value = isCode ? memberOf(resource.json, slot.jsonName) : undefined
  if (typeof value !== 'string') return 'unknown'
  return codes.includes(value) ? 'yes' : 'no'
}

type Span = readonly [start: number, end: number]

const UNKNOWN: Span = [Number.NaN, Number.NaN]
/** The span of resources whose dates do not matter. */
const ALWAYS: Span = [0, 0]

interface Dated {
  readonly path: string
  readonly types: readonly string[] | undefined
  readonly offset: number
}

/** The first and last moment of a date or period, as far as known. If results of conditions are to be known, dates need at least a day. */
function spanOf({ type, json }: FhirElement, { path, types, offset }: Dated): Span {
  const slots = type.elements.get(path) ?? []
  const slot = slots.find(({ jsonName }) => memberOf(json, jsonName) !== undefined)
  const isOdd =
    types !== undefined && (!types.includes(slot?.type ?? '') || slots.some(({ siblingName }) => memberOf(json, siblingName) !== undefined))
  const value = slot === undefined || isOdd ? undefined : memberOf(json, slot.jsonName)
  const [start, end] = typeof value === 'string' ? [value, value] : [memberOf(value, 'start'), memberOf(value, 'end')]
  const [first, last] = [start, end].map((text) => (typeof text === 'string' ? parseDateTime(text, offset) : undefined))
  const isKnown = (moment: Temporal | undefined): moment is Temporal =>
    moment !== undefined && (types === undefined || moment.precision >= DAY)
  // For a period that ends before it begins, some comparisons use the one end and some the other.
  if (first !== undefined && last !== undefined && first.low > last.high) return UNKNOWN
  return [isKnown(first) ? first.low : Number.NaN, isKnown(last) ? last.high : Number.NaN]
}

/** Offsets shift a moment by up to a day, and comparisons by days by another one. */
const MARGIN_MS = 3 * 86_400_000

/** Limits on the dates of an element that are necessary to meet a condition, and limits that are sufficient. */
interface Bounds {
  readonly from: number
  readonly to: number
  readonly enough: Required<Omit<NarrowingProof, 'types'>>
}

function boundsOf(narrowing: readonly Narrowing[], path: string | undefined): Bounds {
  const own = narrowing.filter(({ path: other, dates }) => dates !== undefined && other === path)
  const latest = (pick: Pick, margin: number): number => Math.max(...own.map((one) => pick(one) ?? -Infinity)) + margin
  const earliest = (pick: Pick, margin: number): number => Math.min(...own.map((one) => pick(one) ?? Infinity)) + margin
  return {
    from: latest(({ dates }) => dates?.from, -MARGIN_MS),
    to: earliest(({ dates }) => dates?.to, MARGIN_MS),
    enough: {
      startFrom: latest(({ holds }) => holds?.startFrom, MARGIN_MS),
      startTo: earliest(({ holds }) => holds?.startTo, -MARGIN_MS),
      endFrom: latest(({ holds }) => holds?.endFrom, MARGIN_MS),
      endTo: earliest(({ holds }) => holds?.endTo, -MARGIN_MS),
    },
  }
}

type Pick = (one: Narrowing) => number | undefined

/**
 * The resources within the necessary bounds. With a condition, those that meet it, which is evaluated only if the dates do not decide. Unknown dates are `NaN`,
 * so no comparison with them is true.
 */
function within({ found, starts, ends }: KeptView, { from, to, enough }: Bounds, meets: Meets | undefined): readonly FhirElement[] {
  if (starts.length === 0) return found
  const { startFrom, startTo, endFrom, endTo } = enough
  const inside: FhirElement[] = []
  for (let at = 0; at < found.length; at++) {
    const resource = found[at]
    const start = starts[at] ?? Number.NaN
    const end = ends[at] ?? Number.NaN
    if (resource === undefined || end < from || start > to) continue
    const isEnough = start >= startFrom && start <= startTo && end >= endFrom && end <= endTo
    if (meets === undefined || isEnough || meets(resource)) inside.push(resource)
  }
  return inside
}
