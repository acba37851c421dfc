import { checkpoint, type OperationContext } from '../../../context/index.js'
import { OperationError } from '../../../errors/index.js'
import { parseSearch } from '../../../search/index.js'
import { allMatches } from '../../../storage/index.js'
import type { Scope } from '../language.js'
import { patientConditions, searchOptions } from './criterion-query.js'

const PAGE = 500

/**
 * Ids of the patients that an evaluation is about.
 *
 * @throws {OperationError} `too-costly` when there are more than `limits.maxExpansion`; what `ctx.authorize` throws when the caller may not
 *   search patients.
 */
export async function patientIds(ctx: OperationContext, scope: Scope): Promise<readonly string[]> {
  const { subject, practitioner } = scope
  if (subject?.type === 'Patient' && practitioner === undefined) return [subject.id]
  ctx.authorize?.('search', 'Patient')
  const { query } = await parseSearch('Patient', patientConditions(scope), searchOptions(ctx))
  const { maxExpansion } = ctx.limits
  const ids: string[] = []
  for await (const { id } of allMatches(ctx.storage, { ...query, limit: PAGE })) {
    checkpoint(ctx)
    if (ids.length >= maxExpansion)
      throw new OperationError('too-costly', `Criteria that name the patient are evaluated for at most ${maxExpansion} patients.`)
    ids.push(id)
  }
  return ids
}
