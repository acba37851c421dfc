import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { isResourceId } from '../storage/index.js'

/**
 * The id of the patient that a subject names: `Patient/<id>`, or an id alone.
 *
 * @throws {OperationError} `parameter-unsupported` for a Group; `parameter-invalid` for other subjects than patients, and when the
 *   Measure is about others; `content-not-found` when there is no such patient.
 */
export async function patientIdOf(ctx: OperationContext, subject: string, measure: JsonObject): Promise<string> {
  const [type = '', id = ''] = subject.includes('/') ? subject.split('/', 2) : ['Patient', subject]
  if (type === 'Group') throw new OperationError('parameter-unsupported', 'A Group as subject is not supported.', { expression: ['subject'] })
  if (type !== 'Patient' || subjectTypeOf(measure) !== 'Patient' || !isResourceId(id)) {
    throw new OperationError('parameter-invalid', `Subject ${quoted(subject)} is no patient, or the Measure is not about patients.`, {
      expression: ['subject'],
    })
  }
  ctx.authorize?.('read', 'Patient', id)
  if ((await ctx.storage.read('Patient', id)) === undefined) {
    throw new OperationError('content-not-found', `Patient/${id} does not exist.`, { expression: ['subject'] })
  }
  return id
}

/** R4: Patient where the Measure does not say. A subject by reference is a Group of them. */
function subjectTypeOf(measure: JsonObject): string {
  const [coding] = objectsAt(objectAt(measure, 'subjectCodeableConcept'), 'coding')
  return stringAt(coding, 'code') ?? 'Patient'
}
