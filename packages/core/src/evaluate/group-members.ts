import { OperationError } from '../errors/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'

/**
 * Sees to it that the members of a Group are what a search for its members finds: patients, each for as long as the Group stands.
 *
 * @throws {OperationError} `not-supported` naming the member that is something else, or has left.
 */
export function checkMembers(group: JsonObject, id: string): void {
  if (group['actual'] === false) throw unfit(id, 'it describes its members and does not list them')
  for (const [index, member] of objectsAt(group, 'member').entries()) {
    const fault = faultOf(member)
    if (fault !== undefined) throw unfit(id, `Group.member[${index}] ${fault}`)
  }
}

function faultOf(member: JsonObject): string | undefined {
  if (member['inactive'] === true) return 'is inactive'
  if (member['period'] !== undefined) return 'has a period'
  return stringAt(objectAt(member, 'entity'), 'reference')?.startsWith('Patient/') === true
    ? undefined
    : 'does not refer to a patient by Patient/<id>'
}

function unfit(id: string, reason: string): OperationError {
  return new OperationError('not-supported', `Group/${id} cannot be evaluated: ${reason}.`, { expression: ['subject'] })
}
