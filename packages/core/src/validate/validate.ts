import {
  checkpoint,
  createPace,
  explained,
  VALIDATION_MEMBERS,
  type Explained,
  type ExplainOption,
  type FindingLevel,
  type OperationContext,
  type ValidationPolicy,
  type RuleSettings,
  type LibraryProblem,
} from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { checkInput, FLAG, inputShape, listOf, needed, objectWith, oneOf, TEXT } from '../input/index.js'
import { isNestedDeeper, isObject, isString, readJsonSource, type JsonSource, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { after, attempt, isPending, type Awaitable } from '../work/index.js'
import { findingsOf, type ResolvedInput } from './findings-of.js'
import { faultFinding } from './json-findings.js'
import { positionsIn, type Finding, findingOf } from './run/finding.js'
import { NO_SETTINGS } from './rules/rule-book.js'
import type { EntryProfile } from './run/indexes.js'
import type { Checks, RunPolicy } from './run/run.js'
import { entryProfilesOf } from './rules/bundle/entry-profiles.js'
import { createSuppressor, type Suppressor } from './suppressor.js'
import { CQL_ERROR, CQL_UNCHECKED, CQL_WARNING } from './finding-kinds.js'

/**
 * The input of `validate`. Suppressions, refusals and extension domains add to those of the context; other members, and each of the `rules`, replace those
 * of the context.
 */
export interface ValidateInput extends ValidationPolicy, ExplainOption {
  /**
   * The resource as JSON text, as the result of `readJsonSource`, or as a parsed object. A parsed object no longer has the written form of its numbers,
   * duplicate names and positions.
   */
  readonly resource: string | object
  /** Canonicals of profiles that the resource must conform to, in addition to those that it names itself. */
  readonly profiles?: readonly string[] | undefined
  /** Profiles that the resources of entries must conform to, in every Bundle of the resource, by at most 100 rules. Other resources are not concerned. */
  readonly bundle?: readonly BundleRule[] | undefined
  /** Report line and column of each finding; requires a text, or a source that was read with `positions`. Default false. */
  readonly places?: boolean | undefined
  /**
   * `structure` checks only what FHIR's own types define for JSON: names, lists, choices, cardinality and the form of primitive values. It checks no
   * profiles, codes, invariants, references, narratives or rules of resource types. Default `all`.
   */
  readonly checks?: Checks | undefined
}

/** A profile for the resources of entries that a rule selects. */
export interface BundleRule {
  /**
   * `2`: the resource of the third entry; `Patient`: each Patient; `Patient:0`: the first Patient. Only the resources of entries are meant, not what
   * these contain.
   */
  readonly rule: string
  /** The canonical of the profile, with or without version. */
  readonly profile: string
}

const VALIDATE_INPUT = inputShape<ValidateInput>({
  resource: needed({ words: 'a JSON text or an object', is: (value) => isString(value) || isObject(value) }),
  profiles: listOf(TEXT),
  bundle: listOf(objectWith('a rule and a profile', { rule: needed(TEXT), profile: needed(TEXT) })),
  places: FLAG,
  checks: oneOf('all', 'structure'),
  explain: FLAG,
  ...VALIDATION_MEMBERS,
})

/** The result of `validate`. */
export interface ValidateResult extends Explained {
  /** True when no finding is an error. */
  readonly valid: boolean
  /** In document order: findings about a node come before those about its members. */
  readonly findings: readonly Finding[]
}

/**
 * Validates a resource against the definitions of FHIR, the profiles in its `meta.profile`, and the profiles that the caller names. Nothing is
 * stored.
 *
 * @returns The findings; with `explain: true` also which profiles and value sets the resource was checked against.
 * @throws {OperationError} `profile-not-found` for a profile of the input that cannot be found; `parameter-value` for a rule of `bundle` that selects
 *   no kind of entry, `too-costly` for more than 100; `definition-required` when the context has no
 *   types; `parameter-required` when no resource is given; `aborted` and `computation-timeout`, however short the work.
 * @see https://hl7.org/fhir/R4/resource-operation-validate.html
 */
export function validate(ctx: OperationContext, input: ValidateInput): Promise<ValidateResult> {
  return explained(ctx, input, (own) => validated(own, input))
}

async function validated(ctx: OperationContext, input: ValidateInput): Promise<ValidateResult> {
  checkInput(ctx, input, VALIDATE_INPUT)
  checkpoint(ctx)
  const given = sourceOf(ctx, input)
  const source = given instanceof Promise ? await given : given
  const resolved = resolvedInput(ctx, input, source)
  const { places, suppressor, level } = resolved
  const found = source.fault === undefined ? allFindings(ctx, source, resolved) : [faultFinding(source, source.fault, places)]
  const reported = isPending(found) ? await found : found
  const findings = [...reported, ...(suppressor?.expired() ?? [])]
  return {
    valid: findings.every((finding) => !isAtLeast('error', finding)),
    findings: findings.filter((finding) => isAtLeast(level, finding)),
  }
}

function allFindings(ctx: OperationContext, source: JsonSource, input: ResolvedInput): Awaitable<readonly Finding[]> {
  const reported = attempt(
    () => findingsOf(ctx, source, input),
    (error) => [tooDeep(source, error)],
  )
  return after(reported, (own) =>
    after(libraryFindings(ctx, source.value, input), (ofLibrary) => (ofLibrary.length === 0 ? own : [...own, ...ofLibrary])),
  )
}

/**
 * A parsed object may be nested deeper than any accepted text, or contain itself. The depth is measured only after a walk has failed, so that other
 * validations do not pay for it, and after any failure, because something on the way may have caught the RangeError of a stack overflow.
 */
function tooDeep(source: JsonSource, error: unknown): Finding {
  if (error instanceof OperationError || !isNestedDeeper(source.value, DEEPEST)) throw error
  return faultFinding(source, { kind: 'too-deep', offset: source.start, path: [], token: '' }, undefined)
}

/** The limit of `readJsonSource` for texts. */
const DEEPEST = 128

function resolvedInput(ctx: OperationContext, input: ValidateInput, source: JsonSource): ResolvedInput {
  const { checks = 'all', profiles = [], bundle = [] } = input
  const rules = settingsOf(ctx.validation?.rules, input.rules)
  return {
    profiles: checks === 'all' ? [...new Set(profiles)] : [],
    entryProfiles: checks === 'all' && bundle.length > 0 ? entryProfilesOf(ctx.types, bundle) : NO_ENTRY_PROFILES,
    places: input.places === true && source.text !== '' ? positionsIn(source) : undefined,
    policy: policyOf(input, ctx.validation ?? {}),
    rules,
    level: input.level ?? ctx.validation?.level ?? 'information',
    suppressor: suppressorOf(ctx, input, rules),
  }
}

/** Settings of a call replace those of the context one by one. Without any, the context's own object is returned, so that it is read only once. */
function settingsOf(general: RuleSettings | undefined, own: RuleSettings | undefined): RuleSettings {
  if (own === undefined) return general ?? NO_SETTINGS
  return general === undefined ? own : { ...general, ...own }
}

function policyOf(input: ValidateInput, general: ValidationPolicy): RunPolicy {
  return {
    checks: input.checks ?? 'all',
    bestPractice: first(input.bestPractice, general.bestPractice, 'off'),
    refuses:
      input.refuse === undefined && general.refuse === undefined
        ? NO_REFUSALS
        : new Set([...(general.refuse ?? []), ...(input.refuse ?? [])]),
    validateReferences: first(input.validateReferences, general.validateReferences, 'off'),
    assumeValidRestReferences: first(input.assumeValidRestReferences, general.assumeValidRestReferences, false),
    allowComments: first(input.allowComments, general.allowComments, false),
    questionnaire: first(input.questionnaire, general.questionnaire, 'check'),
    extensibleBindingWarnings: first(input.extensibleBindingWarnings, general.extensibleBindingWarnings, true),
    wrongDisplays: first(input.wrongDisplays, general.wrongDisplays, 'error'),
    enforceAggregationOutsideBundles: first(input.enforceAggregationOutsideBundles, general.enforceAggregationOutsideBundles, true),
    forPublication: first(input.forPublication, general.forPublication, false),
    validateContained: first(input.validateContained, general.validateContained, true),
    vitalSigns: first(input.vitalSigns, general.vitalSigns, 'category'),
    resourceId: first(input.resourceId, general.resourceId, 'optional'),
    mustSupport: first(input.mustSupport, general.mustSupport, 'off'),
    extensionDomains: [...(general.extensionDomains ?? []), ...(input.extensionDomains ?? [])],
  }
}

const NO_ENTRY_PROFILES: readonly EntryProfile[] = []

const NO_REFUSALS: RunPolicy['refuses'] = new Set()

/** The option of the call, else that of the host, else the default. */
function first<T>(own: T | undefined, general: T | undefined, usual: T): T {
  return own ?? general ?? usual
}

function suppressorOf(ctx: OperationContext, { suppress = [] }: ValidateInput, rules: RuleSettings): Suppressor | undefined {
  if (ctx.validation?.suppress === undefined && suppress.length === 0) return undefined
  const all = [...(ctx.validation?.suppress ?? []), ...suppress]
  return all.length === 0 ? undefined : createSuppressor(all, { now: ctx.now(), rules })
}

const LEVELS: readonly Finding['severity'][] = ['information', 'warning', 'error', 'fatal']

function isAtLeast(level: FindingLevel, { severity }: Finding): boolean {
  return LEVELS.indexOf(severity) >= LEVELS.indexOf(level)
}

function sourceOf(ctx: OperationContext, { resource, places }: ValidateInput): Promise<JsonSource> | JsonSource {
  if (typeof resource === 'string') return createPace(ctx).run(readJsonSource(resource, { positions: places === true }))
  if (isSource(resource)) return resource
  return { text: '', start: 0, value: resource, repairs: [], numberText: () => undefined, positions: new Map() }
}

function isSource(resource: object): resource is JsonSource {
  return 'numberText' in resource && typeof resource.numberText === 'function'
}

/**
 * Findings about the CQL of a Library: the problems that `ctx.checkLibrary` reports or, without a translator, that the CQL is not checked. Contained
 * and bundled Libraries are not checked.
 *
 * @throws what the checker throws.
 */
function libraryFindings(ctx: OperationContext, resource: unknown, input: ResolvedInput): Awaitable<readonly Finding[]> {
  if (input.policy.checks !== 'all' || !isObject(resource) || resource['resourceType'] !== 'Library') return []
  const texts = objectsAt(resource, 'content').flatMap((content, index) => (isCql(content) ? [index] : []))
  if (texts.length === 0) return []
  return after(ctx.checkLibrary?.(ctx, resource), (problems) => {
    const findings = problems?.map(findingOfProblem) ?? texts.map(unchecked)
    return findings.filter((finding) => input.suppressor?.hides(finding) !== true)
  })
}

function isCql(content: JsonObject): boolean {
  return stringAt(content, 'contentType')?.split(';')[0] === 'text/cql' && stringAt(content, 'data') !== undefined
}

function findingOfProblem({ severity, text, content, line, column }: LibraryProblem): Finding {
  const where = line === undefined ? '' : `Line ${line}, column ${column ?? 1}: `
  return findingOf(severity === 'error' ? CQL_ERROR : CQL_WARNING, { text: `${where}${text}`, expression: contentAt(content) })
}

function unchecked(index: number): Finding {
  return findingOf(CQL_UNCHECKED, { text: 'The CQL is not checked: no translator is set up here.', expression: contentAt(index) })
}

function contentAt(index: number): string {
  return `Library.content[${index}]`
}
