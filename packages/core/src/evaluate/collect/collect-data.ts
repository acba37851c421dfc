import type { MeasureReport, DataRequirementCodeFilter, DataRequirementDateFilter } from 'fhir/r4.js'
import { createPace, type OperationContext } from '../../context/index.js'
import { checkResult, OperationError, quoted } from '../../errors/index.js'
import { checkInput, checkOptions, inputShape, needed, TEXT } from '../../input/index.js'
import { ownCopy, type JsonObject } from '../../json/index.js'
import type { SearchPair, SearchOptions, SearchParameter } from '../../search/index.js'
import { allMatches, type StoredResource } from '../../storage/index.js'
import { dateInterval, escaped } from '../../search/written-values.js'
import { canonicalOfMeasure, findMeasure, manifestOf, pinnedVersions } from '../find-measure.js'
import { LANGUAGES, type RequiredData } from '../languages/index.js'
import { searchOfSubjects, searchOptions } from '../languages/x-fhir-query/criterion-query.js'
import { checkedPeriod, type Period } from '../period.js'
import { reportSubject } from '../report.js'
import { measureRequirements, type DataRequirementsOptions } from '../requirements/data-requirements.js'
import { practitionerIdOf, subjectConditions, subjectOf, subjectTypeOf, type Subject, subjectLinks, type SubjectLinks } from '../subject.js'

