import { createPace, type OperationContext } from '../../../context/index.js'
import { ERRORS, OperationError, quoted, type ErrorCode } from '../../../errors/index.js'
import { callersSearch, parseSearch, searchTypesOf, type SearchOptions, type SearchPair } from '../../../search/index.js'
import { type Condition, type SearchQuery, isResourceType } from '../../../storage/index.js'
import { withBlanks } from '../../../text/index.js'
import type { Criterion } from '../../measure-plan.js'
import { subjectConditions, subjectLinks, type SubjectLinks } from '../../subject.js'
import type { Scope } from '../language.js'

const SUBJECT = 'subject.id'
const PATIENT = 'patient.id'

/** Variables of an expression that contain the id of the subject for whom it is evaluated. */
export function subjectVariables(subjectType: string): readonly string[] {
  return subjectType === 'Patient' ? [SUBJECT, PATIENT] : [SUBJECT]
}

/** A criterion and the query whose matches it counts. */
export interface Counted {
  readonly criterion: Criterion
  /** Its type is the type of what is counted: with basis `boolean`, that of the subjects. */
  readonly query: SearchQuery
}

/**
 * The query that a criterion counts: the resources that its expression finds or, with basis `boolean`, their subjects.
 *
 * @throws {OperationError} `definition-invalid` for an expression that is not a valid search, and for one whose type does not fit the
 *   basis; `not-supported` without search parameters; what `ctx.authorize` throws for a type that the caller may not search.
 */
export async function countedQuery(ctx: OperationContext, criterion: Criterion, scope: Scope): Promise<Counted> {
  const found = await foundQuery(ctx, criterion, scope)
  const { basis } = criterion
  if (basis === 'boolean') return { criterion, query: await subjectsQuery(ctx, criterion, found, scope) }
  if (basis !== undefined && basis !== found.type) throw mismatch(criterion, found.type, basis)
  return { criterion, query: found }
}

/** The type that all of the queries count. @throws {OperationError} `definition-invalid` when they count different types. */
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
 * The query of a criterion's expression, limited to the subjects of the scope if there are any. An expression that names the subject itself is not limited.
 * Parameters that do not select resources (`_count`, `_sort` ...) have no effect on a count.
 */
export async function foundQuery(ctx: OperationContext, criterion: Criterion, scope: Scope): Promise<SearchQuery> {
  const options = searchOptions(ctx)
  const query = await withPlace(criterion, async () => {
    const { type, parameters } = parseExpression(criterion.expression, variablesOf(scope))
    const conditions = namesSubject(criterion) ? [] : subjectConditions(scope)
    const query = await searchOfSubjects(options, { type, parameters, conditions, links: await subjectLinks(ctx, scope.subjectType) })
    if (query.after !== undefined) throw new OperationError('search-unsupported', "'_cursor' is not supported in a criterion.")
    return query
  })
  for (const type of searchTypesOf(query)) ctx.authorize?.('search', type)
  return query
}

function variablesOf({ period, subject, subjectType }: Scope): ReadonlyMap<string, string> {
  return new Map([
    ['periodStart', period.start],
    ['periodEnd', period.end],
    ['measurementPeriod.start', period.start],
    ['measurementPeriod.end', period.end],
    ...(subject?.type === subjectType ? subjectVariables(subjectType).map((name) => [name, subject.id] as const) : []),
  ])
}

/** A search for resources that belong to some subjects. */
interface OwnSearch {
  readonly type: string
  readonly parameters: readonly SearchPair[]
  /** Conditions on the subjects; empty to search everything. */
  readonly conditions: readonly SearchPair[]
  readonly links: SubjectLinks
}

/**
 * The query for resources that match parameters and belong to subjects that meet conditions.
 *
 * @throws {OperationError} `search-invalid` for a type that belongs to no subject.
 */
export async function searchOfSubjects(
  options: SearchOptions,
  { type, parameters, conditions, links: { subjectType, paramsOf } }: OwnSearch,
): Promise<SearchQuery> {
  if (type === subjectType || conditions.length === 0) return (await parseSearch(type, [...parameters, ...conditions], options)).query
  const params = paramsOf(type)
  const [only, ...others] = params
  if (only === undefined)
    throw new OperationError('search-invalid', `${type} has no search parameter that refers to a ${subjectType.toLowerCase()}.`)
  if (others.length === 0) {
    const own = conditions.map(([name, value]): SearchPair =>
      name === '_id' ? [only, `${subjectType}/${value}`] : [`${only}:${subjectType}.${name}`, value],
    )
    return (await parseSearch(type, [...parameters, ...own], options)).query
  }
  const { query } = await parseSearch(type, parameters, options)
  const { query: subjects } = await parseSearch(subjectType, conditions, options)
  const belongs = anyOf(params.map((param) => ({ kind: 'refersTo', param, query: subjects })))
  const { parameters: _, ...own } = query
  return { ...own, where: { kind: 'and', conditions: [query.where, belongs] } }
}

