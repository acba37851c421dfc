import { OperationError, quoted, type IssueSeverity, type OutcomeIssue } from '../errors/index.js'
import { FLAG, inputShape, listOf, needed, OBJECT, objectWith, oneOf, TEXT, type InputShape, type MemberKind } from '../input/index.js'

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
  /** Check outside of Bundles, too, that the targets of references are where a profile requires them (`aggregation`). Default true. */
  readonly enforceAggregationOutsideBundles?: boolean | undefined
  /** Validate contained resources. Default true. */
  readonly validateContained?: boolean | undefined
  /** Url prefixes of extensions that need no definition. Default: none. */
  readonly extensionDomains?: readonly string[] | undefined
  /** Which Observations must conform to FHIR's profiles of vital signs. Default `category`. */
  readonly vitalSigns?: VitalSigns | undefined
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

/** Findings of this severity and above. */
export type FindingLevel = Exclude<IssueSeverity, 'fatal'>

/** The expected type of each member of a policy. */
export const VALIDATION_MEMBERS: { readonly [K in keyof ValidationPolicy]-?: MemberKind } = {
  suppress: listOf(objectWith('a suppression', { id: needed(TEXT), at: TEXT, reason: needed(TEXT), until: needed(TEXT) })),
  bestPractice: oneOf('off', 'error', 'warning', 'information'),
  refuse: listOf(oneOf('markup', 'markdown', 'examples', 'experimental')),
  level: oneOf('error', 'warning', 'information'),
  validateReferences: oneOf('off', 'exists', 'profile'),
  assumeValidRestReferences: FLAG,
  allowComments: FLAG,
  questionnaire: oneOf('off', 'check', 'required'),
  extensibleBindingWarnings: FLAG,
  enforceAggregationOutsideBundles: FLAG,
  validateContained: FLAG,
  extensionDomains: listOf(TEXT),
  vitalSigns: oneOf('category', 'code'),
  rules: OBJECT,
}

/** Shape by which a policy is checked. */
export const VALIDATION_SHAPE: InputShape = inputShape<ValidationPolicy>(VALIDATION_MEMBERS)

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
