import { compareVersions } from '../../content/index.js'
import type { ConceptStatus } from '../code-system/concept-status.js'
import type { CodeSystemProvider } from '../code-system/provider.js'
import { chooseVersion, type SystemChoice } from '../code-system/system-family.js'
import { conceptTexts } from '../concept-texts.js'
import { explainMember, explainPart, explainPassedOver } from '../explain/membership-steps.js'
import type { TerminologyScope } from '../scope.js'
import type { ConceptSetPlan, ValueSetPlan } from './plan.js'
import { sameSystem } from './segment.js'
import { keepsVersions, listedConcept, selects } from './selection.js'
import type { ListedCode } from './value-set.js'

/** A code that may be in a value set. */
export interface CodeInQuestion {
  readonly system: string
  readonly version?: string | undefined
  readonly code: string
  /** Helps to choose among several versions of the system. */
  readonly display?: string | undefined
}

/** Which members do not count. */
export interface MembershipOptions {
  readonly activeOnly?: boolean | undefined
  /** False: abstract codes do not count. Default true. */
  readonly abstract?: boolean | undefined
  /** True: what an include lists is believed even when its code system is not known. */
  readonly trustLists?: boolean | undefined
}

/** Whether a code is in a value set, and what was seen on the way. */
export interface Membership {
  /** `unknown` when a code system that the value set takes the code from is not known. */
  readonly state: 'in' | 'out' | 'unknown'
  /** Versions that includes of the code's system came to, in the order in which they were tried. */
  readonly choices: readonly SystemChoice[]
  /** The version that decided. */
  readonly provider?: CodeSystemProvider
  readonly concept?: number
  /** The code's entry in a list of codes, and the name of the value set that has the list. */
  readonly listed?: ListedCode
  readonly owner?: string
  /** True when the value set takes the concept knowing that it is inactive. */
  readonly knowingly?: boolean
  /** Why a code that the definition selects is out all the same. */
  readonly barred?: 'inactive' | 'abstract'
}

/** Asks value sets about one code. */
export interface MembershipQuestion {
  readonly scope: TerminologyScope
  readonly code: CodeInQuestion
  readonly options: MembershipOptions
}

/**
 * Tells whether a code is in a value set, without listing it. A value set that is imported on several ways is asked once.
 *
 * @throws {OperationError} `not-supported` for a filter that is not understood.
 */
export function membershipIn(question: MembershipQuestion, plan: ValueSetPlan): Membership {
  return asked({ ...question, done: new Map(), doneForExcludes: new Map() }, plan)
}

interface Asking extends MembershipQuestion {
  readonly done: Map<ValueSetPlan, Membership>
  /** Excludes take inactive and abstract codes whatever the options say, so their answers stand apart. */
  readonly doneForExcludes: Map<ValueSetPlan, Membership>
}

function asked(asking: Asking, plan: ValueSetPlan): Membership {
  const known = asking.done.get(plan)
  if (known !== undefined) return known
  const { code, scope } = asking
  const { tried, anyVersion } = triedIncludes(asking, plan)
  const decisive = decisiveOf(tried, code) ?? OUT
  const result = anyVersion ? decisive : { ...decisive, choices: choicesOf(tried.map(({ answer }) => answer)) }
  asking.done.set(plan, result)
  const { explain } = scope.ctx
  if (explain !== undefined) explainMember(explain, plan, { code, answer: result, included: tried.some(({ included }) => included) })
  return result
}

/** What one include says, after the excludes. */
interface TriedInclude {
  readonly included: boolean
  readonly answer: Membership
}

function triedIncludes(asking: Asking, plan: ValueSetPlan): { readonly tried: readonly TriedInclude[]; readonly anyVersion: boolean } {
  const { parts, anyVersion } = usableIncludes(asking, plan)
  const { explain } = asking.scope.ctx
  if (explain !== undefined) explainPassedOver(explain, plan, parts)
  const tried: TriedInclude[] = []
  for (const part of parts) {
    const one = tryInclude(asking, plan, part)
    tried.push(one)
    if (anyVersion ? isMeant(one.answer, asking.code) : one.included) break
  }
  return { tried, anyVersion }
}

function tryInclude(asking: Asking, plan: ValueSetPlan, part: ConceptSetPlan): TriedInclude {
  const { scope, code, options } = asking
  const answer = inPart(asking, part, { ...options, activeOnly: plan.valueSet.activeOnly || options.activeOnly === true })
  if (scope.ctx.explain !== undefined) explainPart(scope.ctx.explain, { kind: 'include', scope, plan, part, code, answer })
  const included = answer.state === 'in'
  return { included, answer: included ? afterExcludes(asking, plan, answer) : answer }
}

function decisiveOf(tried: readonly TriedInclude[], code: CodeInQuestion): Membership | undefined {
  const found =
    tried.find(({ answer }) => isMeant(answer, code)) ??
    tried.find(({ answer }) => answer.state === 'in') ??
    tried.find(({ included }) => included) ??
    tried.find(({ answer }) => answer.state === 'unknown') ??
    tried.find(({ answer }) => answer.barred !== undefined) ??
    tried.find(({ answer }) => answer.concept !== undefined) ??
    tried.find(({ answer }) => answer.provider !== undefined)
  return found?.answer
}

/** True for a member that has the display of the code in question. */
function isMeant({ state, provider, concept, listed }: Membership, { display }: CodeInQuestion): boolean {
  if (state !== 'in' || display === undefined) return state === 'in'
  return provider !== undefined && concept !== undefined && conceptTexts(provider, concept, listed).some(({ value }) => value === display)
}

