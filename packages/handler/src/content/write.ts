import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { checkVersion, puttingResource } from 'fhir-ops/internal/storage'
import type { Condition, DeleteEntry } from 'fhir-ops/storage'
import { authorize, notFound } from '../auth/caller.js'
import { parseQuery } from '../http/target.js'
import { param, type Exchange, type WritePlan } from '../exchange.js'
import type { Service } from '../service.js'
import { checkBot, checkValid } from './check-valid.js'
import { criteriaText, matchesOf, onlyMatchWithCondition, type Criteria } from './criteria.js'
import { checkNoDefinition } from './definitions.js'
import { checkReach, isInReach } from './reach.js'
import { PROTOCOL } from './search/search-request.js'
import { SHAPING } from './search/subset.js'
import { isModifiedSince, namesVersion } from './read.js'
import { withoutResource } from './hidden-resources.js'

/**
 * Plans to store a resource under a new id; with `If-None-Exist`, only if no resource meets the criteria.
 *
 * @throws {OperationError} as `writableText`; as `matchesOf`; `parameter-unsupported` for parameters in the URL.
 */
export async function planCreate(service: Service, exchange: Exchange): Promise<WritePlan> {
  const type = param(exchange, 'type')
  checkNoParameters(exchange, type, CREATE)
  const condition = exchange.request.header('if-none-exist')
  const place = { type, id: exchange.ctx.newId(), ifVersion: null }
  if (condition === undefined) return planPut(service, exchange, place)
  const pairs = parseQuery(criteriaText(service, type, condition), service.limits)
  const { match: stored, ifOnlyMatch } = await onlyMatchWithCondition(service, exchange, { type, pairs })
  return stored === undefined ? planPut(service, exchange, { ...place, ifOnlyMatch }) : { kind: 'found', type, id: stored.id, stored }
}

/** Refuses parameters. Some servers accept criteria in the URL of a create, or delete referring resources too; ignoring that request would be wrong. */
function checkNoParameters({ target }: Exchange, type: string, what: string): void {
  const taken = (name: string): boolean => isOfAnswer(name) || (type === 'Binary' && name === '_filename')
  const [unknown] = target.query.find(([name]) => !taken(name)) ?? []
  if (unknown === undefined) return
  throw new OperationError('parameter-unsupported', `${what} takes no parameter ${quoted(unknown)}.${ADVICE.get(what) ?? ''}`, {
    expression: [unknown],
  })
}

const CREATE = 'A create'
const ADVICE: ReadonlyMap<string, string> = new Map([[CREATE, ' Criteria for a conditional create are in the header If-None-Exist.']])

/** Refuses parameters on a write by id, which affects only that resource. @throws {OperationError} `parameter-unsupported` */
export function checkByIdOnly(exchange: Exchange): void {
  checkNoParameters(exchange, param(exchange, 'type'), 'A write of a resource by its id')
}

/**
 * Plans to store a resource under the id in the path, as a new resource or as the next version.
 *
 * @throws {OperationError} as `writableText`; `resource-invalid` if its id is not that in the path.
 */
export async function planUpdate(service: Service, exchange: Exchange): Promise<WritePlan> {
  const [type, id] = [param(exchange, 'type'), param(exchange, 'id')]
  checkByIdOnly(exchange)
  if (givenId(exchange) !== id) throw wrongId(type, id)
  await checkReach(exchange, type, id)
  const ifVersion = await expectedVersion(exchange, { type, id })
  if (ifVersion === null) checkMayName(exchange, type, id)
  return planPut(service, exchange, { type, id, ifVersion })
}

/**
 * Plans to store a resource as the next version of the one that meets the criteria of the URL or, if there is none, as a new one, under
 * its own id if it has one.
 *
 * @throws {OperationError} as `writableText` and `matchesOf`; `resource-invalid` if its id is not that of the match; `conflict` if
 *   there is no match, but its id is taken.
 * @see https://hl7.org/fhir/R4/http.html#cond-update
 */
