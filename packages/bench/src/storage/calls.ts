import type { OperationContext } from 'fhir-ops/context'
import { evaluateMeasure } from 'fhir-ops/evaluate'
import { parseSearch } from 'fhir-ops/search'
import type { SearchPair } from 'fhir-ops/internal/search'
import type { SearchQuery } from 'fhir-ops/storage'
import type { Draws } from '../content/draws.js'
import { patientId } from './clinical-resources.js'

/** A call that is repeated, each time for another patient or code. */
export interface Call {
  readonly name: string
  readonly run: () => Promise<unknown>
}

/** The calls over a storage with a number of patients. */
export function callsOver(
  ctx: OperationContext,
  { patients, draws }: { readonly patients: number; readonly draws: Draws },
): readonly Call[] {
  const code = (): string => `http://loinc.org|${draws.below(101)}`
  const patient = (): string => patientId(draws.below(patients))
  const page = async (type: string, ...pairs: SearchPair[]): Promise<unknown> =>
    ctx.storage.search(await query(ctx, type, [...pairs, ['_count', '20']]))
  const count = async (type: string, ...pairs: SearchPair[]): Promise<unknown> => ctx.storage.count(await query(ctx, type, pairs))
  return [
    { name: 'read', run: async () => ctx.storage.read('Patient', patient()) },
    { name: 'page: an identifier', run: async () => page('Patient', ['identifier', `http://example.org/mrn|${draws.below(patients)}`]) },
    {
      name: 'page: the Observations of a patient, newest first',
      run: async () => page('Observation', ['subject', `Patient/${patient()}`], ['_sort', '-date']),
    },
    { name: 'page: a code (1 % of the Observations)', run: async () => page('Observation', ['code', code()]) },
    { name: 'page: a code and a year', run: async () => page('Observation', ['code', code()], ['date', `${2016 + draws.below(9)}`]) },
    {
      name: 'page: a code, of female patients',
      run: async () => page('Observation', ['code', code()], ['subject:Patient.gender', 'female']),
    },
    { name: 'page: all Observations, newest first', run: async () => page('Observation', ['_sort', '-date']) },
    { name: 'page: a status (90 %), by date', run: async () => page('Observation', ['status', 'final'], ['_sort', 'date']) },
    { name: 'count: all Observations', run: async () => count('Observation') },
    { name: 'count: a code', run: async () => count('Observation', ['code', code()]) },
    { name: 'count: a code and a year', run: async () => count('Observation', ['code', code()], ['date', `${2016 + draws.below(9)}`]) },
    {
      name: 'count: a quantity above a number (half of all)',
      run: async () => count('Observation', ['value-quantity', `gt${90 + draws.below(20)}`]),
    },
    { name: 'count: a status (90 % of all)', run: async () => count('Observation', ['status', 'final']) },
    {
      name: '$evaluate-measure, four populations',
      run: async () => evaluateMeasure(ctx, { measure: 'Measure/bench', periodStart: `${2016 + draws.below(9)}`, periodEnd: '2025' }),
    },
  ]
}

async function query(ctx: OperationContext, type: string, pairs: readonly SearchPair[]): Promise<SearchQuery> {
  if (ctx.search === undefined) throw new TypeError('The context has no search parameters.')
  return (await parseSearch(type, pairs, ctx.search)).query
}