/** Everything that one include or exclude demands. */
function inPart(asking: Asking, part: ConceptSetPlan, bars: MembershipOptions): Membership {
  if (part.missing.length > 0) return { state: 'unknown', choices: [] }
  const own = part.family === undefined ? [] : [inSystem(asking, part, bars)]
  if (own.some(({ state }) => state !== 'in')) return own[0] ?? OUT
  const all = [...own, ...part.imports.map((imported) => asked(asking, imported))]
  const decisive = all.find(({ state }) => state !== 'in') ?? all[0] ?? OUT
  return { ...decisive, choices: choicesOf(all) }
}

/** Each choice once: an answer that is asked for again brings the same ones, which would double at every level of imports. */
function choicesOf(tried: readonly Membership[]): readonly SystemChoice[] {
  if (tried.length === 1) return tried[0]?.choices ?? []
  return [...new Set(tried.flatMap(({ choices }) => choices))]
}

const OUT: Membership = { state: 'out', choices: [] }

function inSystem({ scope, code }: Asking, part: ConceptSetPlan, bars: MembershipOptions): Membership {
  if (part.family?.url !== code.system) return OUT
  const choice = chooseVersion(part.family, { include: part.definition.version, value: code.version, rules: scope.rules })
  const { provider } = choice
  if (provider === undefined) return { state: withoutSystem(part, code, bars), choices: [choice] }
  const concept = provider.find(code.code)
  const tried = { provider, choices: [choice] }
  if (concept === undefined) return { ...tried, state: isOpen(provider, part) ? 'in' : 'out' }
  const listed = listedConcept(provider, part, concept)
  const found = { ...tried, concept, ...(listed !== undefined && { listed, owner: part.owner }) }
  if (!selects(provider, part, concept)) return { ...found, state: 'out' }
  const barred = barrier(provider.status(concept), bars)
  if (barred !== undefined) return { ...found, state: 'out', barred }
  const knowingly = part.filters.some((filter) => provider.takesInactive?.(filter) === true)
  return { ...found, state: 'in', ...(knowingly && { knowingly }) }
}

/** What can be told without the code system. */
function withoutSystem(
  { definition, filters }: ConceptSetPlan,
  { code }: CodeInQuestion,
  { trustLists }: MembershipOptions,
): Membership['state'] {
  if (trustLists !== true || definition.concepts === undefined || filters.length > 0) return 'unknown'
  return definition.listed(code) === undefined ? 'out' : 'in'
}

/** Unknown codes of a fragment may exist all the same, so they are in a set of all codes. */
function isOpen(provider: CodeSystemProvider, { definition }: ConceptSetPlan): boolean {
  return !provider.header.complete && definition.concepts === undefined && definition.filters.length === 0
}

function barrier(status: ConceptStatus, { activeOnly, abstract }: MembershipOptions): Membership['barred'] {
  if (status.abstract && abstract === false) return 'abstract'
  return status.inactive && activeOnly === true ? 'inactive' : undefined
}

function afterExcludes(asking: Asking, plan: ValueSetPlan, included: Membership): Membership {
  for (const part of plan.excludes) {
    const state = exclusion(asking, plan, { part, included })
    if (state !== 'out') return { ...included, state: state === 'in' ? 'out' : 'unknown' }
  }
  return included
}

interface Exclusion {
  readonly part: ConceptSetPlan
  readonly included: Membership
}

function exclusion(asking: Asking, plan: ValueSetPlan, { part, included }: Exclusion): Membership['state'] {
  const unbarred = { ...asking, options: { trustLists: asking.options.trustLists }, done: asking.doneForExcludes }
  const answer = inPart(unbarred, part, unbarred.options)
  const { scope, code } = asking
  if (scope.ctx.explain !== undefined) explainPart(scope.ctx.explain, { kind: 'exclude', scope, plan, part, code, answer })
  const { state, provider } = answer
  if (state !== 'in' || provider === undefined || included.provider === undefined) return state
  return sameSystem(provider, included.provider) || !keepsVersions(plan, part) ? 'in' : 'out'
}

interface UsableIncludes {
  readonly parts: readonly ConceptSetPlan[]
  /** True when they come to several versions of the code's system, and the code may be one of any. */
  readonly anyVersion: boolean
}

/**
 * The includes to ask. Where they state several versions of the code's system, a version in the code chooses those that come to it; a code
 * without one is looked for in the newest version first.
 */
function usableIncludes({ scope, code }: Asking, { includes }: ValueSetPlan): UsableIncludes {
  const own = includes.filter(({ family }) => family?.url === code.system)
  if (new Set(own.map(({ definition }) => definition.version)).size < 2) return { parts: includes, anyVersion: false }
  const versions = new Map(own.map((part) => [part, versionOf(scope, code, part)]))
  if (code.version === undefined) {
    const newestFirst = own.toSorted((a, b) => compareVersions(versions.get(b), versions.get(a)))
    return { parts: [...newestFirst, ...includes.filter((part) => !versions.has(part))], anyVersion: true }
  }
  const isNamed = own.some((part) => versions.get(part) === code.version)
  const parts = isNamed ? includes.filter((part) => !versions.has(part) || versions.get(part) === code.version) : includes
  return { parts, anyVersion: false }
}

/** The version that an include comes to, or that it states when that is not known. */
function versionOf({ rules }: TerminologyScope, { version }: CodeInQuestion, { family, definition }: ConceptSetPlan): string | undefined {
  const choice = family === undefined ? undefined : chooseVersion(family, { include: definition.version, value: version, rules })
  return choice?.provider?.header.version ?? choice?.wished
}
