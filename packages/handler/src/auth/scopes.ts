import { isResourceType } from 'fhir-ops/storage'

/** What can be done with resources of a type, in the words of FHIR. */
export type Action = 'read' | 'search' | 'create' | 'update' | 'delete'

/** A SMART scope that grants something. */
export interface ScopeGrant {
  /** A resource type, or `*` for all but writing Bots. */
  readonly type: string
  readonly actions: ReadonlySet<Action>
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

const SCOPE = /^(user|system)\/([A-Za-z]+|\*)\.(read|write|\*|c?r?u?d?s?)$/

/**
 * What a scope grants (SC-02). Unknown, misordered and malformed scopes grant nothing; neither do `patient/` and query-restricted ones.
 *
 * @see https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html
 */
export function parseScope(scope: string): ScopeGrant | undefined {
  const [, , type = '', permissions = ''] = SCOPE.exec(scope) ?? []
  if (permissions === '' || (type !== '*' && !isResourceType(type))) return undefined
  const letters = VERSION_1.get(permissions) ?? permissions
  return { type, actions: new Set(LETTERS.filter(([letter]) => letters.includes(letter)).map(([, action]) => action)) }
}

/** True for a scope that is about FHIR resources, whether or not it grants anything. */
export function isFhirScope(scope: string): boolean {
  return /^(patient|user|system)\//.test(scope)
}

/** True when one of the grants covers the action. Writing Bots must be granted by name: it is a way to run code. */
export function grants(scopes: readonly ScopeGrant[], action: Action, type: string): boolean {
  const byName = type === 'Bot' && action !== 'read' && action !== 'search'
  return scopes.some((scope) => scope.actions.has(action) && (scope.type === type || (scope.type === '*' && !byName)))
}