/** The subjects whose data is collected, and the Measure. */
export interface CollectDataInput {
  /** `Measure/<id>`, an id, a url or `url|version`. */
  readonly measure: string
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`. */
  readonly periodStart: string
  /** The end of the period, included as a whole. */
  readonly periodEnd: string
  /** As for `evaluateMeasure`: only data of this subject, or of the subjects for which it stands. Default: data of all. */
  readonly subject?: string | undefined
  /** `Practitioner/<id>` or an id: only data of patients of this general practitioner. */
  readonly practitioner?: string | undefined
  /** Only resources that were stored after this FHIR dateTime. */
  readonly lastReceivedOn?: string | undefined
  /** As for `evaluateMeasure`: canonical of a Library that states versions of definitions. */
  readonly manifest?: string | undefined
}

const INPUT = inputShape<CollectDataInput>({
  measure: needed(TEXT),
  periodStart: needed(TEXT),
  periodEnd: needed(TEXT),
  subject: TEXT,
  practitioner: TEXT,
  lastReceivedOn: TEXT,
  manifest: TEXT,
})

const OPTIONS = inputShape<DataRequirementsOptions>({ languages: LANGUAGES })

/** The data that the evaluation of a Measure reads. */
export interface CollectDataResult {
  /** A new id, for the report. */
  readonly id: string
  /** When it was collected, as a FHIR instant. */
  readonly date: string
  /** `url|version` of the Measure, or `Measure/<id>` when it has no url. */
  readonly measure: string
  /** The subject of the report; absent for all. */
  readonly subject?: Subject
  /** As in the input, unchanged. */
  readonly period: Period
  /** Each once. */
  readonly resources: readonly StoredResource[]
}

const PAGE = 500

/**
 * Collects the data that the evaluation of a Measure reads: the resources of the given subjects that meet one of its data requirements. Types that
 * belong to no subject are collected for all.
 *
 * @throws {OperationError} as `dataRequirements`; `too-costly` for more resources than `limits.maxExpansion`, or more text than
 *   `limits.maxAnswerBytes`; what `ctx.authorize` throws for a type that the caller may not search.
 * @see https://hl7.org/fhir/R4/measure-operation-collect-data.html
 */
export async function collectData(
  ctx: OperationContext,
  input: CollectDataInput,
  options: DataRequirementsOptions = {},
): Promise<CollectDataResult> {
  checkInput(ctx, input, INPUT)
  checkOptions('collectData', OPTIONS, options)
  const period = checkedPeriod(input.periodStart, input.periodEnd)
  checkMoment(input.lastReceivedOn)
  const manifest = await manifestOf(ctx, input.manifest)
  const measure = await findMeasure(ctx, input.measure, pinnedVersions([[manifest]]))
  const subject = await subjectOf(ctx, input.subject, measure)
  const practitioner = input.practitioner === undefined ? undefined : await practitionerIdOf(ctx, input.practitioner, measure)
  const subjectType = subjectTypeOf(measure)
  const conditions = subjectConditions({ subjectType, subject, practitioner })
  const { data } = await measureRequirements(ctx, { measure, period, manifest, bySubject: conditions.length > 0 }, options.languages)
  return {
    id: ctx.newId(),
    date: ctx.now().toISOString(),
    measure: canonicalOfMeasure(measure),
    ...(subject !== undefined && { subject }),
    period: { start: period.start, end: period.end },
    resources: await collected(ctx, data, { conditions, since: input.lastReceivedOn, links: await subjectLinks(ctx, subjectType) }),
  }
}

function checkMoment(lastReceivedOn: string | undefined): void {
  if (lastReceivedOn === undefined || dateInterval(lastReceivedOn) !== undefined) return
  const problem = `Parameter 'lastReceivedOn' has the value ${quoted(lastReceivedOn)}, which is not a dateTime.`
  throw new OperationError('parameter-value', problem, { expression: ['lastReceivedOn'] })
}

interface Whose {
  readonly conditions: readonly SearchPair[]
  readonly since: string | undefined
  readonly links: SubjectLinks
}

async function collected(ctx: OperationContext, data: readonly RequiredData[], whose: Whose): Promise<readonly StoredResource[]> {
  const options = searchOptions(ctx)
  const found = new Map<string, StoredResource>()
  const room = sizeLimit(ctx)
  const pace = createPace(ctx)
  for (const requirement of data) {
    const { type } = requirement
    ctx.authorize?.('search', type)
    const { links } = whose
    const isOwn = type === links.subjectType || links.paramsOf(type).length > 0
    const since: readonly SearchPair[] = whose.since === undefined ? [] : [['_lastUpdated', `gt${whose.since}`]]
    const parameters = [...requirementConditions(options, requirement, OFFSETS_MS), ...since]
    const query = await searchOfSubjects(options, { type, parameters, conditions: isOwn ? whose.conditions : [], links })
    for await (const stored of allMatches(ctx.storage, { ...query, limit: PAGE })) {
      pace.check()
      await pace.step()
      const key = `${stored.type}/${stored.id}`
      if (found.has(key)) continue
      room(stored)
      found.set(key, stored)
    }
    ctx.onProgress?.({ done: found.size, of: 'resources' })
  }
  return [...found.values()]
}

/** Returns a function that counts the collected resources and throws when an answer cannot hold them. */
function sizeLimit({ limits }: OperationContext): (stored: StoredResource) => void {
  let [count, characters] = [0, 0]
  return ({ text }) => {
    count += 1
    characters += text.length
    if (count <= limits.maxExpansion && characters <= limits.maxAnswerBytes) return
    throw new OperationError(
      'too-costly',
      'The data of the Measure is more than one answer can hold. Collect it for one subject at a time.',
    )
  }
}

/** The report of type `data-collection` for collected data. */
function reportOf({ id, date, measure, subject, period, resources }: CollectDataResult): MeasureReport {
  const about = reportSubject(subject)
  return {
    resourceType: 'MeasureReport',
    id,
    ...(about.extension.length > 0 && { extension: [...about.extension] }),
    status: 'complete',
    type: 'data-collection',
    measure,
    ...(about.subject !== undefined && { subject: about.subject }),
    date,
    period: { ...period },
    ...(resources.length > 0 && { evaluatedResource: resources.map((one) => ({ reference: `${one.type}/${one.id}` })) }),
  }
}

/** Creates the Parameters that `$collect-data` returns and `$submit-data` takes: the report and the resources. */
export function toParameters(result: CollectDataResult): JsonObject {
  checkResult('collectData', result, 'resources')
  const resources = result.resources.map(({ resource }) => ({ name: 'resource', resource: ownCopy(resource) }))
  return { resourceType: 'Parameters', parameter: [{ name: 'measureReport', resource: reportOf(result) }, ...resources] }
}

/** Like `toParameters`, as text in pieces, in which the numbers of resources keep their digits. */
export function parametersTexts(result: CollectDataResult): readonly string[] {
  const report = JSON.stringify({ name: 'measureReport', resource: reportOf(result) })
  const resources = result.resources.map(({ text }) => `,{"name":"resource","resource":${text}}`)
  return [`{"resourceType":"Parameters","parameter":[${report}`, ...resources, ']}']
}

/** Maximum number of codes that are looked up one by one. With more, the filter is left out, and more is found than is needed. */
const MAX_CODES = 200

/** The largest offset. Where the time zone of an evaluation is not that of searches, days without one are compared that much earlier or later. */
const OFFSETS_MS = 14 * 3_600_000

/**
 * The parameters of a search that finds at least what a data requirement asks for, as far as search parameters apply to the same elements.
 *
 * @param marginMs For periods of elements, how much earlier and later dates are found, too. Periods of search parameters are compared as the search does.
 */
export function requirementConditions(
  { parameters }: SearchOptions,
  { type, codeFilter = [], dateFilter = [] }: RequiredData,
  marginMs = 0,
): readonly SearchPair[] {
  const codeOf = ({ searchParam, path }: DataRequirementCodeFilter | DataRequirementDateFilter, kind: string): string | undefined =>
    searchParam ?? parameterOf({ parameters }, { type, path, kind })?.code
  return [
    ...codeFilter.flatMap((filter) => codePairs(codeOf(filter, 'token'), filter)),
    // A search for dates applies to the whole of a period, which overlaps what its start or end is in.
    ...dateFilter.flatMap((filter) => {
      const name = codeOf({ ...filter, ...wholePath(filter) }, 'date')
      return name === undefined ? [] : datePairs(name, filter, filter.searchParam === undefined ? marginMs : 0)
    }),
  ]
}

function wholePath({ path }: DataRequirementDateFilter): { readonly path?: string } {
  return path === undefined ? {} : { path: path.replace(/\.(?:start|end)$/, '') }
}

/** An element of a resource type, and the kind of search parameter to find for it. */
interface SearchedElement {
  readonly type: string
  readonly path: string | undefined
  readonly kind: string
}

/** A search parameter for an element, preferably one that applies to no other element. */
function parameterOf({ parameters }: SearchOptions, { type, path, kind }: SearchedElement): SearchParameter | undefined {
  const element = `${type}.${path}`
  const looking = parameters.of(type).filter(({ type: own, expression }) => own === kind && branchesOf(expression).includes(element))
  return looking.find(({ expression }) => branchesOf(expression).length === 1) ?? looking[0]
}

/**
 * Whether a search by `requirementConditions` finds exactly the resources with one of the codes in an element: its parameter applies to no other element,
 * and the codes are neither too many nor empty, because an empty code would find all codes of its system.
 */
export function isExactFilter(search: SearchOptions, type: string, filter: DataRequirementCodeFilter): boolean {
  const parameter = parameterOf(search, { type, path: filter.path, kind: 'token' })
  const isOnly = parameter !== undefined && branchesOf(parameter.expression).length === 1
  const areCodes = filter.code?.every(({ code = '' }) => code !== '') ?? true
  return isOnly && areCodes && requirementConditions(search, { type, codeFilter: [filter] }).length === 1
}

function branchesOf(expression: string): readonly string[] {
  return expression.split('|').map((branch) => branch.trim())
}

function codePairs(name: string | undefined, { code = [], valueSet }: DataRequirementCodeFilter): readonly SearchPair[] {
  if (name === undefined) return []
  if (valueSet !== undefined) return [[`${name}:in`, valueSet]]
  const texts = code.map((coding) =>
    coding.system === undefined ? escaped(coding.code ?? '') : `${escaped(coding.system)}|${escaped(coding.code ?? '')}`,
  )
  const tokens = [...new Set(texts)]
  return tokens.length === 0 || tokens.length > MAX_CODES ? [] : [[name, tokens.join(',')]]
}

/**
 * Conditions for dates that overlap the period. `ge` and `le` would not do: with them, a date that is open or continues is not found when it begins within
 * the last day, or ends within the first one.
 */
function datePairs(name: string, { valuePeriod: { start, end } = {} }: DataRequirementDateFilter, marginMs: number): readonly SearchPair[] {
  const bounds = [
    ...(start === undefined ? [] : boundOf('gt', start, marginMs)),
    ...(end === undefined ? [] : boundOf('lt', end, marginMs)),
  ]
  return bounds.map((bound) => [name, bound])
}

/**
 * The condition for one bound. An invalid date is left to the search, which reports it. A bound outside of the years that a search can express excludes
 * nothing, so it is left out.
 */
function boundOf(prefix: 'gt' | 'lt', date: string, marginMs: number): readonly string[] {
  const span = dateInterval(date)
  if (span === undefined) return [`${prefix}${date}`]
  const moment = new Date(prefix === 'gt' ? span.low - 1 - marginMs : span.high + 1 + marginMs).toISOString()
  return /^\d/.test(moment) ? [`${prefix}${moment}`] : []
}
