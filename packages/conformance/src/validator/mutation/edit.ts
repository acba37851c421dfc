import { isObject } from 'fhir-ops/internal/json'
import type { JsonPath, Site } from './site.js'

/** A change to a resource, and where the error must be found. */
export interface Edit {
  readonly path: JsonPath
  /** The new value; `undefined` removes the element. */
  readonly value: unknown
  /** Replaced in the text, for what no JSON value can say. */
  readonly raw?: readonly [from: string, to: string]
  /** Expressions of which an error must name one; `undefined` for an error without place. */
  readonly expected: readonly (string | undefined)[]
}

/** A kind of damage: how it is done at a place, when it can be done there. */
export type Damage = (site: Site) => readonly Edit[]

/** The text of a resource with a change made to it. */
export function edited(resource: unknown, { path, value, raw }: Edit): string {
  const text = JSON.stringify(replaced(resource, path, value))
  return raw === undefined ? text : text.replace(...raw)
}

function replaced(target: unknown, [step, ...rest]: JsonPath, value: unknown): unknown {
  if (step === undefined) return value
  if (Array.isArray(target)) return target.map((item: unknown, index) => (index === step ? replaced(item, rest, value) : item))
  const members = isObject(target) ? target : {}
  return { ...members, [step]: replaced(members[step], rest, value) }
}
