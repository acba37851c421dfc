import type { CodeSystem } from '../code-system/index.js'
import { requestLayer, type ContentLayer, type ContentView } from '../content/index.js'
import type { OtherRelease } from '../cross-version/index.js'
import { OperationError, quoted, type IssueSeverity, type OutcomeIssue } from '../errors/index.js'
import { createRecorder, type Explain, type Explanation } from '../explain/index.js'
import type { TypeModel, UnitConversion } from '../fhirpath/index.js'
import { AMOUNT, FUNCTION, OBJECT, checkInput, having, inputShape, listOf, type InputShape } from '../input/index.js'
import { isObject, type JsonObject } from '../json/index.js'
import type { SearchOptions } from '../search/index.js'
import type { ConceptStore, Storage } from '../storage/index.js'
import type { Cache } from './cache.js'
import { beginUse, type Scheduler, type ThreadUse } from './pace.js'

/** Limits on the work of one call. Each can be set in `createContext`. */
export interface Limits {
  /** Maximum number of codes in an expansion that is requested without `count`. */
  readonly maxExpansion: number
  /** Maximum size of an answer, in bytes. */
  readonly maxAnswerBytes: number
  /** Maximum number of value sets on one path of imports. */
  readonly maxImportDepth: number
  /** Maximum number of ConceptMaps on one `unmapped` chain. */
  readonly maxMapChain: number
  /** Maximum length of a text filter, in characters. */
  readonly maxFilterLength: number
  /** Wall time of one operation in milliseconds; bots have their own. */
  readonly operationTimeoutMs: number
  /** Maximum number of issues of one validation. */
  readonly maxIssues: number
}

/** The expected type of each limit. */
export const LIMITS_SHAPE: InputShape = inputShape<Limits>({
  maxExpansion: AMOUNT,
  maxAnswerBytes: AMOUNT,
  maxImportDepth: AMOUNT,
  maxMapChain: AMOUNT,
  maxFilterLength: AMOUNT,
  operationTimeoutMs: AMOUNT,
  maxIssues: AMOUNT,
})

/** The default limits of a context. */
export const DEFAULT_LIMITS: Limits = {
  maxExpansion: 100_000,
  maxAnswerBytes: 32 * 1024 * 1024,
  maxImportDepth: 100,
  maxMapChain: 16,
  maxFilterLength: 4_096,
  operationTimeoutMs: 5_000,
  maxIssues: 100,
}

/** A problem in the CQL of a Library. */
export interface LibraryProblem {
  readonly severity: 'error' | 'warning'
  readonly text: string
  /** Index in `Library.content`. */
  readonly content: number
  /** Line in the CQL, counted from 1; absent when unknown. */
  readonly line?: number
  readonly column?: number
}

/**
 * Finds the problems in the CQL of a Library resource.
 *
 * @throws {OperationError} when the check cannot be completed: `aborted`, `computation-timeout`, or what `ctx.authorize` throws for included libraries.
 */
export type LibraryChecker = (ctx: OperationContext, library: JsonObject) => Promise<readonly LibraryProblem[]>

/** Progress of a long operation. */
export interface Progress {
  readonly done: number
  /** Absent when unknown. */
  readonly total?: number | undefined
  /** What is counted, in the plural: `subjects`. */
  readonly of: string
}

