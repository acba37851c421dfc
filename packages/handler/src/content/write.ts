import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { DEFAULT_BOT_LIMITS, type Bots } from 'fhir-ops/execute'
import { checkpoint, createPace, paced, type Pace } from 'fhir-ops/internal/context'
import { outcomeOk, quoted } from 'fhir-ops/internal/errors'
import { checkBotSchemas, readBot } from 'fhir-ops/internal/execute'
import { measureJson, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { checkVersion, puttingResource } from 'fhir-ops/internal/storage'
import { onDemand } from 'fhir-ops/internal/work'
import { storedResource, type Condition, type DeleteEntry, type StoredResource, type WriteEntry, type WriteResult } from 'fhir-ops/storage'
import { authorize, notFound, type Caller } from '../auth/caller.js'
import { param, type Exchange, type WritePlan } from '../exchange.js'
import { emptyAnswer, fhirAnswer, fhirText, type Answer } from '../http/answer.js'
import { PROTOCOL_PARAMETERS, returnPreference } from '../http/negotiation.js'
import { parseQuery } from '../http/target.js'
import { FHIR_PATH, type Service } from '../service.js'
import { criteriaText, matchesOf, onlyMatchWithCondition, type Criteria } from './criteria.js'
import { checkNoDefinition } from './definitions.js'
import { checkReach, isInReach, withoutResource } from './reach.js'
import { isModifiedSince, namesVersion, versionHeaders } from './read.js'
import { SHAPING } from './search/subset.js'

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
  return PROTOCOL_PARAMETERS.has(name) || SHAPING.has(name)
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

const validation = onDemand(() => import('fhir-ops/internal/validate'))

/** A resource before it is stored. */
interface ToStore {
  readonly type: string
  /** JSON text; absent for a resource from a bot. */
  readonly text?: string
  /** The parsed resource. */
  readonly resource: JsonObject
}

/**
 * Refuses a resource with errors, if the service validates what it stores. Bots are not defined by R4 and have their own checks.
 *
 * @throws {OperationError} `validation-failed` with all errors that `$validate` finds.
 */
export async function checkValid({ validateWrites }: Service, ctx: OperationContext, { type, ...given }: ToStore): Promise<void> {
  if (validateWrites === 'none' || type === 'Bot') return
  const checks = validateWrites === 'full' ? 'all' : 'structure'
  const { validate, issueOfFinding } = await validation()
  const { valid, findings } = await validate(ctx, { resource: await sourceOf(ctx, given), checks })
  if (valid) return
  const issues = findings.filter(({ severity }) => severity === 'error' || severity === 'fatal').map(issueOfFinding)
  throw new OperationError('validation-failed', `The ${type} is not valid, so it is not stored.`, { issues })
}

/** Returns the parsed resource, which saves reading the text again, unless it has numbers that JavaScript would write differently. */
async function sourceOf(ctx: OperationContext, { text, resource }: Omit<ToStore, 'type'>): Promise<string | JsonObject> {
  if (text === undefined) return resource
  const { numbers } = await createPace(ctx).run(measureJson(text, { numbers: true }))
  return numbers.size === 0 ? resource : text
}

/**
 * Checks a Bot before it is stored: it is well-formed, does not use a runtime of the host, its source is not too long, its schemas are usable,
 * and it belongs to the caller's project if the token names one.
 *
 * @throws {OperationError} `resource-invalid`, `too-costly`, `forbidden`, `definition-invalid`, `not-supported`
 */
function checkBot(resource: JsonObject, { principal }: Caller, bots: Bots | undefined): void {
  const { sourceBytes } = bots?.limits ?? DEFAULT_BOT_LIMITS
  const bot = readBot(resource)
  if (new TextEncoder().encode(bot.code).length > sourceBytes) {
    throw new OperationError('too-costly', `The source of a Bot must not be longer than ${sourceBytes} bytes.`, {
      expression: ['Bot.code'],
    })
  }
  if (principal?.project !== undefined && bot.project !== principal.project) {
    throw new OperationError('forbidden', 'The Bot must belong to the project of the access token.', { expression: ['Bot.project'] })
  }
  if (bots !== undefined) checkBotSchemas(bot, bots)
}

/** Executes a planned write. @throws {OperationError} `version-conflict` */
export async function executePlan(service: Service, exchange: Exchange, plan: WritePlan): Promise<Answer> {
  const writes = await writesOf(plan, createPace(exchange.ctx))
  checkpoint(exchange.ctx)
  const results = writes.length === 0 ? [] : await exchange.ctx.storage.write(writes)
  return answerToPlan(service, exchange, { plan, writes, results })
}

/** Maximum number of attempts of a write that conflicts with other writes. */
const ATTEMPTS = 5

/**
 * Plans and writes a change, and tries again if others have changed the resource meanwhile.
 *
 * @throws {OperationError} `version-conflict` if every attempt conflicts.
 */
export async function retryingConflicts<T>(change: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await change()
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof OperationError) || error.code !== 'version-conflict') throw error
    }
  }
}

