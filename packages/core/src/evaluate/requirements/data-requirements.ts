import type { Library } from 'fhir/r4.js'
import { checkpoint, type OperationContext } from '../../context/index.js'
import { checkResult, OperationError } from '../../errors/index.js'
import { checkInput, checkOptions, inputShape, listOf, OBJECT, TEXT } from '../../input/index.js'
import { isObject, type JsonObject } from '../../json/index.js'
import { compositionOf } from '../composite/composite-plan.js'
import { checkManifest, countedMeasures, groupsByLanguage } from '../counts.js'
import { canonicalOfMeasure, findMeasure, manifestOf, pinnedVersions } from '../find-measure.js'
import {
  CRITERIA_LANGUAGES,
  LANGUAGES,
  type CriteriaLanguage,
  type ParameterUse,
  type RequiredData,
  type RequirementScope,
  type Requirements,
} from '../languages/index.js'
import { planOf } from '../measure-plan.js'
import { checkedPeriod } from '../period.js'
import { subjectTypeOf } from '../subject.js'

/** The input of `dataRequirements`: a Measure over a period, or a Library. */
export interface DataRequirementsInput {
  /** `Measure/<id>`, an id, a url or `url|version`. */
  readonly measure?: string | undefined
  /** A Library resource, instead of a Measure. */
  readonly library?: object | undefined
  /** `YYYY`, `YYYY-MM` or `YYYY-MM-DD`; required for a Measure. */
  readonly periodStart?: string | undefined
  /** The end of the period, included as a whole. */
  readonly periodEnd?: string | undefined
  /** Names of the Library's definitions to evaluate. Default: all public ones. */
  readonly definitions?: readonly string[] | undefined
  /** Canonical of a Library that states the versions of libraries, value sets, code systems and Measures which others leave open. Default: their newest. */
  readonly manifest?: string | undefined
}

const INPUT = inputShape<DataRequirementsInput>({
  measure: TEXT,
  library: OBJECT,
  periodStart: TEXT,
  periodEnd: TEXT,
  definitions: listOf(TEXT),
  manifest: TEXT,
})

/** Options of `dataRequirements`. */
export interface DataRequirementsOptions {
  /** Criteria languages in addition to those of the engine, such as `cqlLanguage()` of `@fhir-ops/cql`. */
  readonly languages?: readonly CriteriaLanguage[]
}

const OPTIONS = inputShape<DataRequirementsOptions>({ languages: LANGUAGES })

/** The data that an evaluation uses. */
export interface DataRequirementsResult extends Requirements {
  /** DataRequirements, each once; those with the same type, profile and filters have one common `mustSupport`. */
  readonly data: Requirements['data']
  /** ParameterDefinitions: of the inputs (`in`), and of the results of a Library (`out`). */
  readonly parameters: Requirements['parameters']
  /** Canonicals of the libraries, value sets, code systems and Measures that it uses. */
  readonly dependsOn: readonly string[]
}

/** A Library of type module-definition. */
export interface ModuleDefinition extends Omit<Library, 'dataRequirement' | 'parameter'> {
  readonly dataRequirement?: Requirements['data']
  readonly parameter?: Requirements['parameters']
}

/**
 * Lists the data that a Measure or Library uses, from the text of its criteria. No data is read, and nothing is evaluated.
 *
 * @throws {OperationError} as `evaluateMeasure` for a Measure that cannot be evaluated; `parameter-required`, `parameter-invalid` for the input;
 *   `not-supported` for a language that cannot determine them.
 * @see https://hl7.org/fhir/R4/measure-operation-data-requirements.html
 */
export async function dataRequirements(
  ctx: OperationContext,
  input: DataRequirementsInput,
  options: DataRequirementsOptions = {},
): Promise<DataRequirementsResult> {
  checkInput(ctx, input, INPUT)
  checkpoint(ctx)
  checkOptions('dataRequirements', OPTIONS, options)
  const { library, measure, definitions } = input
  if ((library === undefined) === (measure === undefined))
    throw new OperationError('parameter-required', 'Either a Measure or a Library is needed.', { expression: ['measure'] })
  const languages = options.languages ?? []
  const manifest = await manifestOf(ctx, input.manifest)
  if (isObject(library)) return mergedRequirements([await ofLibrary(ctx, library, { languages, definitions, manifest })])
  if (definitions !== undefined)
    throw new OperationError('parameter-invalid', 'Definitions can be named for a Library only.', { expression: ['definitions'] })
  const period = checkedPeriod(required('periodStart', input.periodStart), required('periodEnd', input.periodEnd))
  const found = await findMeasure(ctx, measure ?? '', pinnedVersions([[manifest]]))
  return await measureRequirements(ctx, { measure: found, period, manifest }, languages)
}

