import { OperationError, quoted } from 'fhir-ops/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import type { Pace } from 'fhir-ops/context'
import { isResourceType } from 'fhir-ops/storage'
import { paced } from 'fhir-ops/work'
import { parseQuery } from '../../http/target.js'
import type { Service } from '../../service.js'
import { onlyMatch } from '../criteria.js'
import { entryError } from './entry-error.js'
import { relinked, type Link } from './links.js'
import type { PlannedEntry } from './write-together.js'

/** What links are looked for and resolved with. */
export interface LinkScope {
  readonly service: Service
  readonly model: TypeModel
  readonly pace: Pace
}

/**
 * The resources that a transaction stores, by the place of their entries, with their links resolved: those to a `fullUrl` of the Bundle,
 * and conditional references (`Patient?identifier=x`), which must find one resource that was there before.
 *
 * @throws {OperationError} `unprocessable` for a conditional reference that finds nothing; as `onlyMatch`; naming the entry.
 */
export async function textsWithLinks(scope: LinkScope, planned: readonly PlannedEntry[]): Promise<ReadonlyMap<number, string>> {
  const { model, pace } = scope
  const addresses = addressesOf(planned)
  const texts = new Map<number, string>()
  for (const entry of planned) {
    if (entry.plan.kind !== 'put') continue
    const own = rootOf(entry.part.fullUrl ?? '')
    const found = await conditionalReferences(scope, entry)
    const relink = ({ target, isReference }: Link): string | undefined =>
      addresses.get(target) ?? (isReference ? (found.get(target) ?? addresses.get(`${own}${target}`)) : undefined)
    texts.set(entry.part.index, await paced(relinked(entry.plan.text, model, relink), pace))
  }
  return texts
}

function addressesOf(planned: readonly PlannedEntry[]): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>()
  for (const { part, plan } of planned) {
    if (part.fullUrl === undefined || plan.kind === 'delete') continue
    if (addresses.has(part.fullUrl))
      throw entryError(part.index, new OperationError('body-structure', 'Another entry has the same fullUrl.'))
    addresses.set(part.fullUrl, `${plan.type}/${plan.id}`)
  }
  return addresses
}

/** What a relative reference of the entry is relative to, with its slash: `http://a/b/` for `http://a/b/Patient/1`. */
function rootOf(fullUrl: string): string {
  const [id, type, ...root] = fullUrl.split('/').toReversed()
  return id !== undefined && type !== undefined && isResourceType(type) ? `${root.toReversed().join('/')}/` : ''
}

/** A question mark in JSON. */
const MARK = /\?|\\u003f/i

async function conditionalReferences(
  { service, model, pace }: LinkScope,
  { part, call, plan }: PlannedEntry,
): Promise<ReadonlyMap<string, string>> {
  const asked = new Set<string>()
  if (plan.kind !== 'put' || !MARK.test(plan.text)) return new Map()
  const note = ({ target, isReference }: Link): undefined => {
    if (isReference && /^[A-Za-z]+\?/.test(target)) asked.add(target)
  }
  await paced(relinked(plan.text, model, note), pace)
  const found = new Map<string, string>()
  for (const target of asked) {
    try {
      found.set(target, await addressOf(service, call, target))
    } catch (error) {
      throw entryError(part.index, error)
    }
  }
  return found
}

async function addressOf(service: Service, call: PlannedEntry['call'], target: string): Promise<string> {
  const mark = target.indexOf('?')
  const type = target.slice(0, mark)
  const match = await onlyMatch(service, call, { type, pairs: parseQuery(target.slice(mark + 1), service.limits) })
  if (match === undefined) throw new OperationError('unprocessable', `The reference ${quoted(target)} finds nothing.`)
  return `${type}/${match.id}`
}
