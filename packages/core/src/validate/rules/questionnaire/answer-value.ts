import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'
import { compareValues } from '../value/check-limits.js'

/** A value of a choice element with the JSON form of its type's name: `Coding`, `Date`. */
export interface TypedValue {
  readonly type: string
  readonly value: unknown
}

/** The choice member of an object that starts with `prefix`: `answerCoding` for `answer`. */
export function typedMember(object: JsonObject, prefix: string): TypedValue | undefined {
  const name = Object.keys(object).find((key) => key.startsWith(prefix) && /^[A-Z]/.test(key.slice(prefix.length)))
  return name === undefined ? undefined : { type: name.slice(prefix.length), value: object[name] }
}

/** Whether a value is the expected one. Codings are the same when system and code are, References when they point at the same. */
export function sameAnswer({ value, type }: FhirNode, expected: TypedValue): boolean {
  if (type.name.toLowerCase() !== expected.type.toLowerCase()) return false
  if (!isObject(value) || !isObject(expected.value)) return value === expected.value
  if (type.name === 'Coding') return sameMembers(value, expected.value, ['system', 'code'])
  if (type.name === 'Reference') return sameMembers(value, expected.value, ['reference'])
  return compareValues(value, expected.value) === 0
}

function sameMembers(a: JsonObject, b: JsonObject, names: readonly string[]): boolean {
  return names.every((name) => stringAt(a, name) === stringAt(b, name))
}