export async function planConditionalUpdate(service: Service, exchange: Exchange): Promise<WritePlan> {
  const criteria = criteriaOf(exchange)
  const { type } = criteria
  const given = givenId(exchange)
  const { match, ifOnlyMatch } = await onlyMatchWithCondition(service, exchange, criteria)
  if (match === undefined && given !== undefined) await checkFree(exchange, type, given)
  if (match === undefined) return planNew(service, exchange, { type, id: given ?? exchange.ctx.newId(), ifOnlyMatch })
  if (given !== undefined && given !== match.id) throw wrongId(type, match.id)
  authorize(exchange.caller, { action: 'update', type, id: match.id })
  const expected = await expectedVersion(exchange, match)
  // Without other conditions, the match must still be one when it is replaced: as the storage sees it, or else in the same version.
  const ifVersion = expected === undefined && ifOnlyMatch === undefined ? match.versionId : expected
  return planPut(service, exchange, { type, id: match.id, ifVersion, ifOnlyMatch })
}

/**
 * Plans to delete a resource. Deleting a resource that does not exist succeeds; so does deleting one hidden from the caller, which is not deleted.
 *
 * @throws {OperationError} as `checkNoDefinition`; `version-conflict`.
 */
export async function planDelete(service: Service, exchange: Exchange): Promise<WritePlan> {
  const [type, id] = [param(exchange, 'type'), param(exchange, 'id')]
  checkByIdOnly(exchange)
  const hidden = !(await isInReach(exchange, type, id))
  await checkNoDefinition(service, exchange.ctx, { type, id })
  const seen = hidden ? { ...exchange, ctx: withoutResource(exchange.ctx, { type, id }) } : exchange
  const ifVersion = await expectedVersion(seen, { type, id })
  const present = ifVersion === null ? await presentVersion(seen, { type, id }) : undefined
  if (present !== undefined) throw notAt({ type, id }, present, "If-None-Match is '*'")
  const entry: DeleteEntry = { op: 'delete', type, id, ...(typeof ifVersion === 'string' && { ifVersion }) }
  if (hidden) checkVersion(entry, null)
  return { kind: 'delete', entries: [entry], hidden }
}

/** Plans to delete the resources that meet the criteria of the URL. @throws {OperationError} as `matchesOf`. */
export async function planConditionalDelete(service: Service, exchange: Exchange): Promise<WritePlan> {
  const criteria = criteriaOf(exchange)
  const { type } = criteria
  const entries: DeleteEntry[] = []
  for (const match of await matchesOf(service, exchange, { ...criteria, most: mostDeletions(service) })) {
    const { id } = match
    authorize(exchange.caller, { action: 'delete', type, id })
    entries.push({ op: 'delete', type, id, ifVersion: (await expectedVersion(exchange, match)) ?? match.versionId })
  }
  return { kind: 'delete', entries }
}

/** Maximum number of resources in a conditional delete: one if the storage cannot delete several atomically. */
export function mostDeletions({ ctx, limits }: Pick<Service, 'ctx' | 'limits'>): number {
  return ctx.storage.capabilities.atomic ? limits.conditionalDeletes : 1
}

async function planNew(service: Service, exchange: Exchange, place: Omit<Place, 'ifVersion'>): Promise<WritePlan> {
  return planPut(service, exchange, { ...place, ifVersion: (await expectedVersion(exchange, place)) ?? null })
}

/** The address of a resource. */
export interface Named {
  readonly type: string
  readonly id: string
}

/** The address to write to, and the version that must be current. */
interface Place extends Named {
  readonly ifVersion: string | null | undefined
  /** As `PutEntry.ifOnlyMatch`. */
  readonly ifOnlyMatch?: Condition | undefined
}

function planPut(service: Service, exchange: Exchange, place: Place): Promise<WritePlan> {
  return planText(service, exchange, { ...place, text: exchange.body?.text ?? '', resource: resourceOf(exchange) })
}

/** Plans to store a text. @throws {OperationError} as `checkValid` and `checkBot`. */
export async function planText(service: Service, exchange: Exchange, { text, resource, ...place }: PlacedText): Promise<WritePlan> {
  const { type, id } = place
  await checkValid(service, exchange.ctx, { type, text, resource })
  if (type === 'Bot') checkBot({ ...resource, id }, exchange.caller, service.bots)
  const entry = (source: string): ReturnType<typeof puttingResource> => puttingResource({ ...place, source }, service.indexer)
  return { kind: 'put', type, id, text, entry }
}

