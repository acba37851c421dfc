import { createPace } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { isObject, readStrictValue, type JsonObject } from 'fhir-ops/internal/json'
import type { StoredResource } from 'fhir-ops/storage'
import { utf8Length } from 'fhir-ops/internal/text'
import { authorize, notFound } from '../../auth/caller.js'
import { param, type Exchange, type WritePlan } from '../../exchange.js'
import { mediaTypeOf } from '../../http/negotiation.js'
import { limitsForBody, strictWithin } from '../../limits.js'
import type { Service } from '../../service.js'
import { onlyMatch } from '../criteria.js'
import { checkNoDefinition } from '../definitions.js'
import { isReached } from '../reach.js'
import { isModifiedSince, missing, namesVersion } from '../read.js'
import { checkByIdOnly, criteriaOf, planText, type Named } from '../write.js'
import { readFhirPathPatch } from './fhirpath-operations.js'
import { fhirPathPatched } from './fhirpath-patch.js'
import { jsonPatched, readJsonPatch, type PatchLimits } from './json-patch.js'

/**
 * Plans to patch the resource at the path, from its current version to the next.
 *
 * @throws {OperationError} `not-found`, `deleted`; `version-conflict` if it is not at the version in `If-Match`; `body-structure` for a malformed
 *   patch; as the kind of patch; `unprocessable` if the result has another type or id; as `planText`.
 * @see https://hl7.org/fhir/R4/http.html#patch
 */
export async function planPatch(service: Service, exchange: Exchange): Promise<WritePlan> {
  const [type, id] = [param(exchange, 'type'), param(exchange, 'id')]
  checkByIdOnly(exchange)
  const stored = await exchange.ctx.storage.read(type, id)
  if (stored !== undefined) return planChange(service, exchange, stored)
  await checkNoDefinition(service, exchange.ctx, { type, id })
  throw await missing(exchange, type, id)
}

/** As `planPatch`, for the only resource that meets the criteria of the URL. @throws {OperationError} also as `onlyMatch`; `not-found` if there is none. */
export async function planConditionalPatch(service: Service, exchange: Exchange): Promise<WritePlan> {
  const criteria = criteriaOf(exchange)
  const match = await onlyMatch(service, exchange, criteria)
  if (match === undefined) throw new OperationError('not-found', `No ${criteria.type} meets the criteria.`)
  authorize(exchange.caller, { action: 'update', type: criteria.type, id: match.id })
  return planChange(service, exchange, match)
}

async function planChange(service: Service, exchange: Exchange, stored: StoredResource): Promise<WritePlan> {
  const { type, id, versionId } = stored
  if (!(await isReached(exchange, stored))) throw notFound(type, id)
  checkVersion(exchange, stored)
  const text = await applyPatch(service, exchange, stored)
  const resource = await resultOf(service, exchange, { type, id, text })
  try {
    return await planText(service, exchange, { type, id, ifVersion: versionId, text, resource })
  } catch (error) {
    throw withoutFindings(exchange, { type, id }, error)
  }
}

/** Findings quote the resource, so only callers who may read it get them. */
function withoutFindings({ caller }: Exchange, { type, id }: Named, error: unknown): unknown {
  const isTold = !(error instanceof OperationError) || error.code !== 'validation-failed' || caller.decide('read', type, id) === 'allow'
  return isTold ? error : new OperationError('validation-failed', error.message)
}

/** Operations that reveal the content: `test` directly, `copy` and `move` because the place of the result may show the form of a value. */
const ASKING: ReadonlySet<string> = new Set(['test', 'copy', 'move'])

function checkVersion({ request }: Exchange, { type, id, versionId, lastUpdated }: StoredResource): void {
  const [match, none, since] = ['if-match', 'if-none-match', 'if-unmodified-since'].map((name) => request.header(name))
  const isMatch = match === undefined ? since === undefined || !isModifiedSince(since, { lastUpdated }) : namesVersion(match, versionId)
  if (isMatch && (none === undefined || !namesVersion(none, versionId))) return
  throw new OperationError('version-conflict', `${type}/${id} is not at the expected version.`)
}

async function applyPatch(service: Service, exchange: Exchange, { type, id, text }: StoredResource): Promise<string> {
  const { ctx, body } = exchange
  const pace = createPace(ctx)
  const limits = limitsFor(service, exchange)
  const document = body?.text.trimStart() ?? ''
  if (isJsonPatch(exchange, document)) {
    const operations = await readJsonPatch(document, limits, pace)
    if (operations.some(({ op }) => ASKING.has(op))) authorize(exchange.caller, { action: 'read', type, id })
    return jsonPatched(text, operations, { limits, pace })
  }
  // A path may contain a condition, whose result reveals the content.
  authorize(exchange.caller, { action: 'read', type, id })
  const model = ctx.types ?? ctx.search?.parameters.model
  if (model === undefined)
    throw new OperationError('not-supported', 'This server applies JSON Patch only: it does not have the types of FHIR.')
  return fhirPathPatched(text, await readFhirPathPatch(document, pace), { model, now: ctx.now, limits, pace })
}

/** @throws {OperationError} `body-structure` for a body that is neither kind of patch, or does not fit its media type. */
function isJsonPatch({ request, body }: Exchange, document: string): boolean {
  const isList = document.startsWith('[')
  const isStated = mediaTypeOf(request.header('content-type')) === 'application/json-patch+json'
  if (isStated && !isList) throw new OperationError('body-structure', 'A JSON Patch must be a list of operations.')
  if (isList || body?.json?.['resourceType'] === 'Parameters') return isList
  throw new OperationError('body-structure', 'The body must be a JSON Patch or Parameters with a FHIRPath Patch.', {
    expression: ['resourceType'],
  })
}

function limitsFor({ limits }: Service, { route, params }: Exchange): PatchLimits {
  return { maxBytes: route?.maxBytes?.(params.get('type') ?? '') ?? limits.bodyBytes, maxDepth: limits.jsonDepth }
}

interface Result extends Named {
  readonly text: string
}

/** Checks the result like a request body. @throws {OperationError} `unprocessable`, `too-costly` */
async function resultOf(service: Service, exchange: Exchange, { type, id, text }: Result): Promise<JsonObject> {
  const { maxBytes } = limitsFor(service, exchange)
  if (utf8Length(text) > maxBytes) throw new OperationError('too-costly', `The patched resource would be longer than ${maxBytes} bytes.`)
  const resource = await strictly(service, exchange, text)
  if (!isObject(resource) || resource['resourceType'] !== type || resource['id'] !== id)
    throw new OperationError('unprocessable', `A patch cannot change the type or the id of ${type}/${id}.`, { expression: [`${type}.id`] })
  return resource
}

async function strictly({ limits }: Service, { ctx }: Exchange, text: string): Promise<unknown> {
  try {
    const options = { ...strictWithin(limitsForBody(limits, text.length)), name: 'The patched resource' }
    return await createPace(ctx).run(readStrictValue(text, options))
  } catch (error) {
    if (!(error instanceof OperationError) || !/^(?:body|parameter)-/.test(error.code)) throw error
    throw new OperationError('unprocessable', error.message, { cause: error })
  }
}
