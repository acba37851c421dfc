import type { Call } from '../engine/call.js'
import { resourcesIn } from '../fhir/resources.js'
import { fieldOf, textOf, type EditorField, type Input } from './operation-page.js'

/** The type of a parameter's value in FHIR. */
type ValueType = 'Uri' | 'Code' | 'String' | 'Integer' | 'Boolean' | 'Date'

/** A parameter of a call; one without a value is left out. */
export type CallParameter = readonly [name: string, type: ValueType, value: string]

/** The editor for definitions that exist for one call. */
export const DEFINITIONS: EditorField = {
  name: 'definitions',
  label: 'Definitions for this call',
  language: 'json',
  hint: 'A resource, or a Bundle of them, beside the definitions of R4.',
  isOptional: true,
}

/** Servers refuse addresses that are much longer. */
const LONG_QUERY = 1500

/** A GET; with definitions for the call, or very long values, a POST that brings them along as `tx-resource`. Explained in any case. */
export function terminologyCall(path: string, parameters: readonly CallParameter[], input: Input): Call {
  const given: readonly CallParameter[] = [...parameters.filter(([, , value]) => value !== ''), ['_explain', 'Boolean', 'true']]
  const definitions = resourcesIn(textOf(input, DEFINITIONS.name))
  const query = new URLSearchParams(given.map(([name, , value]) => [name, value])).toString()
  if (definitions.length === 0 && query.length < LONG_QUERY) return { method: 'GET', path: `${path}?${query}` }
  const parameter = [...given.map(parameterOf), ...definitions.map((resource) => ({ name: 'tx-resource', resource }))]
  return {
    method: 'POST',
    path,
    body: { type: 'application/fhir+json', text: JSON.stringify({ resourceType: 'Parameters', parameter }, null, 1) },
  }
}

/** A parameter as FHIR writes it. */
export function parameterOf([name, type, value]: CallParameter): object {
  const written = type === 'Integer' ? Number(value) : type === 'Boolean' ? value === 'true' : value
  return { name, [`value${type}`]: written }
}

/** Parameters from the fields of the same names. */
export function fromFields(input: Input, types: Readonly<Record<string, ValueType>>): readonly CallParameter[] {
  return Object.entries(types).map(([name, type]) => [name, type, fieldOf(input, name)])
}
