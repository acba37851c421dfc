import type { TypeDefinition } from 'fhir-ops/internal/fhirpath'
import type { Narrowing, RetrieveRequest } from '../compile/compiler.js'
import { memberOf } from '../model/property.js'
import type { FhirElement } from '../values/value.js'

/** Whether the condition of a query may let a resource pass, as far as single elements tell. It looks at JSON only, at a fraction of what the condition costs. */
export type MayPass = (resource: FhirElement) => boolean

const known = new WeakMap<readonly Narrowing[], MayPass>()

/** What may pass the condition of the query over a retrieve; `undefined` where that is everything. */
export function mayPassOf({ narrowing = [] }: RetrieveRequest): MayPass | undefined {
  if (narrowing.length === 0) return undefined
  const made = known.get(narrowing) ?? allOf([...Map.groupBy(narrowing, ({ path }) => path)].map(([path, all]) => testOf(path, all)))
  known.set(narrowing, made)
  return made
}

function allOf(tests: readonly MayPass[]): MayPass {
  const [only, other] = tests
  if (only === undefined || other === undefined) return only ?? (() => true)
  if (tests.length === 2) return (resource) => only(resource) && other(resource)
  return (resource) => tests.every((test) => test(resource))
}

/** What all that is said of one element lets pass. */
function testOf(path: string, narrowing: readonly Narrowing[]): MayPass {
  let known: TypeDefinition | undefined
  let members: Members = { names: [], isCode: false }
  const codes = narrowing.flatMap((one) => (one.codes === undefined ? [] : [new Set<unknown>(one.codes)]))
  const dates = narrowing.flatMap((one) => one.dates ?? [])
  const bounds = {
    from: dayOf(Math.max(...dates.map(({ from = -Infinity }) => from)), -MARGIN_MS),
    to: dayOf(Math.min(...dates.map(({ to = Infinity }) => to)), MARGIN_MS),
  }
  return ({ type, json }) => {
    if (type !== known) {
      members = membersOf(type, path)
      known = type
    }
    const value = firstMember(json, members.names)
    // What is absent is not left out here: conditions on it are null.
    if (value === undefined) return true
    if (members.isCode && typeof value === 'string') return codes.every((all) => all.has(value))
    return mayBeWithin(value, bounds)
  }
}

interface Members {
  /** In JSON. */
  readonly names: readonly string[]
  /** Whether the element is a code, of which there is at most one. */
  readonly isCode: boolean
}

function membersOf({ elements }: TypeDefinition, path: string): Members {
  const slots = elements.get(path) ?? []
  return {
    names: slots.map(({ jsonName }) => jsonName),
    isCode: slots.length === 1 && slots.every((slot) => slot.type === 'code' && !slot.isCollection),
  }
}

function firstMember(json: unknown, names: readonly string[]): unknown {
  for (const name of names) {
    const value = memberOf(json, name)
    if (value !== undefined) return value
  }
  return undefined
}

/** Days as texts; `undefined` where there is no bound. */
interface Bounds {
  readonly from: string | undefined
  readonly to: string | undefined
}

/** Offsets make up to a day, comparisons by days another one. */
const MARGIN_MS = 3 * 86_400_000
/** Years of four digits are ordered as texts. */
const FIRST_DAY = Date.UTC(1000, 0, 1)
const LAST_DAY = Date.UTC(9999, 11, 31)

function dayOf(moment: number, margin: number): string | undefined {
  const at = moment + margin
  return at < FIRST_DAY || at > LAST_DAY ? undefined : new Date(at).toISOString().slice(0, 10)
}

function mayBeWithin(value: unknown, { from, to }: Bounds): boolean {
  const isMoment = typeof value === 'string'
  if (from !== undefined && isBefore(isMoment ? value : memberOf(value, 'end'), from)) return false
  return to === undefined || !isAfter(isMoment ? value : memberOf(value, 'start'), to)
}

const DATE = 10

/** As far as the date is known; what is not a text is not compared. */
function isBefore(date: unknown, bound: string): boolean {
  return typeof date === 'string' && date < (date.length < DATE ? bound.slice(0, date.length) : bound)
}

/** What is longer than the bound and begins with it is on that day. */
function isAfter(date: unknown, bound: string): boolean {
  return typeof date === 'string' && date > bound && !date.startsWith(bound)
}