/** Everything that an operation uses. Created once per process; `forRequest` derives the context of each request. */
export interface OperationContext {
  readonly storage: Storage
  /** Imported code systems; there are none when absent. */
  readonly concepts?: ConceptStore | undefined
  /** Code systems besides CodeSystem resources: those whose codes follow a rule, and those whose releases are in `concepts`. */
  readonly codeSystems?: readonly CodeSystem[] | undefined
  /** Resolves canonicals. */
  readonly content: ContentView
  /** Layers of definitions that `content` searches below those of the storage; none when absent. */
  readonly definitions?: readonly ContentLayer[] | undefined
  readonly cache: Cache
  /** Options for searches that are part of content, such as criteria of measures. When absent, such searches are refused. */
  readonly search?: SearchOptions | undefined
  /** The types of the FHIR release, which `validate` needs. */
  readonly types?: TypeModel | undefined
  /** FHIR releases whose elements resources may have as extensions; when absent, `validate` knows only the names of their elements. */
  readonly crossVersion?: readonly OtherRelease[] | undefined
  /** Compares quantities with different units; when absent, `validate` knows the units of clinical practice. */
  readonly convertUnit?: UnitConversion | undefined
  /** Defaults for every validation; a call may override them. */
  readonly validation?: ValidationPolicy | undefined
  /** Checks the CQL of Libraries for `validate`; when absent, `validate` reports that CQL is not checked. */
  readonly checkLibrary?: LibraryChecker | undefined
  readonly limits: Limits
  /** Shares the thread among the long operations of all requests. */
  readonly scheduler: Scheduler
  /** The thread time that the request has used. */
  readonly threadUse?: ThreadUse | undefined
  readonly now: () => Date
  /** Random UUID, lower case. */
  readonly newId: () => string
  /** Ends the work when the caller has disconnected. */
  readonly signal?: AbortSignal | undefined
  /**
   * Throws when the caller may not perform the interaction on the type or resource. When absent, everything is allowed.
   *
   * @throws {OperationError} `forbidden`, or `not-found` where the caller must not learn that the resource exists.
   */
  readonly authorize?: ((interaction: 'read' | 'search' | 'create' | 'update' | 'delete', type: string, id?: string) => void) | undefined
  /** True if the storage lacks resources that exist, because the caller must not see them. Another server that is asked would not know which. */
  readonly isPartial?: boolean | undefined
  /** Records the steps that lead to the answer; absent unless the input asked for an explanation. */
  readonly explain?: Explain | undefined
  /** Called with the progress of long operations. An error that it throws ends the operation. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Time by which the operation must end, on the clock of `performance.now()`. */
  readonly deadline?: number | undefined
}

/** Options of one request that override those of the context. */
export interface RequestOptions {
  readonly signal?: AbortSignal
  /** Definitions that came with the request; they hide stored ones with the same url and version. */
  readonly resources?: readonly object[]
  readonly limits?: Partial<Limits>
  readonly authorize?: OperationContext['authorize']
  readonly onProgress?: (progress: Progress) => void
}

const REQUEST: InputShape = inputShape<RequestOptions>({
  signal: having('a signal', ['aborted', 'addEventListener']),
  resources: listOf(OBJECT),
  limits: { words: 'limits by their names, each a number of 0 or more', is: areLimits },
  authorize: FUNCTION,
  onProgress: FUNCTION,
})

function areLimits(value: unknown): boolean {
  return isObject(value) && Object.entries(value).every(([name, limit]) => LIMITS_SHAPE.kinds.get(name)?.is(limit) === true)
}

/**
 * Creates the context of one request, with its own signal, time limit and definitions.
 *
 * @throws {OperationError} `parameter-required`, `parameter-value` or `parameter-unsupported` for an option that is unknown or of the wrong type.
 */
export function forRequest(ctx: OperationContext, options: RequestOptions): OperationContext {
  checkInput(ctx, options, REQUEST)
  const limits = options.limits === undefined ? ctx.limits : { ...ctx.limits, ...options.limits }
  const resources = options.resources?.filter(isObject)
  return {
    ...ctx,
    limits,
    content: resources !== undefined && resources.length > 0 ? ctx.content.with(requestLayer(resources)) : ctx.content,
    authorize: options.authorize ?? ctx.authorize,
    signal: options.signal ?? ctx.signal,
    onProgress: options.onProgress ?? ctx.onProgress,
    threadUse: ctx.threadUse ?? beginUse(),
    deadline: ctx.deadline ?? performance.now() + limits.operationTimeoutMs,
  }
}

/** The option `explain` of operations that can explain their result. */
export interface ExplainOption {
  /** True: the result or the error has an `explanation`. Default false, which costs nothing. */
  readonly explain?: boolean | undefined
}

/** The explanation in the result of an operation. */
export interface Explained {
  /** How the result was reached; present when the input has `explain: true`. */
  readonly explanation?: Explanation | undefined
}

