import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import type { Mode } from './variables.js'

/** A structure that a map declares by an alias. */
export interface Structure {
  readonly alias: string | undefined
  readonly url: string
  /** `source`, `queried`, `target` or `produced`. */
  readonly mode: string | undefined
}

/** The modes of structures that data is written to. */
export const WRITTEN: ReadonlySet<string | undefined> = new Set(['target', 'produced'])

/** The structures that a map declares. */
export function structuresOf(map: unknown): readonly Structure[] {
  const structures: readonly JsonObject[] = isObject(map) ? objectsAt(map, 'structure') : []
  return structures.map((one) => ({ alias: stringAt(one, 'alias'), url: stringAt(one, 'url') ?? '', mode: stringAt(one, 'mode') }))
}

/** The structure with an alias, preferably one for reading or writing, as the mode says; `undefined` for other names. */
export function structureNamed(map: unknown, name: string, mode: Mode): Structure | undefined {
  const named = structuresOf(map).filter(({ alias }) => alias === name)
  return named.find((one) => WRITTEN.has(one.mode) === (mode === 'target')) ?? named[0]
}

/** The type that an alias or a name means in a map. */
export function typeNamed({ value }: FhirNode, name: string, mode: Mode): string {
  return structureNamed(value, name, mode)?.url ?? name
}
