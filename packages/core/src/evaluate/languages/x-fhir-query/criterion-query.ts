import type { OperationContext } from '../../../context/index.js'
import { ERRORS, OperationError, quoted } from '../../../errors/index.js'
import { parseSearch, searchTypesOf, type SearchOptions } from '../../../search/index.js'
import type { SearchQuery } from '../../../storage/index.js'
import type { Criterion } from '../../measure-plan.js'
import type { Scope } from '../language.js'
import { parseExpression } from './expression.js'
import { patientParameter } from './patient-parameter.js'

const PATIENT_VARIABLES = ['subject.id', 'patient.id']

/**
 * The query that a criterion's expression is. With a patient in the scope it finds only what belongs to that patient, unless the
 * expression names the patient itself. Parameters that do not select anything (`_count`, `_sort` ...) have no effect on a count.
 *
 * @throws {OperationError} `definition-invalid` naming the place and what is wrong with it; what `ctx.authorize` throws for a type
 *   that the caller may not search.
 */
export async function criterionQuery(ctx: OperationContext, criterion: Criterion, scope: Scope): Promise<SearchQuery> {
  const options = searchOptions(ctx)
  const query = await placed(criterion, async () => {
    const { type, parameters } = parseExpression(criterion.expression, variablesOf(scope))
    const own = namesPatient(criterion) || scope.patient === undefined ? [] : [ofPatient(options, type, scope.patient)]
    return (await parseSearch(type, [...parameters, ...own], options)).query
  })
  for (const type of searchTypesOf(query)) ctx.authorize?.('search', type)
  return query
}

/** How searches are read. @throws {OperationError} `not-supported` when the context does not say. */
export function searchOptions({ search }: OperationContext): SearchOptions {
  if (search !== undefined) return search
  throw new OperationError('not-supported', 'Criteria that are searches need search parameters, which are not loaded.')
}

function namesPatient({ expression }: Criterion): boolean {
  return PATIENT_VARIABLES.some((name) => expression.includes(`{{%${name}}}`))
}

/** The search parameter that leaves what belongs to one patient. */
function ofPatient(options: SearchOptions, type: string, patient: string): readonly [string, string] {
  if (type === 'Patient') return ['_id', patient]
  const parameter = patientParameter(options, type)
  if (parameter !== undefined) return [parameter, `Patient/${patient}`]
  throw new OperationError('search-invalid', `${quoted(type)} does not refer to a patient.`)
}

function variablesOf({ period, patient }: Scope): ReadonlyMap<string, string> {
  return new Map([
    ['periodStart', period.start],
    ['periodEnd', period.end],
    ['measurementPeriod.start', period.start],
    ['measurementPeriod.end', period.end],
    ...(patient === undefined ? [] : PATIENT_VARIABLES.map((name) => [name, patient] as const)),
  ])
}

/** Says where in the Measure the search stands that could not be understood. A search is part of the Measure: its faults are 422. */
async function placed<T>({ place, path }: Criterion, parse: () => Promise<T>): Promise<T> {
  try {
    return await parse()
  } catch (error) {
    if (!(error instanceof OperationError) || ERRORS[error.code].status !== 400) throw error
    throw new OperationError('definition-invalid', `${place}: ${error.message}`, { expression: [`${path}.criteria.expression`], cause: error })
  }
}
