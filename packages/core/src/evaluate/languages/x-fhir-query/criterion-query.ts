import type { OperationContext } from '../../../context/index.js'
import { ERRORS, OperationError, quoted, type ErrorCode } from '../../../errors/index.js'
import { hierarchyOf, parseSearch, searchTypesOf, type SearchOptions } from '../../../search/index.js'
import type { SearchQuery } from '../../../storage/index.js'
import type { Criterion } from '../../measure-plan.js'
import type { Scope } from '../language.js'
import { parseExpression } from './expression.js'
import { subjectParameter } from './subject-parameter.js'

/** What a criterion may call the one patient that it is evaluated for. */
export const PATIENT_VARIABLES: readonly string[] = ['subject.id', 'patient.id']

/**
 * The query that a criterion's expression is. With patients in the scope it finds only what belongs to them; an expression that
 * names the one patient itself is not narrowed to it. Parameters that do not select anything (`_count`, `_sort` ...) have no effect on a count.
 *
 * @throws {OperationError} `definition-invalid` naming the place and what is wrong with it; what `ctx.authorize` throws for a type
 *   that the caller may not search.
 */
export async function criterionQuery(ctx: OperationContext, criterion: Criterion, scope: Scope): Promise<SearchQuery> {
  const options = searchOptions(ctx)
  const query = await placed(criterion, async () => {
    const { type, parameters } = parseExpression(criterion.expression, variablesOf(scope))
    const conditions = namesPatient(criterion) ? [] : patientConditions(scope)
    const own = conditions.map((condition) => ofPatients(options, type, condition))
    const { query } = await parseSearch(type, [...parameters, ...own], options)
    if (query.after !== undefined) throw new OperationError('search-unsupported', "A criterion has no pages, so it takes no '_cursor'.")
    return query
  })
  for (const type of searchTypesOf(query)) ctx.authorize?.('search', type)
  return query
}

/** How searches are read. @throws {OperationError} `not-supported` when the context does not say. */
export function searchOptions({ search, storage, authorize }: OperationContext): SearchOptions {
  if (search === undefined)
    throw new OperationError('not-supported', 'Criteria that are searches need search parameters, which are not loaded.')
  return {
    ...search,
    hierarchyOf: async (question) => {
      authorize?.('search', question.type)
      return hierarchyOf(storage, question)
    },
  }
}

/** Whether a criterion is one that is evaluated for each patient. */
export function namesPatient({ expression }: Criterion): boolean {
  return PATIENT_VARIABLES.some((name) => expression.includes(`{{%${name}}}`))
}

type Condition = readonly [name: string, value: string]

/** What a search for the patients that are looked at says. */
export function patientConditions({ subject, practitioner }: Scope): readonly Condition[] {
  const conditions: Condition[] = practitioner === undefined ? [] : [['general-practitioner', `Practitioner/${practitioner}`]]
  if (subject?.type === 'Group') conditions.push(['_has:Group:member:_id', subject.id])
  if (subject?.type === 'Patient') conditions.push(['_id', subject.id])
  return conditions
}

/** The condition on patients as one on resources of a type that refers to them. */
function ofPatients(options: SearchOptions, type: string, [name, value]: Condition): Condition {
  if (type === 'Patient') return [name, value]
  const parameter = subjectParameter(options, type, 'Patient')
  if (parameter === undefined) throw new OperationError('search-invalid', `${quoted(type)} does not refer to a patient.`)
  return name === '_id' ? [parameter, `Patient/${value}`] : [`${parameter}:Patient.${name}`, value]
}

function variablesOf({ period, subject }: Scope): ReadonlyMap<string, string> {
  return new Map([
    ['periodStart', period.start],
    ['periodEnd', period.end],
    ['measurementPeriod.start', period.start],
    ['measurementPeriod.end', period.end],
    ...(subject?.type === 'Patient' ? PATIENT_VARIABLES.map((name) => [name, subject.id] as const) : []),
  ])
}

/** Says where in the Measure an expression stands that could not be understood. It is part of the Measure: its faults are 422. */
export async function placed<T>({ place, path }: Criterion, parse: () => Promise<T>): Promise<T> {
  try {
    return await parse()
  } catch (error) {
    const code = error instanceof OperationError ? codeInMeasure(error.code) : undefined
    if (code === undefined || !(error instanceof OperationError)) throw error
    throw new OperationError(code, `${place}: ${error.message}`, { expression: [`${path}.criteria.expression`], cause: error })
  }
}

/** The code of a search error where the search is part of a definition; `undefined` for errors of the caller and of the storage or upstream server. */
function codeInMeasure(code: ErrorCode): ErrorCode | undefined {
  const { status } = ERRORS[code]
  if (status === 400) return 'definition-invalid'
  if (status === 404) return 'definition-not-found'
  return status === 422 ? code : undefined
}
