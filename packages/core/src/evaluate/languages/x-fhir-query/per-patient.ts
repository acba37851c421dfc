import { checkpoint, createPace, type OperationContext } from '../../../context/index.js'
import { OperationError } from '../../../errors/index.js'
import { parseSearch, type SearchOptions } from '../../../search/index.js'
import { allMatches } from '../../../storage/index.js'
import type { Criterion } from '../../measure-plan.js'
import type { Tally } from '../../tally.js'
import type { Scope } from '../language.js'
import { namesPatient, PATIENT_VARIABLES, patientConditions, searchOptions, singlePatient, subjectParameter } from './criterion-query.js'

const PAGE = 500

/** A scope narrowed to one of its patients. */
export function scopeOfPatient(scope: Scope, id: string): Scope {
  return { ...scope, subject: { type: 'Patient', id }, practitioner: undefined }
}

/**
 * A criterion with basis `boolean` that names the patient only to select what is about this patient, such as
 * `Observation?patient={{%patient.id}}&code=x`, counts the same patients without that condition, in one query for all. Others are returned unchanged.
 */
export function withoutOwnPatient(options: SearchOptions, criterion: Criterion): Criterion {
  if (criterion.basis !== 'boolean' || !namesPatient(criterion)) return criterion
  const [type = '', ...query] = criterion.expression.split('?')
  const name = type === 'Patient' ? '_id' : subjectParameter(options, type, 'Patient')
  if (name === undefined) return criterion
  const own = PATIENT_VARIABLES.flatMap((variable) => [
    `${name}={{%${variable}}}`,
    ...(type === 'Patient' ? [] : [`${name}=Patient/{{%${variable}}}`]),
  ])
  const others = query
    .join('?')
    .split('&')
    .filter((pair) => !own.includes(pair))
  const simpler = { ...criterion, expression: `${type}?${others.join('&')}` }
  return namesPatient(simpler) ? criterion : simpler
}

/**
 * Adds up the tallies of each patient of a scope, one patient after the other. The patients are searched once, at first use.
 *
 * @throws {OperationError} `too-costly` for more patients than `limits.maxExpansion`; `aborted` and `computation-timeout`; what
 *   `ctx.authorize` throws when the caller may not search patients.
 */
export function perPatientTally(ctx: OperationContext, scope: Scope): (tallyIn: (own: Scope) => Promise<Tally>) => Promise<Tally> {
  let ids: Promise<readonly string[]> | undefined
  return async (tallyIn) => {
    const pace = createPace(ctx)
    const tallies: Tally[] = []
    for (const id of await (ids ??= patientIds(ctx, scope))) {
      pace.check()
      await pace.step()
      tallies.push(await tallyIn(scopeOfPatient(scope, id)))
    }
    return {
      count: tallies.reduce((sum, { count }) => sum + count, 0),
      ...(scope.listed === true && { members: tallies.flatMap(({ members }) => members ?? []) }),
    }
  }
}

async function patientIds(ctx: OperationContext, scope: Scope): Promise<readonly string[]> {
  const patient = singlePatient(scope)
  if (patient !== undefined) return [patient.id]
  ctx.authorize?.('search', 'Patient')
  const { query } = await parseSearch('Patient', patientConditions(scope), searchOptions(ctx))
  const { maxExpansion } = ctx.limits
  const ids: string[] = []
  for await (const { id } of allMatches(ctx.storage, { ...query, limit: PAGE })) {
    checkpoint(ctx)
    if (ids.length >= maxExpansion)
      throw new OperationError('too-costly', `Criteria that refer to the patient are evaluated for at most ${maxExpansion} patients.`)
    ids.push(id)
  }
  return ids
}
