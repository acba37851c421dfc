import type { Pace } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import type { TypeDefinition } from 'fhir-ops/internal/fhirpath'
import { jsonItems, jsonMembers } from 'fhir-ops/internal/json'
import { isResourceType } from 'fhir-ops/storage'
import type { Work } from 'fhir-ops/internal/work'
import { onlyMatch } from '../criteria.js'
import type { Exchange } from '../../exchange.js'
import { parseQuery } from '../../http/target.js'
import type { Service } from '../../service.js'
import { entryError, type PlannedEntry } from './bundle-entries.js'

/** What is needed to find and resolve links. */
interface LinkScope {
  readonly service: Service
  readonly model: TypeModel
  readonly pace: Pace
}

/**
 * Returns the resources that a transaction stores, by position of their entry, with links resolved: links to a `fullUrl` of the Bundle,
 * and conditional references (`Patient?identifier=x`), which must match exactly one resource stored before.
 *
 * @throws {OperationError} `unprocessable` for a conditional reference that matches no resource; as `onlyMatch`; both name the entry.
 */
export async function textsWithLinks(scope: LinkScope, planned: readonly PlannedEntry[]): Promise<ReadonlyMap<number, string>> {
  const { model, pace } = scope
  const addresses = addressesOf(planned)
  const texts = new Map<number, string>()
  for (const { entry, plan, exchange } of planned) {
    if (plan.kind !== 'put') continue
    const own = rootOf(entry.fullUrl ?? '')
    const found = await conditionalReferences(scope, { entry, plan, exchange })
    const relink = ({ target, isReference }: Link): string | undefined =>
      addresses.get(target) ?? (isReference ? (found.get(target) ?? addresses.get(`${own}${target}`)) : undefined)
    texts.set(entry.index, await pace.run(relinked(plan.text, model, relink)))
  }
  return texts
}

function addressesOf(planned: readonly PlannedEntry[]): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>()
  for (const { entry, plan } of planned) {
    if (entry.fullUrl === undefined || plan.kind === 'delete') continue
    if (addresses.has(entry.fullUrl))
      throw entryError(entry.index, new OperationError('body-structure', 'Another entry has the same fullUrl.'))
    addresses.set(entry.fullUrl, `${plan.type}/${plan.id}`)
  }
  return addresses
}

/** The base of relative references in an entry, with a trailing slash: `http://a/b/` for `http://a/b/Patient/1`. */
function rootOf(fullUrl: string): string {
  const [id, type, ...root] = fullUrl.split('/').toReversed()
  return id !== undefined && type !== undefined && isResourceType(type) ? `${root.toReversed().join('/')}/` : ''
}

/** Matches a question mark in JSON. */
const MARK = /\?|\\u003f/i

async function conditionalReferences(
  { service, model, pace }: LinkScope,
  { entry, exchange, plan }: PlannedEntry,
): Promise<ReadonlyMap<string, string>> {
  const asked = new Set<string>()
  if (plan.kind !== 'put' || !MARK.test(plan.text)) return new Map()
  const note = ({ target, isReference }: Link): undefined => {
    if (isReference && /^[A-Za-z]+\?/.test(target)) asked.add(target)
  }
  await pace.run(relinked(plan.text, model, note))
  const found = new Map<string, string>()
  for (const target of asked) {
    await pace.step()
    try {
      found.set(target, await addressOf(service, exchange, target))
    } catch (error) {
      throw entryError(entry.index, error)
    }
  }
  return found
}

async function addressOf(service: Service, exchange: Exchange, target: string): Promise<string> {
  const mark = target.indexOf('?')
  const type = target.slice(0, mark)
  const match = await onlyMatch(service, exchange, { type, pairs: parseQuery(target.slice(mark + 1), service.limits) })
  if (match === undefined) throw new OperationError('unprocessable', `The conditional reference ${quoted(target)} matches no resource.`)
  return `${type}/${match.id}`
}

/** A link in a resource: a literal reference, an element of the types uri, url, oid and uuid, or an address in a narrative. */
interface Link {
  readonly target: string
  readonly isReference: boolean
}

/** Returns the replacement of a link; `undefined` leaves it unchanged. */
type Relink = (link: Link) => string | undefined

/**
 * Replaces links in a resource's text; everything else except white space stays as written. Canonicals are not links.
 *
 * @param text A resource as well-formed JSON.
 * @see https://hl7.org/fhir/R4/http.html#trules
 */
function relinked(text: string, model: TypeModel, relink: Relink): Work<string> {
  return rewritten({ model, relink }, text, { type: undefined, isReference: false })
}

interface Scope {
  readonly model: TypeModel
  readonly relink: Relink
}

interface Place {
  /** `undefined` if any resource may occur here, or if the model does not know the type. */
  readonly type: TypeDefinition | undefined
  /** True for `Reference.reference`, which is a plain string in R4. */
  readonly isReference: boolean
}

/** Rewrites an object or a list in steps, so that other work can run in between. */
function* rewritten(scope: Scope, text: string, place: Place): Work<string> {
  yield
  if (text.startsWith('{')) return yield* objectText(scope, text, place.type)
  const items: string[] = []
  for (const item of yield* jsonItems(text))
    items.push(isContainer(item) ? yield* rewritten(scope, item, place) : scalarText(scope, item, place))
  return `[${items.join(',')}]`
}

function* objectText(scope: Scope, text: string, given: TypeDefinition | undefined): Work<string> {
  const members = yield* jsonMembers(text)
  const type = resourceType(scope, members.find(({ name }) => name === 'resourceType')?.value) ?? given
  const written: string[] = []
  for (const { name, value } of members) {
    const slot = type?.members.get(name)
    const isReference = type?.name === 'Reference' && name === 'reference'
    const place = { type: slot && scope.model.type(slot.type), isReference }
    const valueText = isContainer(value) ? yield* rewritten(scope, value, place) : scalarText(scope, value, place)
    written.push(`${JSON.stringify(name)}:${valueText}`)
  }
  return `{${written.join(',')}}`
}

function isContainer(text: string): boolean {
  return text.startsWith('{') || text.startsWith('[')
}

function resourceType({ model }: Scope, name: string | undefined): TypeDefinition | undefined {
  const parsed: unknown = JSON.parse(name ?? 'null')
  return typeof parsed === 'string' ? model.type(parsed) : undefined
}

const LINK_TYPES: ReadonlySet<string> = new Set(['uri', 'url', 'oid', 'uuid'])

function scalarText({ relink }: Scope, text: string, { type, isReference }: Place): string {
  const name = type?.name ?? ''
  if (!text.startsWith('"') || (!isReference && name !== 'xhtml' && !LINK_TYPES.has(name))) return text
  const target = String(JSON.parse(text))
  const replaced = name === 'xhtml' ? narrative(target, relink) : relink({ target, isReference })
  return replaced === undefined || replaced === target ? text : JSON.stringify(replaced)
}

function narrative(xhtml: string, relink: Relink): string {
  return xhtml.replace(/\b(href|src)="([^"]*)"/g, (whole, name: string, target: string) => {
    const replaced = relink({ target, isReference: false })
    return replaced === undefined ? whole : `${name}="${replaced}"`
  })
}
