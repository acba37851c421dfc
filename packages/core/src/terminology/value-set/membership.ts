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
  const included = inIncludes(asking, plan)
  const result = included.state === 'in' ? afterExcludes(asking, plan, included) : included
  asking.done.set(plan, result)
  const { explain } = asking.scope.ctx
  if (explain !== undefined) explainMember(explain, plan, { code: asking.code, answer: result, included: included.state === 'in' })
  return result
}

function inIncludes(asking: Asking, plan: ValueSetPlan): Membership {
  const bars = { ...asking.options, activeOnly: plan.valueSet.activeOnly || asking.options.activeOnly === true }
  const tried: Membership[] = []
  const { scope, code } = asking
  const usable = usableIncludes(asking, plan)
  if (scope.ctx.explain !== undefined) explainPassedOver(scope.ctx.explain, plan, usable)
  for (const part of usable) {
    const one = inPart(asking, part, bars)
    if (scope.ctx.explain !== undefined) explainPart(scope.ctx.explain, { kind: 'include', scope, plan, part, code, answer: one })
    tried.push(one)
    if (one.state === 'in') break
  }
  return { state: 'out', ...decisiveOf(tried), choices: choicesOf(tried) }
}

function decisiveOf(tried: readonly Membership[]): Membership | undefined {
  return (
    tried.find(({ state }) => state === 'in') ??
    tried.find(({ state }) => state === 'unknown') ??
    tried.find(({ barred }) => barred !== undefined) ??
    tried.find(({ provider }) => provider !== undefined)
  )
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

/**
 * The includes to ask. A version in the code chooses the include that states it. Without one, several versions of the system are tried
 * from the newest on, unless only some have the code (and the display).
 */
function usableIncludes({ scope, code }: Asking, plan: ValueSetPlan): readonly ConceptSetPlan[] {
  const versions = new Set(
    plan.includes.filter(({ family }) => family?.url === code.system).flatMap(({ definition }) => definition.version ?? []),
  )
  const stated = code.version !== undefined && versions.has(code.version) ? code.version : undefined
  const chosen = code.version === undefined ? versionWithCode(scope, plan, { code, versions }) : stated
  if (chosen === undefined) return plan.includes
  return plan.includes.filter(({ family, definition }) => family?.url !== code.system || definition.version === chosen)
}

interface VersionsOfCode {
  readonly code: CodeInQuestion
  readonly versions: ReadonlySet<string>
}

function versionWithCode(scope: TerminologyScope, plan: ValueSetPlan, { code, versions }: VersionsOfCode): string | undefined {
  if (versions.size < 2) return undefined
  const family = plan.includes.find((part) => part.family?.url === code.system)?.family
  const newestFirst = [...versions].sort((a, b) => compareVersions(b, a))
  const having = newestFirst.filter((version) => {
    const provider = family === undefined ? undefined : chooseVersion(family, { include: version, rules: scope.rules }).provider
    return provider !== undefined && hasCode(provider, code)
  })
  return having.length === versions.size ? undefined : (having[0] ?? newestFirst[0])
}

function hasCode(provider: CodeSystemProvider, { code, display }: CodeInQuestion): boolean {
  const concept = provider.find(code)
  if (concept === undefined) return false
  return display === undefined || conceptTexts(provider, concept).some(({ value }) => value === display)
}
