import type { ParametersParameter } from 'fhir/r4.js'

/** One parameter of an answer, its value as `value<type>` (`Code`, `String` ...); nothing when there is no value. */
export function parameterOf(name: string, type: string, value: unknown): ParametersParameter[] {
  return value === undefined ? [] : [{ name, [`value${type}`]: value }]
}
