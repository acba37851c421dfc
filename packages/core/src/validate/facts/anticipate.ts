import { formatCanonical } from '../../content/index.js'
import { isObject, stringAt, type JsonObject } from '../../json/index.js'
import type { Facts } from './facts.js'

/**
 * Asks for the definitions that a resource will need, as far as it names them itself: profiles, extensions, code systems. What this finds
 * spares a walk, which the benchmark `validate-examples` shows; what it misses the walk asks for.
 */
export function anticipate(facts: Facts, value: unknown): void {
  lookThrough({ facts, left: MOST }, value)
}

/** Values that are looked at. What is longer has more than can be asked for in one walk. */
const MOST = 20_000

interface Looking {
  readonly facts: Facts
  left: number
}

function lookThrough(looking: Looking, value: unknown): void {
  if (looking.left-- <= 0) return
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') lookThrough(looking, item)
  } else if (isObject(value)) {
    askForCode(looking.facts, value)
    askForProfiles(looking.facts, value)
    for (const member of Object.values(value)) if (typeof member === 'object') lookThrough(looking, member)
  }
}

function askForCode(facts: Facts, coding: JsonObject): void {
  const { system, code } = coding
  if (typeof system === 'string' && typeof code === 'string') facts.codeSystem(formatCanonical(system, stringAt(coding, 'version')))
}

function askForProfiles(facts: Facts, { extension, modifierExtension, meta }: JsonObject): void {
  if (Array.isArray(extension)) askForAll(facts, extension.map(urlOf))
  if (Array.isArray(modifierExtension)) askForAll(facts, modifierExtension.map(urlOf))
  const claims = isObject(meta) ? meta['profile'] : undefined
  if (Array.isArray(claims)) askForAll(facts, claims)
}

function urlOf(extension: unknown): unknown {
  return isObject(extension) ? extension['url'] : undefined
}

function askForAll(facts: Facts, canonicals: readonly unknown[]): void {
  for (const canonical of canonicals) if (typeof canonical === 'string' && canonical.includes(':')) facts.profile(canonical)
}
