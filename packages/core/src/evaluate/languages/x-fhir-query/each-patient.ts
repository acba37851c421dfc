import { createPace, type OperationContext } from '../../../context/index.js'
import type { Tally } from '../../tally.js'
import type { Scope } from '../language.js'
import { patientIds } from './patient-ids.js'

/**
 * Adds up what belongs to each patient that an evaluation is about, one after the other. The patients are looked up once, at first use.
 *
 * @throws {OperationError} as `patientIds`; `aborted` and `computation-timeout`.
 */
export function eachPatient(ctx: OperationContext, scope: Scope): (tallyIn: (own: Scope) => Promise<Tally>) => Promise<Tally> {
  let ids: Promise<readonly string[]> | undefined
  return async (tallyIn) => {
    const pace = createPace(ctx)
    const tallies: Tally[] = []
    for (const id of await (ids ??= patientIds(ctx, scope))) {
      pace.check()
      if (pace.due()) await pace.pause()
      tallies.push(await tallyIn(ofPatient(scope, id)))
    }
    return {
      count: tallies.reduce((sum, { count }) => sum + count, 0),
      ...(scope.listed === true && { members: tallies.flatMap(({ members }) => members ?? []) }),
    }
  }
}

/** The scope of one of the patients of a scope. */
export function ofPatient(scope: Scope, id: string): Scope {
  return { ...scope, subject: { type: 'Patient', id }, practitioner: undefined }
}
