import { isResourceType, resourceTypes } from '../storage/index.js'
import { didYouMean, nearest } from '../text/index.js'

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
 * What is wrong with a scope, so that a misspelt one is not noticed only when it grants nothing: a sentence, with the nearest scope that exists. `undefined` for one that exists.
 *
 * @param custom Scopes of the host's own.
 * @see https://hl7.org/fhir/smart-app-launch/scopes-and-launch-context.html
 */
export function scopeProblem(scope: string, custom: ReadonlySet<string> = new Set()): string | undefined {
  const type = ABOUT_RESOURCES.exec(scope)?.[1]
  if (WORDS.includes(scope) || custom.has(scope) || type === '*') return undefined
  if (type === undefined) return withNearest(`there is no scope ${JSON.stringify(scope)}.`, nearest(scope, [...WORDS, ...custom]))
  if (isResourceType(type)) return undefined
  return withNearest(`the scope ${JSON.stringify(scope)} names no resource type.`, nearest(type, resourceTypes()))
}

function withNearest(problem: string, near: readonly string[]): string {
  return [problem, didYouMean(near) ?? []].flat().join(' ')
}
