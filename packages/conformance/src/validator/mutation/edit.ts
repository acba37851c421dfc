import { isObject } from 'fhir-ops/internal/json'
import type { JsonPath, Site } from './site.js'

/** A change to a resource, and the expected place of the error. */
export interface Edit {
  readonly path: JsonPath
  /** The new value; `undefined` removes the element. */
  readonly value: unknown
  /** Replacement in the text, for changes that no JSON value can express. */
  readonly raw?: readonly [from: string, to: string]
  /** An error must have one of these expressions; `undefined` for an error without a place. */
  readonly expected: readonly (string | undefined)[]
}

/** A kind of damage. Returns its edits at a place; empty if it is not possible there. */
export type Damage = (site: Site) => readonly Edit[]

/** The text of a resource with a change. */
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