/**
 * Runs an operation and adds the explanation that it recorded to its result, when the input asks for one. The operation itself checks its input.
 *
 * @throws {OperationError} as the operation; with the explanation in `detail` when it was requested.
 */
export function explained<T extends object>(
  ctx: OperationContext,
  input: ExplainOption | undefined,
  run: (ctx: OperationContext) => Promise<T>,
): Promise<T & Explained> {
  return input?.explain === true ? recorded(ctx, run) : run(ctx)
}

async function recorded<T extends object>(ctx: OperationContext, run: (ctx: OperationContext) => Promise<T>): Promise<T & Explained> {
  const { explain, explanation } = createRecorder()
  try {
    return { ...(await run({ ...ctx, explain })), explanation: explanation() }
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    throw new OperationError(error.code, error.message, { ...error.detail, explanation: explanation() })
  }
}

/** Defaults of a host for every validation. */
export interface ValidationPolicy {
  /** Findings that the host knows and accepts for a limited time. */
  readonly suppress?: readonly Suppression[] | undefined
  /** Severity of constraints that are best practices. Default `off`: they are not checked. */
  readonly bestPractice?: BestPractice | undefined
  /** Content to report as an error although FHIR allows it. Default: nothing. */
  readonly refuse?: readonly Refusal[] | undefined
  /** Lowest severity that is reported. Default `information`. */
  readonly level?: FindingLevel | undefined
  /** Whether references to stored resources are followed. Default `off`: only their form and the types that they name are checked. */
  readonly validateReferences?: ReferenceCheck | undefined
  /** Treat absolute URLs in references as URLs of a FHIR server: the type that they name must be allowed. Default false. */
  readonly assumeValidRestReferences?: boolean | undefined
  /** Allow comments in JSON. Default false: each is an error. */
  readonly allowComments?: boolean | undefined
  /** How QuestionnaireResponses are checked against their questionnaires. Default `check`. */
  readonly questionnaire?: QuestionnaireMode | undefined
  /** Report codes outside of an extensible value set. Default true. */
  readonly extensibleBindingWarnings?: boolean | undefined
  /** Severity of a display that is none of the code's. Default `error`. */
  readonly wrongDisplays?: 'error' | 'warning' | undefined
  /** Check outside of Bundles, too, that the targets of references are where a profile requires them (`aggregation`). Default true. */
  readonly enforceAggregationOutsideBundles?: boolean | undefined
  /** Report what definitions lack that are to be published, in particular by HL7. Default false. */
  readonly forPublication?: boolean | undefined
  /** Validate contained resources. Default true. */
  readonly validateContained?: boolean | undefined
  /** Url prefixes of extensions that need no definition. Default: none. */
  readonly extensionDomains?: readonly string[] | undefined
  /** Which Observations must conform to FHIR's profiles of vital signs. Default `category`. */
  readonly vitalSigns?: VitalSigns | undefined
  /** Whether the resource itself must have an id, or must not; contained and bundled resources are not concerned. Default `optional`. */
  readonly resourceId?: ResourceIdRule | undefined
  /** What to report about `mustSupport` of profiles. Default `off`. */
  readonly mustSupport?: MustSupportReport | undefined
  /** Rules to switch off or to report with another severity, and the host's own rules. Default: none. */
  readonly rules?: RuleSettings | undefined
}

/** For each kind of finding, the severity to report it with, or a rule of the host that finds it. */
export type RuleSettings = Readonly<Record<string, RuleSeverity | HostRule>>

/** Severity to report a kind of finding with; `off`: it is not reported. */
export type RuleSeverity = 'off' | FindingLevel

