import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { isResourceId } from '../storage/index.js'

/** Who an evaluation is about: one patient, or the patients of a Group. */
export interface Subject {
  readonly type: 'Patient' | 'Group'
  readonly id: string
}

/**
 * The subject that a request names: `Patient/<id>`, an id alone, or `Group/<id>`.
 *
 * @throws {OperationError} `parameter-invalid` for other subjects than patients, and when the Measure has others; `content-not-found`
 *   when there is no such subject; `not-supported` for a Group that is not a list of patients.
 */
export async function subjectOf(ctx: OperationContext, given: string, measure: JsonObject): Promise<Subject> {
  const { type, id } = referenceIn(given, 'Patient')
  if ((type !== 'Patient' && type !== 'Group') || !isResourceId(id)) {
    throw notEvaluable('parameter-invalid', `Subject ${quoted(given)} is not a reference to a Patient or Group`)
  }
  const subjectType = subjectTypeOf(measure)
  if (subjectType !== 'Patient') {
    throw notEvaluable('parameter-invalid', `The subjects of the Measure are of type ${quoted(subjectType)}; 'subject' needs patients`)
  }
  const resource = await existing(ctx, { type, id }, 'subject')
  if (type === 'Group') checkMembers(resource, id)
  return { type, id }
}

/** Type of the subjects of a Measure, by default Patient. A subject by reference is a Group of patients. */
export function subjectTypeOf(measure: JsonObject): string {
  const [coding] = objectsAt(objectAt(measure, 'subjectCodeableConcept'), 'coding')
  return stringAt(coding, 'code') ?? 'Patient'
}

/** Refuses a Group whose members a search by membership does not find, or finds although their membership is limited in time. */
function checkMembers(group: JsonObject, id: string): void {
  const fault = group['actual'] === false ? 'it describes its members and does not list them' : faultyMember(group)
  if (fault !== undefined) throw notEvaluable('not-supported', `Group/${id} cannot be evaluated: ${fault}`)
}

function faultyMember(group: JsonObject): string | undefined {
  const faults = objectsAt(group, 'member').map(faultOf)
  const index = faults.findIndex((fault) => fault !== undefined)
  return index < 0 ? undefined : `Group.member[${index}] ${faults[index]}`
}

function faultOf(member: JsonObject): string | undefined {
  if (member['inactive'] === true) return 'is inactive'
  if (member['period'] !== undefined) return 'has a period'
  return stringAt(objectAt(member, 'entity'), 'reference')?.startsWith('Patient/') === true
    ? undefined
    : 'does not refer to a patient as Patient/<id>'
}

function notEvaluable(code: 'parameter-invalid' | 'not-supported', message: string): OperationError {
  return new OperationError(code, `${message}.`, { expression: ['subject'] })
}

/**
 * The id of the practitioner that a request names: `Practitioner/<id>`, or an id alone.
 *
 * @throws {OperationError} `parameter-invalid` for a reference to something else; `content-not-found` when there is no such practitioner.
 */
export async function practitionerIdOf(ctx: OperationContext, given: string): Promise<string> {
  const { type, id } = referenceIn(given, 'Practitioner')
  if (type !== 'Practitioner' || !isResourceId(id)) {
    throw new OperationError('parameter-invalid', `${quoted(given)} is not a reference to a Practitioner.`, {
      expression: ['practitioner'],
    })
  }
  await existing(ctx, { type, id }, 'practitioner')
  return id
}

interface LocalReference {
  readonly type: string
  readonly id: string
}

/** The type and id of `<type>/<id>`; an id alone has the default type. Of a longer reference the id is not valid. */
function referenceIn(given: string, defaultType: string): LocalReference {
  const slash = given.indexOf('/')
  return slash < 0 ? { type: defaultType, id: given } : { type: given.slice(0, slash), id: given.slice(slash + 1) }
}

async function existing(ctx: OperationContext, { type, id }: LocalReference, parameter: string): Promise<JsonObject> {
  ctx.authorize?.('read', type, id)
  const stored = await ctx.storage.read(type, id)
  if (stored !== undefined) return stored.resource
  throw new OperationError('content-not-found', `${type}/${id} does not exist.`, { expression: [parameter] })
}