/** The query for the subjects that are found or referred to. For a scope of one subject, only this one, even if the resources refer to others. */
async function subjectsQuery(
  ctx: OperationContext,
  criterion: Criterion,
  found: SearchQuery,
  { subject, subjectType }: Scope,
): Promise<SearchQuery> {
  const { type, where } = found
  if (type === subjectType && !namesSubject(criterion)) return found
  const subjects = type === subjectType ? where : await referredBy(ctx, criterion, found, subjectType)
  if (subject?.type !== subjectType) return { type: subjectType, where: subjects }
  return { type: subjectType, where: { kind: 'and', conditions: [{ kind: 'id', ids: [subject.id] }, subjects] } }
}

async function referredBy(
  ctx: OperationContext,
  criterion: Criterion,
  { type, where }: SearchQuery,
  subjectType: string,
): Promise<Condition> {
  const params = (await subjectLinks(ctx, subjectType)).paramsOf(type)
  if (params.length === 0) throw mismatch(criterion, type, `a type that refers to ${subjectType}`)
  return anyOf(params.map((param) => ({ kind: 'referredBy', param, query: { type, where } })))
}

function anyOf(conditions: readonly Condition[]): Condition {
  const [only] = conditions
  return only !== undefined && conditions.length === 1 ? only : { kind: 'or', conditions }
}

/** Whether an expression uses a variable for the subject, so that it is evaluated for each subject. */
export function namesSubject({ expression }: Criterion): boolean {
  return [SUBJECT, PATIENT].some((name) => expression.includes(`{{%${name}}}`))
}

/** The options for parsing searches. @throws {OperationError} `not-supported` for a context without search parameters. */
export function searchOptions(ctx: OperationContext): SearchOptions {
  const pace = createPace(ctx)
  const options = callersSearch({ ...ctx, step: () => pace.step() })
  if (options !== undefined) return options
  throw new OperationError('not-supported', 'Criteria in application/x-fhir-query need search parameters, and the context has none.')
}

/** Adds the criterion's place in the Measure to errors of its expression. As the expression is part of the Measure, they have status 422. */
export async function withPlace<T>({ place, path }: Criterion, evaluate: () => Promise<T>): Promise<T> {
  try {
    return await evaluate()
  } catch (error) {
    const code = error instanceof OperationError ? codeInMeasure(error.code) : undefined
    if (code === undefined || !(error instanceof OperationError)) throw error
    throw new OperationError(code, `${place}: ${error.message}`, { expression: [`${path}.criteria.expression`], cause: error })
  }
}

/** The code of a search error when the search is part of a definition; `undefined` for errors of the caller, the storage or an upstream server. */
function codeInMeasure(code: ErrorCode): ErrorCode | undefined {
  const { status } = ERRORS[code]
  if (status === 400) return 'definition-invalid'
  if (status === 404) return 'definition-not-found'
  return status === 422 ? code : undefined
}

/** The parts of a query: its type and decoded parameters in order. */
interface QueryExpression {
  readonly type: string
  readonly parameters: readonly (readonly [string, string])[]
}

/**
 * Parses `Type` or `Type?name=value&...`. `{{%name}}` is replaced by the value of a variable, which is always data and never syntax.
 *
 * @param variables Values by name, without the percent sign.
 * @throws {OperationError} `search-invalid` for every other form, an unknown type and an unknown variable.
 */
export function parseExpression(expression: string, variables: ReadonlyMap<string, string>): QueryExpression {
  if (/[\u0000-\u001f\u007f#]/.test(expression)) throw invalid('A query must not contain a fragment or control characters.')
  const mark = expression.indexOf('?')
  const type = mark < 0 ? expression : expression.slice(0, mark)
  if (!isResourceType(type) || type === 'Bot') throw invalid(`${quoted(type)} is not a resource type.`)
  const query = mark < 0 ? '' : expression.slice(mark + 1)
  return {
    type,
    parameters: withValues(query, variables)
      .split('&')
      .filter((pair) => pair !== '')
      .map(decodedPair),
  }
}

function withValues(query: string, variables: ReadonlyMap<string, string>): string {
  const inserted = query.replace(/\{\{%([^{}]*)\}\}/g, (_, name: string) => {
    const value = variables.get(name)
    if (value === undefined) throw invalid(`Variable ${quoted(`%${name}`)} is unknown.`)
    return encodeURIComponent(value)
  })
  if (/\{\{|\}\}/.test(inserted)) throw invalid('{{ and }} must enclose a variable such as %periodStart.')
  return inserted
}

function decodedPair(pair: string): readonly [string, string] {
  const equals = pair.indexOf('=')
  if (equals <= 0) throw invalid(`${quoted(pair)} is not name=value.`)
  return [decoded(pair.slice(0, equals)), decoded(pair.slice(equals + 1))]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(withBlanks(text))
  } catch {
    throw invalid(`${quoted(text)} is not percent-encoded correctly.`)
  }
}

function invalid(message: string): OperationError {
  return new OperationError('search-invalid', message)
}
