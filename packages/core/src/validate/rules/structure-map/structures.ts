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

/** What a map declares. */
export function structuresOf(map: unknown): readonly Structure[] {
  const structures: readonly JsonObject[] = isObject(map) ? objectsAt(map, 'structure') : []
  return structures.map((one) => ({ alias: stringAt(one, 'alias'), url: stringAt(one, 'url') ?? '', mode: stringAt(one, 'mode') }))
}

/** The canonical that a map gives an alias, first of all for reading or for writing; `undefined` for another name. */
export function structureNamed(map: unknown, name: string, mode: Mode): Structure | undefined {
  const named = structuresOf(map).filter(({ alias }) => alias === name)
  return named.find((one) => WRITTEN.has(one.mode) === (mode === 'target')) ?? named[0]
}

/** The type that a map means by an alias or a name. */
export function typeNamed({ value }: FhirNode, name: string, mode: Mode): string {
  return structureNamed(value, name, mode)?.url ?? name
}
