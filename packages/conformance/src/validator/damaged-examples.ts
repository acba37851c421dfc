import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from 'fhir-ops/internal/json'
import { suitePath } from '../../../../test/suites.js'

/** The texts of R4's examples, one per resource. */
export function exampleTexts(): readonly string[] {
  const folder = suitePath('r4-examples')
  const files = readdirSync(folder).filter((name) => name.endsWith('.ndjson'))
  return files.flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n')).filter((line) => line !== '')
}

/** Replaces a member with an unusual value. `place` selects it among all members of the resource except its type. */
export function damage(resource: JsonObject, place: number, odd: unknown): void {
  const members = membersOf(resource)
  const member = members[place % Math.max(1, members.length)]
  if (member !== undefined) Reflect.set(member.holder, member.key, structuredClone(odd))
}

function membersOf(holder: object): readonly { readonly holder: object; readonly key: string }[] {
  return Object.entries(holder).flatMap(([key, value]: [string, unknown]) => [
    ...(key === 'resourceType' ? [] : [{ holder, key }]),
    ...(typeof value === 'object' && value !== null ? membersOf(value) : []),
  ])
}
