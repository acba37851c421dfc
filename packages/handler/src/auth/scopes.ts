import type { Action } from 'fhir-ops/operation'
import { isResourceType } from 'fhir-ops/storage'

/** A SMART scope that grants something. */
export interface ScopeGrant {
  /** `patient` grants what is in the compartment of the token's patient only. */
  readonly level: 'patient' | 'user' | 'system'
  /** A resource type, or `*` for all but writing Bots. */
  readonly type: string
  readonly actions: ReadonlySet<Action>
  /** Search parameters, as in a URL; what they do not find is not granted. */
  readonly query?: string
}

const LETTERS: readonly (readonly [string, Action])[] = [
  ['c', 'create'],
  ['r', 'read'],
  ['u', 'update'],
  ['d', 'delete'],
  ['s', 'search'],
]

/** The words of SMART version 1 as letters of version 2. */
const VERSION_1: ReadonlyMap<string, string> = new Map([
  ['read', 'rs'],
  ['write', 'cud'],
  ['*', 'cruds'],
])

const SCOPE = /^(patient|user|system)\/([A-Za-z]+|\*)\.(read|write|\*|c?r?u?d?s?)(?:\?([\x21-\x7e]+))?$/

/** Scopes whose grants are kept; the tokens of a service have few between them. */
const MAX_KEPT = 1_000

/** Parses scopes, each once. */
export function scopeParser(): (scope: string) => ScopeGrant | undefined {
  const known = new Map<string, ScopeGrant | undefined>()
  return (scope) => {
    if (known.has(scope)) return known.get(scope)
    const grant = parseScope(scope)
    if (known.size >= MAX_KEPT) known.clear()
    known.set(scope, grant)
    return grant
  }
}

/**
 * What a scope grants. Unknown, misordered and malformed scopes grant nothing; neither does a query for all types.
 *
 * @see https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html
 */
export function parseScope(scope: string): ScopeGrant | undefined {
  const [, level, type = '', permissions = '', query] = SCOPE.exec(scope) ?? []
  const isType = type === '*' ? query === undefined : isResourceType(type)
  if (!isLevel(level) || permissions === '' || !isType) return undefined
  const letters = VERSION_1.get(permissions) ?? permissions
  const actions = new Set(LETTERS.filter(([letter]) => letters.includes(letter)).map(([, action]) => action))
  return { level, type, actions, ...(query !== undefined && { query }) }
}

function isLevel(text: string | undefined): text is ScopeGrant['level'] {
  return text === 'patient' || text === 'user' || text === 'system'
}

/** True when a scope grants a part of a type's resources only. */
export function isNarrow({ level, query }: ScopeGrant): boolean {
  return level === 'patient' || query !== undefined
}

/** True for a scope that is about FHIR resources, whether or not it grants anything. */
export function isFhirScope(scope: string): boolean {
  return /^(patient|user|system)\//.test(scope)
}

/** True when the grant is about the action and the type. Writing Bots must be granted by name: it is a way to run code. */
export function covers(grant: Pick<ScopeGrant, 'type' | 'actions'>, action: Action, type: string): boolean {
  const byName = type === 'Bot' && action !== 'read' && action !== 'search'
  return grant.actions.has(action) && (grant.type === type || (grant.type === '*' && !byName))
}