/** A resource, and where to store it. */
interface PlacedText extends Place {
  readonly text: string
  readonly resource: JsonObject
}

/** Returns the criteria in the URL of a conditional write. */
export function criteriaOf(exchange: Exchange): Criteria {
  return { type: param(exchange, 'type'), pairs: exchange.target.query.filter(([name]) => !isOfAnswer(name)) }
}

/** True for parameters that say what the answer is like, whatever the interaction. */
function isOfAnswer(name: string): boolean {
  return PROTOCOL.has(name) || SHAPING.has(name)
}

/** Callers with rights to part of a type cannot choose ids of new resources: that would reveal ids that are taken beyond their reach. */
function checkMayName({ caller }: Exchange, type: string, id: string): void {
  if (caller.within('update', type) !== undefined) throw notFound(type, id)
}

async function checkFree(exchange: Exchange, type: string, id: string): Promise<void> {
  authorize(exchange.caller, { action: 'update', type, id })
  checkMayName(exchange, type, id)
  await checkReach(exchange, type, id)
  if ((await exchange.ctx.storage.read(type, id)) === undefined) return
  throw new OperationError('conflict', `No ${type} meets the criteria, but there is one with the id ${quoted(id)}.`)
}

/**
 * Returns the version that must be current: the one in `If-Match`; the current one if `If-Match` lists several or `*`; `null` (none) for
 * `If-None-Match: *`. Versions without quotes are accepted, as clients send them; malformed ones match nothing.
 *
 * @throws {OperationError} `version-conflict` if the current version is not among those in `If-Match`, is listed in `If-None-Match`, or is
 *   later than `If-Unmodified-Since`.
 */
async function expectedVersion(exchange: Exchange, address: Named): Promise<string | null | undefined> {
  const { request } = exchange
  const match = request.header('if-match')
  if (match !== undefined) return matchedVersion(exchange, address, match)
  const since = request.header('if-unmodified-since')
  const unmodified = since === undefined ? undefined : await unmodifiedVersion(exchange, address, since)
  const none = request.header('if-none-match')
  if (none === undefined) return unmodified
  if (none.trim() === '*') return null
  const versionId = await presentVersion(exchange, address)
  if (versionId !== undefined && namesVersion(none, versionId)) throw notAt(address, versionId, `If-None-Match is ${quoted(none)}`)
  return unmodified
}

/** Returns the current version, if there is one, which must still be current when it is replaced. */
async function unmodifiedVersion({ ctx }: Exchange, address: Named, since: string): Promise<string | undefined> {
  const present = await ctx.storage.read(address.type, address.id)
  if (present === undefined) return undefined
  if (isModifiedSince(since, present))
    throw notAt(address, present.versionId, `it was changed after ${quoted(since)} (If-Unmodified-Since)`)
  return present.versionId
}

async function matchedVersion(exchange: Exchange, address: Named, tags: string): Promise<string> {
  const only = /^\s*(?:(?:W\/)?"([^"]*)"|(\d+))\s*$/.exec(tags)
  if (only !== null) return only[1] ?? only[2] ?? ''
  const versionId = await presentVersion(exchange, address)
  if (versionId !== undefined && namesVersion(tags, versionId)) return versionId
  throw notAt(address, versionId, `If-Match is ${quoted(tags)}`)
}

async function presentVersion({ ctx }: Exchange, { type, id }: Named): Promise<string | undefined> {
  return (await ctx.storage.read(type, id))?.versionId
}

function notAt({ type, id }: Named, versionId: string | undefined, condition: string): OperationError {
  const present = versionId === undefined ? 'does not exist' : `has version ${versionId}`
  return new OperationError('version-conflict', `${type}/${id} ${present}, but ${condition}.`)
}

function wrongId(type: string, id: string): OperationError {
  return new OperationError('resource-invalid', `The id of the resource must be ${quoted(id)}.`, { expression: [`${type}.id`] })
}

function givenId(exchange: Exchange): string | undefined {
  return stringAt(resourceOf(exchange), 'id')
}

function resourceOf({ body }: Exchange): JsonObject {
  return body?.json ?? {}
}