/** A plan that has been executed. */
interface DoneWrite {
  readonly plan: WritePlan
  readonly writes: readonly WriteEntry[]
  readonly results: readonly WriteResult[]
}

/** Makes the answer to a write. The answer to the deletion of a single resource includes the new version. */
export async function answerToPlan(
  service: Service,
  exchange: Exchange,
  { plan, writes: [first, ...others], results: [result] }: DoneWrite,
): Promise<Answer> {
  const { subset } = plan
  if (plan.kind === 'found') return resourceAnswer(service, exchange, { stored: plan.stored, status: 200, subset })
  if (first === undefined || first.op === 'delete') return deletionAnswer(exchange, others.length === 0 ? result : undefined)
  if (result?.versionId === undefined) throw new TypeError('The storage gave no version for a put.')
  const { type, id, text } = first
  const stored = storedResource({ type, id, text, versionId: result.versionId, lastUpdated: result.lastUpdated })
  return resourceAnswer(service, exchange, { stored, status: result.created ? 201 : 200, subset })
}

function deletionAnswer({ request }: Exchange, result: WriteResult | undefined): Answer {
  const { versionId, lastUpdated } = result ?? {}
  const headers = versionId === undefined || lastUpdated === undefined ? [] : versionHeaders({ versionId, lastUpdated })
  return returnPreference(request) === 'OperationOutcome' ? fhirAnswer(200, outcomeOk(), headers) : emptyAnswer(204, headers)
}

interface Shown {
  readonly stored: StoredResource
  readonly status: 200 | 201
  readonly subset: WritePlan['subset']
}

/** A patch returns the resource only to callers who may read it, because they sent only a part of it. */
async function resourceAnswer(service: Service, { request, caller, ctx }: Exchange, { stored, status, subset }: Shown): Promise<Answer> {
  const { type, id, versionId } = stored
  const location = `${service.baseUrl}${FHIR_PATH}/${type}/${id}/_history/${versionId}`
  const headers = [...versionHeaders(stored), ['Location', location] as const]
  const preference = returnPreference(request)
  if (preference === 'minimal' || (request.method === 'PATCH' && caller.decide('read', type, id) !== 'allow'))
    return emptyAnswer(status, headers)
  if (preference === 'OperationOutcome') return fhirAnswer(status, outcomeOk(), headers)
  return fhirText(status, subset === undefined ? stored.text : await paced(ctx, subset(stored.text)), headers)
}

/** Returns the changes of a plan. @param text Text of the resource, if it differs from the one that was sent. */
export async function writesOf(plan: WritePlan, pace: Pace, text?: string): Promise<readonly WriteEntry[]> {
  if (plan.kind === 'put') return [await pace.run(plan.entry(text ?? plan.text))]
  return plan.kind === 'delete' && plan.hidden !== true ? plan.entries : []
}
