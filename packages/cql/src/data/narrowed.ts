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
  const namesIn = memberNames(path)
  const codes = narrowing.flatMap((one) => (one.codes === undefined ? [] : [new Set<unknown>(one.codes)]))
  const dates = narrowing.flatMap((one) => one.dates ?? [])
  const bounds = {
    from: dayOf(Math.max(...dates.map(({ from = -Infinity }) => from)), -MARGIN_MS),
    to: dayOf(Math.min(...dates.map(({ to = Infinity }) => to)), MARGIN_MS),
  }
  return ({ type, json }) => {
    const { names, isCode } = namesIn(type)
    for (const name of names) {
      const value = memberOf(json, name)
      if (value === undefined) continue
      if (isCode && typeof value === 'string') return codes.every((all) => all.has(value))
      return mayBeWithin(value, bounds)
    }
    // What is absent is not left out here: conditions on it are null.
    return true
  }
}

interface Members {
  /** In JSON. */
  readonly names: readonly string[]
  /** Whether the element is a code, of which there is at most one. */
  readonly isCode: boolean
}

function memberNames(path: string): (type: TypeDefinition) => Members {
  const members = new Map<TypeDefinition, Members>()
  return (type) => {
    const slots = type.elements.get(path) ?? []
    const own = members.get(type) ?? {
      names: slots.map(({ jsonName }) => jsonName),
      isCode: slots.length === 1 && slots.every((slot) => slot.type === 'code' && !slot.isCollection),
    }
    members.set(type, own)
    return own
  }
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
  const [start, end] = typeof value === 'string' ? [value, value] : [memberOf(value, 'start'), memberOf(value, 'end')]
  return !(from !== undefined && isBefore(end, from)) && !(to !== undefined && isAfter(start, to))
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
