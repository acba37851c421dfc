import { OperationError, quoted, type IssueSeverity, type OutcomeIssue } from '../errors/index.js'
import { FLAG, inputShape, listOf, needed, OBJECT, objectWith, oneOf, TEXT, type InputShape, type MemberKind } from '../input/index.js'

/** What a host has decided about findings of validation, for every call. */
export interface ValidationPolicy {
  /** Findings that are known and accepted for a time. */
  readonly suppress?: readonly Suppression[] | undefined
  /** Severity of constraints that are best practices. Default `off`: they are not checked. */
  readonly bestPractice?: BestPractice | undefined
  /** What is an error though FHIR allows it. Default: nothing. */
  readonly refuse?: readonly Refusal[] | undefined
  /** The least severity that is reported. Default `information`. */
  readonly level?: FindingLevel | undefined
  /** Whether references to stored resources are followed. Default `off`: their form, and the types that they name, are checked all the same. */
  readonly validateReferences?: ReferenceCheck | undefined
  /** Take absolute URLs in references for those of a FHIR server: the type that they name must be allowed. Default false. */
  readonly assumeValidRestReferences?: boolean | undefined
  /** Let JSON have comments. Default false: each is an error. */
  readonly allowComments?: boolean | undefined
  /** How QuestionnaireResponses are checked against their questionnaires. Default `check`. */
  readonly questionnaire?: QuestionnaireMode | undefined
  /** Report codes that are outside of an extensible value set. Default true. */
  readonly extensibleBindingWarnings?: boolean | undefined
  /** Check outside of Bundles, too, that references lead where a profile wants their targets (`aggregation`). Default true. */
  readonly enforceAggregationOutsideBundles?: boolean | undefined
  /** Validate contained resources. Default true. */
  readonly validateContained?: boolean | undefined
  /** Beginnings of urls of extensions that need no definition. Default: none. */
  readonly extensionDomains?: readonly string[] | undefined
  /** Which Observations must conform to FHIR's profiles of vital signs. Default `category`. */
  readonly vitalSigns?: VitalSigns | undefined
  /** Rules that are switched off or reported with another severity, and rules of the host's own. Default: none. */
  readonly rules?: RuleSettings | undefined
}

/** By kind of finding: how it is reported, or the rule that finds it. */
export type RuleSettings = Readonly<Record<string, RuleSeverity | HostRule>>

/** How a kind of finding is reported. `off`: not at all. */
export type RuleSeverity = 'off' | FindingLevel

/** A validation rule of a host. It is applied by `checks: 'all'`, to every resource that is validated, contained and bundled ones too. */
export interface HostRule {
  /**
   * The types or elements that the rule looks at: `Patient`, `Identifier`, `uri`, `Patient.birthDate`. A type includes those that derive from it: `uri`
   * includes `canonical`, `Resource` every resource.
   */
  readonly on: string | readonly string[]
  readonly severity: FindingLevel
  /** R4 issue type. Default `business-rule`. */
  readonly code?: OutcomeIssue['code'] | undefined
  /** What to do about such findings, in a sentence. */
  readonly advice: string
  /** Whether the rule has anything to look at in a value. Cheap: it saves most values a visit. Default: it looks at all. */
  readonly when?: ((value: unknown) => boolean) | undefined
  /** What is wrong with a value: a text, several findings, or `undefined` when nothing is. It runs within the walk, so it is synchronous. */
  readonly check: (value: unknown, place: RulePlace) => HostFinding | readonly HostFinding[] | undefined
}

/** Where a value is that a host's rule looks at. */
export interface RulePlace {
  /** FHIRPath with indexes: `Patient.identifier[0]`. */
  readonly path: string
  /** The nearest resource around the value, or the value itself when it is one. */
  readonly resource: object
}

/** What a host's rule says: a sentence, or one with the JSON steps from the value to what it is about, such as `name[0].family`. */
export type HostFinding = string | { readonly text: string; readonly at?: string | undefined; readonly hint?: string | undefined }

/** A finding that is not reported, for a reason, up to a day. */
export interface Suppression {
  /** Kind of the finding, `extension-unknown`; of one constraint `invariant:dom-6`. */
  readonly id: string
  /** FHIRPath without indexes, `Patient.contact`: the element and what is inside. Anywhere when absent. */
  readonly at?: string | undefined
  /** Why the finding is accepted. */
  readonly reason: string
  /** The last day, `YYYY-MM-DD` in UTC. From the next one on the finding is reported again, and also that the suppression has expired. */
  readonly until: string
}

/** Severity of constraints that are best practices; `off`: they are not checked. */
export type BestPractice = 'off' | Exclude<IssueSeverity, 'fatal'>

/**
 * `markdown`: tags of HTML in markdown. `markup`: the same in all texts, markdown too, where a bare tag that is alone, such as `<name>`, stays a warning.
 * `examples`: URLs of hosts that are meant for examples.
 */
export type Refusal = 'markup' | 'markdown' | 'examples'

/** `exists`: what a relative reference names must be stored; `profile`: and conform to a profile that the element allows. Absolute URLs are not followed. */
export type ReferenceCheck = 'off' | 'exists' | 'profile'

/** `required`: a questionnaire that is not named or not known is an error; `check`: a warning; `off`: responses are not compared with questionnaires. */
export type QuestionnaireMode = 'off' | 'check' | 'required'

/** `category`: those in the category of vital signs, where their code is one; `code`: all with such a code. */
export type VitalSigns = 'category' | 'code'

/** Findings of this severity and above. */
export type FindingLevel = Exclude<IssueSeverity, 'fatal'>

/** What each member of a policy must be. */
export const VALIDATION_MEMBERS: { readonly [K in keyof ValidationPolicy]-?: MemberKind } = {
  suppress: listOf(objectWith('a suppression', { id: needed(TEXT), at: TEXT, reason: needed(TEXT), until: needed(TEXT) })),
  bestPractice: oneOf('off', 'error', 'warning', 'information'),
  refuse: listOf(oneOf('markup', 'markdown', 'examples')),
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

/** The same, as a shape. */
export const VALIDATION_SHAPE: InputShape = inputShape<ValidationPolicy>(VALIDATION_MEMBERS)

/** Says, in a sentence, why a suppression is not complete; `undefined` when it has a reason and a last day. What it is about is not checked. */
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
