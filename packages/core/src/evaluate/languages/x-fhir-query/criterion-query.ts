import type { OperationContext } from '../../../context/index.js'
import { ERRORS, OperationError, quoted, type ErrorCode } from '../../../errors/index.js'
import { hierarchyOf, parseSearch, searchTypesOf, type SearchOptions } from '../../../search/index.js'
import type { SearchQuery } from '../../../storage/index.js'
import type { Criterion } from '../../measure-plan.js'
import type { Scope } from '../language.js'
import { parseExpression } from './expression.js'

/** Variables of an expression that have the id of the patient for whom it is evaluated. */
export const PATIENT_VARIABLES: readonly string[] = ['subject.id', 'patient.id']

/** A criterion and the query whose matches it counts. */
export interface Counted {
  readonly criterion: Criterion
  /** Its type is the type of what is counted: that of the subjects with basis `boolean`. */
  readonly query: SearchQuery
}

/**
 * The query for what a criterion counts: the resources that its expression finds, or, with basis `boolean`, their subjects.
 *
 * @throws {OperationError} `definition-invalid` for an expression that is not a valid search, and for one whose type does not fit the
 *   basis; `not-supported` without search parameters; what `ctx.authorize` throws for a type that the caller may not search.
 */
export async function countedQuery(ctx: OperationContext, criterion: Criterion, scope: Scope): Promise<Counted> {
  const found = await foundQuery(ctx, criterion, scope)
  const { basis } = criterion
  if (basis === 'boolean') return { criterion, query: subjectsQuery(ctx, criterion, found, scope) }
  if (basis !== undefined && basis !== found.type) throw mismatch(criterion, found.type, basis)
  return { criterion, query: found }
}

/** The type that all of these count. @throws {OperationError} `definition-invalid` when they count different types. */
export function commonType(counted: readonly Counted[]): string {
  const [first, ...others] = counted
  const type = first?.query.type ?? ''
  const odd = others.find((other) => other.query.type !== type)
  if (odd === undefined) return type
  throw mismatch(odd.criterion, odd.query.type, type)
}

function mismatch({ place, path, expression }: Criterion, found: string, expected: string): OperationError {
  return new OperationError('definition-invalid', `${place}: ${quoted(expression)} returns ${found}, but ${expected} is expected.`, {
    expression: [`${path}.criteria.expression`],
  })
}

/**
 * What the expression finds, of the patients of the scope if there are any. An expression that names the patient itself is not narrowed.
 * Parameters that do not select anything (`_count`, `_sort` ...) have no effect on a count.
 */
export async function foundQuery(ctx: OperationContext, criterion: Criterion, scope: Scope): Promise<SearchQuery> {
  const options = searchOptions(ctx)
  const query = await withPlace(criterion, async () => {
    const { type, parameters } = parseExpression(criterion.expression, variablesOf(scope))
    const conditions = namesPatient(criterion) ? [] : patientConditions(scope)
    const own = conditions.map((condition) => ofPatients(options, type, condition))
    const { query } = await parseSearch(type, [...parameters, ...own], options)
    if (query.after !== undefined) throw new OperationError('search-unsupported', "'_cursor' is not supported in a criterion.")
    return query
  })
  for (const type of searchTypesOf(query)) ctx.authorize?.('search', type)
  return query
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

type Parameter = readonly [name: string, value: string]

/** The parameters of a search for the patients of a scope; none for all patients. */
export function patientConditions({ subject, practitioner }: Pick<Scope, 'practitioner' | 'subject'>): readonly Parameter[] {
  const conditions: Parameter[] = practitioner === undefined ? [] : [['general-practitioner', `Practitioner/${practitioner}`]]
  if (subject?.type === 'Group') conditions.push(['_has:Group:member:_id', subject.id])
  if (subject?.type === 'Patient') conditions.push(['_id', subject.id])
  return conditions
}

/** The patient who is the only subject of a scope; `undefined` where subjects are searched. */
export function singlePatient({ subject, practitioner }: Pick<Scope, 'practitioner' | 'subject'>): Scope['subject'] {
  return subject?.type === 'Patient' && practitioner === undefined ? subject : undefined
}

/** A condition on patients as one on resources of a type that refers to them. @throws {OperationError} `search-invalid` for a type that does not. */
export function ofPatients(options: SearchOptions, type: string, [name, value]: Parameter): Parameter {
  if (type === 'Patient') return [name, value]
  const parameter = subjectParameter(options, type, 'Patient')
  if (parameter === undefined) throw new OperationError('search-invalid', `${type} has no search parameter that refers to a patient.`)
  return name === '_id' ? [parameter, `Patient/${value}`] : [`${parameter}:Patient.${name}`, value]
}

/** The subjects that are found or referred to. In the scope of one patient only this one, whomever else the resources are about. */
function subjectsQuery(ctx: OperationContext, criterion: Criterion, found: SearchQuery, { subject, subjectType }: Scope): SearchQuery {
  const { type, where } = found
  if (type === subjectType && !namesPatient(criterion)) return found
  const subjects = type === subjectType ? where : referredBy(ctx, criterion, found, subjectType)
  if (subject?.type !== 'Patient') return { type: subjectType, where: subjects }
  return { type: subjectType, where: { kind: 'and', conditions: [{ kind: 'id', ids: [subject.id] }, subjects] } }
}

function referredBy(ctx: OperationContext, criterion: Criterion, { type, where }: SearchQuery, subjectType: string): SearchQuery['where'] {
  const param = subjectParameter(searchOptions(ctx), type, subjectType)
  if (param === undefined) throw mismatch(criterion, type, `a type that refers to ${subjectType}`)
  return { kind: 'referredBy', param, query: { type, where } }
}

/** Code of the search parameter by which resources of a type refer to the patient, or other subject, that they are about; `undefined` when there is none. */
export function subjectParameter({ parameters }: SearchOptions, type: string, subjectType: string): string | undefined {
  return ['patient', 'subject'].find((code) => {
    const parameter = parameters.find(type, code)
    return parameter?.type === 'reference' && (parameter.targets.length === 0 || parameter.targets.includes(subjectType))
  })
}

/** Whether an expression uses a variable for the patient: such a criterion is evaluated for each patient. */
export function namesPatient({ expression }: Criterion): boolean {
  return PATIENT_VARIABLES.some((name) => expression.includes(`{{%${name}}}`))
}

/** How searches are read. @throws {OperationError} `not-supported` for a context without search parameters. */
export function searchOptions({ search, storage, authorize }: OperationContext): SearchOptions {
  if (search === undefined)
    throw new OperationError('not-supported', 'Criteria in application/x-fhir-query need search parameters, and the context has none.')
  return {
    ...search,
    hierarchyOf: async (question) => {
      authorize?.('search', question.type)
      return hierarchyOf(storage, question)
    },
  }
}

/** Adds the criterion's place in the Measure to errors of its expression. The expression is part of the Measure, so these have status 422. */
export async function withPlace<T>({ place, path }: Criterion, evaluate: () => Promise<T>): Promise<T> {
  try {
    return await evaluate()
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
