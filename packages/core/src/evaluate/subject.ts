import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { isResourceId } from '../storage/index.js'
import { checkMembers } from './group-members.js'

/** Who an evaluation is about: one patient, or the patients of a Group. */
export interface Subject {
  readonly type: 'Patient' | 'Group'
  readonly id: string
}

/**
 * The subject that a request names: `Patient/<id>`, an id alone, or `Group/<id>`.
 *
 * @throws {OperationError} `parameter-invalid` for other subjects than patients, and when the Measure is about others; `content-not-found`
 *   when there is no such subject; `not-supported` for a Group that is not a list of patients.
 */
export async function subjectOf(ctx: OperationContext, given: string, measure: JsonObject): Promise<Subject> {
  const { type, id } = referenceIn(given, 'Patient')
  if ((type !== 'Patient' && type !== 'Group') || subjectTypeOf(measure) !== 'Patient' || !isResourceId(id)) {
    throw new OperationError(
      'parameter-invalid',
      `Subject ${quoted(given)} is neither a patient nor a Group, or the Measure is not about patients.`,
      {
        expression: ['subject'],
      },
    )
  }
  const resource = await existing(ctx, { type, id }, 'subject')
  if (type === 'Group') checkMembers(resource, id)
  return { type, id }
}

/**
 * The id of the practitioner that a request names: `Practitioner/<id>`, or an id alone.
 *
 * @throws {OperationError} `parameter-invalid` for a reference to something else; `content-not-found` when there is no such practitioner.
 */
export async function practitionerIdOf(ctx: OperationContext, given: string): Promise<string> {
  const { type, id } = referenceIn(given, 'Practitioner')
  if (type !== 'Practitioner' || !isResourceId(id)) {
    throw new OperationError('parameter-invalid', `${quoted(given)} is not a practitioner.`, { expression: ['practitioner'] })
  }
  await existing(ctx, { type, id }, 'practitioner')
  return id
}

interface LocalReference {
  readonly type: string
  readonly id: string
}

/** Takes `<type>/<id>` apart; an id alone is of the type that is meant. A longer reference has no valid id. */
function referenceIn(given: string, meant: string): LocalReference {
  const slash = given.indexOf('/')
  return slash < 0 ? { type: meant, id: given } : { type: given.slice(0, slash), id: given.slice(slash + 1) }
}

async function existing(ctx: OperationContext, { type, id }: LocalReference, parameter: string): Promise<JsonObject> {
  ctx.authorize?.('read', type, id)
  const stored = await ctx.storage.read(type, id)
  if (stored !== undefined) return stored.resource
  throw new OperationError('content-not-found', `${type}/${id} does not exist.`, { expression: [parameter] })
}

/** Type of the subjects of a Measure: Patient where it does not say (R4). A subject by reference is a Group of them. */
export function subjectTypeOf(measure: JsonObject): string {
  const [coding] = objectsAt(objectAt(measure, 'subjectCodeableConcept'), 'coding')
  return stringAt(coding, 'code') ?? 'Patient'
}
