import { createPace, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { isObject, objectAt, stringAt } from '../json/index.js'
import { isHidden, storedInstance, type OperationRequest, type OperationResponse } from '../operation/index.js'
import type { StoredResource } from '../storage/index.js'
import { UPDATE_ID, UPDATE_VERSION } from './finding-kinds.js'
import { readRequest, type ValidateMode, type ValidateRequest } from './read-request.js'
import { toOperationOutcome } from './output.js'
import { findingOf, type Finding } from './run/finding.js'
import { validate, type ValidateResult } from './validate.js'

/** Runs `$validate`. @throws {OperationError} as `checkMode`; `parameter-required` when there is nothing to validate. */
export async function runValidate(ctx: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const asked = await readRequest(createPace(ctx), request)
  const findings = await checkMode(ctx, request, asked)
  if (asked.mode === 'delete') return answer(ctx, { valid: true, findings })
  const { source, profiles, places, policy, explain } = asked
  const resource = source ?? (await storedText(ctx, request))
  const result = await validate(ctx, { ...policy, resource, profiles, places, explain })
  const valid = result.valid && findings.every(({ severity }) => severity !== 'error')
  return answer(ctx, { ...result, valid, findings: [...findings, ...result.findings] })
}

function answer(ctx: OperationContext, result: ValidateResult): OperationResponse {
  const isUnreadable = result.findings.some(({ severity }) => severity === 'fatal')
  return { status: isUnreadable ? 400 : 200, resource: { ...toOperationOutcome(result, { id: ctx.newId() }) } }
}

/** The text of the stored resource, for a request without one. */
async function storedText(ctx: OperationContext, request: OperationRequest): Promise<string> {
  const stored = await storedInstance(ctx, request)
  if (stored !== undefined) return stored.text
  throw new OperationError('parameter-required', 'There is no resource to validate.', { expression: ['resource'] })
}

/**
 * Refuses requests that do not fit their mode, and reports what would prevent an update. The answer for updates and deletions depends on stored
 * resources, so these modes require the right to read them.
 *
 * @throws {OperationError} `parameter-value` for the mode `create` with an id, `parameter-required` for a parameter that the mode needs, `forbidden` for
 *   a resource that the caller may not read, `not-found` when the resource to delete does not exist.
 * @see https://hl7.org/fhir/R4/valueset-resource-validation-mode.html
 */
async function checkMode(ctx: OperationContext, request: OperationRequest, asked: ValidateRequest): Promise<readonly Finding[]> {
  return asked.mode === undefined ? [] : MODES[asked.mode](ctx, request, asked)
}

type ModeCheck = (ctx: OperationContext, request: OperationRequest, asked: ValidateRequest) => Promise<readonly Finding[]>

const MODES: Readonly<Record<ValidateMode, ModeCheck>> = {
  create: (_, { id }) => {
    if (id !== undefined)
      throw new OperationError('parameter-value', 'Mode create is for a type: the server chooses the id.', { expression: ['mode'] })
    return Promise.resolve([])
  },
  update: updateFindings,
  delete: async (ctx, { type, id }) => {
    if (id === undefined)
      throw new OperationError('parameter-required', 'Mode delete needs the id of what is to be deleted in the path.', {
        expression: ['mode'],
      })
    await storedInstance(ctx, { type, id })
    return []
  },
  profile: (_, __, { profiles }) => {
    if (profiles.length === 0) throw new OperationError('parameter-required', 'Mode profile needs a profile.', { expression: ['profile'] })
    return Promise.resolve([])
  },
}

/** An update concerns the resource in the path or, without an id there, the one that the resource's own id names. */
async function updateFindings(
  ctx: OperationContext,
  { type, id: named }: OperationRequest,
  { source }: ValidateRequest,
): Promise<readonly Finding[]> {
  const resource = isObject(source?.value) ? source.value : undefined
  const own = stringAt(resource, 'id')
  const id = named ?? own
  const isUnknown = id !== undefined && isHidden(ctx, type, id)
  if (resource === undefined) return []
  if (own === undefined || own !== id) return [idFinding(type, { own, id })]
  return versionFindings(stringAt(objectAt(resource, 'meta'), 'versionId'), isUnknown ? undefined : await ctx.storage.read(type, id))
}

function idFinding(type: string, { own, id }: { own: string | undefined; id: string | undefined }): Finding {
  const found = own === undefined ? 'it has none' : `not ${quoted(own)}`
  const text =
    id === undefined
      ? 'A resource for an update must have an id.'
      : `The resource to update ${quoted(id)} with must have that id; ${found}.`
  return findingOf(UPDATE_ID, { text, expression: own === undefined ? type : `${type}.id` })
}

function versionFindings(version: string | undefined, stored: StoredResource | undefined): readonly Finding[] {
  if (version === undefined || stored === undefined || stored.versionId === version) return []
  const text = `The resource is based on version ${quoted(version)}, but the current version is ${quoted(stored.versionId)}.`
  return [findingOf(UPDATE_VERSION, { text, expression: `${stored.type}.meta.versionId` })]
}