interface LibraryScope {
  readonly languages: readonly CriteriaLanguage[]
  readonly definitions: readonly string[] | undefined
  readonly manifest: JsonObject | undefined
}

async function ofLibrary(
  ctx: OperationContext,
  library: JsonObject,
  { languages, definitions, manifest }: LibraryScope,
): Promise<DataRequirementsResult> {
  const language = languages.find(({ libraryRequirements }) => libraryRequirements !== undefined)
  if (language?.libraryRequirements !== undefined) return await language.libraryRequirements(ctx, library, { definitions, manifest })
  throw new OperationError('not-supported', 'No criteria language is set up that knows libraries.')
}

/** A Measure whose data requirements are determined. */
interface RequiredMeasure extends Pick<RequirementScope, 'bySubject' | 'manifest' | 'period'> {
  readonly measure: JsonObject
}

/**
 * The data requirements of a Measure.
 *
 * @throws {OperationError} as `dataRequirements`.
 */
export async function measureRequirements(
  ctx: OperationContext,
  { measure, period, bySubject, manifest }: RequiredMeasure,
  languages: readonly CriteriaLanguage[] = [],
): Promise<DataRequirementsResult> {
  const plan = planOf(measure)
  const composition = await compositionOf(ctx, measure, plan, pinnedVersions([[manifest]]))
  const counted = countedMeasures({ measure, plan, composition }, [...CRITERIA_LANGUAGES, ...languages])
  checkManifest(manifest, counted)
  const found: DataRequirementsResult[] = []
  for (const one of counted) {
    if (one.measure !== measure) found.push({ data: [], parameters: [], dependsOn: [canonicalOfMeasure(one.measure)] })
    const subjectType = subjectTypeOf(one.measure)
    for (const { language, ...own } of groupsByLanguage(one)) {
      if (language.requirements === undefined)
        throw new OperationError('not-supported', `Criteria in ${language.names.join(', ')} do not say what data they look at.`)
      found.push(await language.requirements(ctx, { ...own, period, bySubject, subjectType, manifest }))
    }
  }
  return mergedRequirements(found)
}

function required(name: string, value: string | undefined): string {
  if (value !== undefined) return value
  throw new OperationError('parameter-required', `Parameter '${name}' is required.`, { expression: [name] })
}

/**
 * Creates the Library of type module-definition that `$data-requirements` returns.
 *
 * @see https://hl7.org/fhir/R4/measure-operation-data-requirements.html
 */
export function toLibrary(result: DataRequirementsResult): ModuleDefinition {
  checkResult('dataRequirements', result, 'data')
  const { data, parameters, dependsOn } = result
  return {
    resourceType: 'Library',
    status: 'active',
    type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/library-type', code: 'module-definition' }] },
    ...(dependsOn.length > 0 && { relatedArtifact: dependsOn.map((resource) => ({ type: 'depends-on' as const, resource })) }),
    ...(parameters.length > 0 && { parameter: parameters }),
    ...(data.length > 0 && { dataRequirement: data }),
  }
}

/** Merges the requirements of several parts. Equal ones are listed once; those that differ only in `mustSupport` are combined. */
export function mergedRequirements(all: readonly Requirements[]): Requirements {
  const data = new Map<string, RequiredData>()
  const parameters = new Map<string, ParameterUse>()
  for (const requirement of all.flatMap((one) => one.data)) {
    const { mustSupport = [], ...filtered } = requirement
    const key = JSON.stringify(filtered)
    const supported = [...new Set([...(data.get(key)?.mustSupport ?? []), ...mustSupport])].toSorted()
    data.set(key, { ...filtered, ...(supported.length > 0 && { mustSupport: supported }) })
  }
  for (const parameter of all.flatMap((one) => one.parameters)) parameters.set(JSON.stringify(parameter), parameter)
  return {
    data: [...data.values()],
    parameters: [...parameters.values()],
    dependsOn: [...new Set(all.flatMap(({ dependsOn }) => dependsOn))],
  }
}
