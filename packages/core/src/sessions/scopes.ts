import { didYouMean, nearest } from '../text/index.js'
import { isResourceType, resourceTypes } from '../storage/index.js'

/** Scopes of OpenID Connect and of SMART App Launch that are about no resource. */
const WORDS: readonly string[] = [
  'openid',
  'profile',
  'email',
  'address',
  'phone',
  'offline_access',
  'online_access',
  'fhirUser',
  'launch',
  'launch/patient',
  'launch/encounter',
]

const ABOUT_RESOURCES = /^(?:patient|user|system)\/([A-Za-z]+|\*)\.(?:read|write|\*|(?=[cruds])c?r?u?d?s?)(?:\?[\x21-\x7e]+)?$/

/**
 * Checks that a scope exists, so that a misspelt one is not noticed only when it grants nothing.
 *
 * @param custom Scopes of the host's own.
 * @throws {TypeError} for a scope that does not exist, with the nearest one that does.
 * @see https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html
 */
export function checkScope(scope: string, custom: ReadonlySet<string>): void {
  const type = ABOUT_RESOURCES.exec(scope)?.[1]
  if (WORDS.includes(scope) || custom.has(scope) || type === '*') return
  if (type === undefined) throw unknown(`there is no scope ${JSON.stringify(scope)}`, nearest(scope, [...WORDS, ...custom]))
  if (!isResourceType(type)) throw unknown(`the scope ${JSON.stringify(scope)} names no resource type`, nearest(type, resourceTypes()))
}

function unknown(problem: string, near: readonly string[]): TypeError {
  const hint = didYouMean(near)
  return new TypeError(`sessions.create: ${problem}.${hint === undefined ? '' : ` ${hint}`}`)
}