/** A validation rule of a host. `checks: 'all'` applies it to every validated resource, including contained and bundled ones. */
export interface HostRule {
  /**
   * The types or elements that the rule checks: `Patient`, `Identifier`, `uri`, `Patient.birthDate`. A type includes those derived from it: `uri`
   * includes `canonical`, and `Resource` includes every resource.
   */
  readonly on: string | readonly string[]
  readonly severity: FindingLevel
  /** R4 issue type. Default `business-rule`. */
  readonly code?: OutcomeIssue['code'] | undefined
  /** How to resolve such a finding, in one sentence. */
  readonly advice: string
  /** Returns whether the rule applies to a value. A cheap test that avoids most calls of `check`. Default: the rule applies to all values. */
  readonly when?: ((value: unknown) => boolean) | undefined
  /** Returns the problems of a value: a text, several findings, or `undefined` for none. Synchronous, because it runs during the walk over the resource. */
  readonly check: (value: unknown, place: RulePlace) => HostFinding | readonly HostFinding[] | undefined
}

/** The place of a value that a host's rule checks. */
export interface RulePlace {
  /** FHIRPath with indexes: `Patient.identifier[0]`. */
  readonly path: string
  /** The nearest resource around the value, or the value itself when it is one. */
  readonly resource: object
}

/** A finding of a host's rule: a sentence, or a sentence with the JSON path (`at`) from the value to the element concerned, such as `name[0].family`. */
export type HostFinding = string | { readonly text: string; readonly at?: string | undefined; readonly hint?: string | undefined }

/** A finding that is not reported until a given day, with the reason. */
export interface Suppression {
  /** Kind of the finding, such as `extension-unknown`; for a single constraint `invariant:dom-6`. */
  readonly id: string
  /** FHIRPath without indexes, such as `Patient.contact`: covers the element and everything inside it. When absent, the finding is suppressed anywhere. */
  readonly at?: string | undefined
  /** Why the finding is accepted. */
  readonly reason: string
  /** The last day, `YYYY-MM-DD` in UTC. From the next day on the finding is reported again, together with the expiry of the suppression. */
  readonly until: string
}

/** Severity of constraints that are best practices; `off`: they are not checked. */
export type BestPractice = 'off' | Exclude<IssueSeverity, 'fatal'>

/**
 * `markdown`: HTML tags in markdown. `markup`: HTML tags in all texts including markdown, where a single bare tag, such as `<name>`, stays a warning.
 * `examples`: URLs of hosts that are meant for examples. `experimental`: definitions that say that they are experimental.
 */
export type Refusal = 'markup' | 'markdown' | 'examples' | 'experimental'

/** `exists`: targets of relative references must be stored; `profile`: and conform to a profile that the element allows. Absolute URLs are not followed. */
export type ReferenceCheck = 'off' | 'exists' | 'profile'

/** For a missing or unknown questionnaire: `required` reports an error, `check` a warning. `off`: responses are not compared with questionnaires. */
export type QuestionnaireMode = 'off' | 'check' | 'required'

/** `category`: Observations in the category vital-signs whose code is one of a vital sign; `code`: all Observations with such a code. */
export type VitalSigns = 'category' | 'code'

/** Whether a resource must have an id. */
export type ResourceIdRule = 'optional' | 'required' | 'prohibited'

/**
 * `unmarked`: elements with content that no profile marks as `mustSupport`, if one of them marks others; `all`: also, for each profile that marks
 * elements, which of them have content and which have not.
 */
export type MustSupportReport = 'off' | 'unmarked' | 'all'

/** Findings of this severity and above. */
export type FindingLevel = Exclude<IssueSeverity, 'fatal'>

/** Returns a sentence on why a suppression is incomplete; `undefined` when it has a reason and a last day. `id` and `at` are not checked. */
export function suppressionProblem({ id, reason, until }: Suppression): string | undefined {
  if (reason.trim() === '') return `The suppression of ${quoted(id)} needs a reason.`
  if (/^\d{4}-\d\d-\d\d$/.test(until) && !Number.isNaN(Date.parse(until))) return undefined
  return `The suppression of ${quoted(id)} needs a last day such as 2030-12-31, not ${quoted(until)}.`
}

/** @throws {OperationError} `parameter-value` when a suppression lacks a reason or a last day. */
export function checkReasonAndDay(suppression: Suppression): void {
  const problem = suppressionProblem(suppression)
  if (problem !== undefined) throw new OperationError('parameter-value', problem)
}
