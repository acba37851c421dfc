import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { parseSearch, type SearchOptions } from 'fhir-ops/search'
import { scanResources, type StoredResource } from 'fhir-ops/storage'
import type { RetrieveRequest } from '../compile/compiler.js'
import { resourceElement } from '../model/fhir-types.js'
import type { Code, FhirElement } from '../values/value.js'
import { storedRecords, subjectParameter, type ReadResources, type Records } from './records.js'
import type { RetrieverOptions } from './retrieve.js'

/** Who a population consists of, and what is retrieved of everybody. */
export interface Population {
  readonly type: string
  /** Parameters of the search for the subjects. */
  readonly conditions: readonly (readonly [name: string, value: string])[]
  readonly requests: readonly RetrieveRequest[]
}

/** One subject with its records. */
export interface SubjectRecords {
  readonly id: string
  readonly subject: FhirElement
  readonly records: Records
}

/**
 * Goes through a population, in the order of the storage: subjects come in pages, with all that retrieves may find of them. Resources of
 * a type of which every retrieve names codes are read by these codes.
 *
 * @throws {OperationError} what `ctx.authorize` throws for a type that the caller may not search; what the storage throws.
 */
export async function* populationRecords(
  ctx: OperationContext,
  options: RetrieverOptions,
  { type, conditions, requests }: Population,
): AsyncGenerator<SubjectRecords, void, undefined> {
  const { search } = ctx
  if (search === undefined) throw new OperationError('not-supported', 'Subjects are found by search parameters, which are not loaded.')
  ctx.authorize?.('search', type)
  const { query } = await parseSearch(type, conditions, search)
  const plans = retrievePlans(search, type, requests)
  const referring = []
  for (const plan of plans) {
    ctx.authorize?.('search', plan.type)
    const { query: found } = await parseSearch(plan.type, plan.conditions, search)
    referring.push({ ...found, params: [plan.parameter] })
  }
  const recordsOf = storedRecords(ctx, options)
  for await (const { stored, referring: found } of scanResources(ctx.storage, { ...query, referring })) {
    const subject = resourceElement(options.model, stored.resource)
    if (subject === undefined) continue
    const read = readResources(plans, found, options)
    yield { id: stored.id, subject, records: recordsOf(subject, read) }
  }
}

/** How the resources of a type are found that retrieves may find. */
interface RetrievePlan {
  readonly type: string
  /** By which they refer to the subject. */
  readonly parameter: string
  readonly conditions: readonly (readonly [name: string, value: string])[]
}

function retrievePlans(search: SearchOptions, subjectType: string, requests: readonly RetrieveRequest[]): readonly RetrievePlan[] {
  const own = requests.filter(({ type, unfiltered, context }) => !unfiltered && context === undefined && type !== subjectType)
  return [...Map.groupBy(own, ({ type }) => type)].flatMap(([type, all]) => {
    const parameter = type === 'Patient' ? undefined : subjectParameter(search, type, subjectType)
    return parameter === undefined ? [] : [{ type, parameter, conditions: codeConditions(search, type, all) }]
  })
}

/** More codes than these are not looked up one by one. */
const MAX_CODES = 200

/** The codes that the retrieves of a type name, as a search; no condition where one names none, or too many. */
function codeConditions(
  search: SearchOptions,
  type: string,
  requests: readonly RetrieveRequest[],
): readonly (readonly [name: string, value: string])[] {
  const names = new Set(requests.map(({ codePath = '' }) => codePath))
  const [path = ''] = names
  const name = names.size === 1 ? tokenParameter(search, type, path) : undefined
  if (name === undefined) return []
  const codes: Code[] = []
  for (const { listedCodes } of requests) {
    const listed = listedCodes?.()
    if (listed === undefined) return []
    codes.push(...listed)
  }
  const values = [...new Set(codes.map(({ system, code }) => `${escaped(system ?? '')}|${escaped(code ?? '')}`))]
  const isComplete = codes.every(({ system, code }) => system !== null && code !== null)
  return isComplete && values.length > 0 && values.length <= MAX_CODES ? [[name, values.join(',')]] : []
}

/** The search parameter for the codes of an element: `vaccine-code` for `vaccineCode`. */
function tokenParameter({ parameters }: SearchOptions, type: string, path: string): string | undefined {
  const name = path.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const parameter = parameters.find(type, name)
  const isOfElement = parameter?.expression.split('|').some((branch) => branch.trim() === `${type}.${path}`)
  return parameter?.type === 'token' && isOfElement === true ? name : undefined
}

function escaped(text: string): string {
  return text.replaceAll(/[\\,|$]/g, (character) => `\\${character}`)
}

/** What was read of one subject, by type; texts become elements when a retrieve asks for the type. */
function readResources(plans: readonly RetrievePlan[], found: readonly StoredResource[], { model }: RetrieverOptions): ReadResources {
  const byType = Map.groupBy(found, ({ type }) => type)
  return new Map(
    plans.map(({ type }) => {
      const elements = (): readonly FhirElement[] =>
        (byType.get(type) ?? []).flatMap(({ resource }) => resourceElement(model, resource) ?? [])
      return [type, elements]
    }),
  )
}
