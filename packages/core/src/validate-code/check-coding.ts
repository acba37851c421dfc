import {
  escaped,
  explainUnknownCode,
  filterAnswers,
  membershipIn,
  nameOf,
  preparedChoice,
  withImports,
  type CodeSystemProvider,
  type LanguageList,
  type Membership,
  type SystemFamily,
  type TerminologyScope,
  type ValueSetPlan,
} from '../terminology/index.js'
import {
  barredIssue,
  conceptFindings,
  type ConceptFindings,
  relativeSystem,
  unknownCode,
  unusableSystem,
  versionFindings,
  type VersionFindings,
} from './check-concept.js'
import { explainDisplay } from './check-display.js'
import type { GivenCoding, GivenValue, LooseValueSetInput } from './input.js'
import { issueOf, type ValidationIssue } from './issue.js'

/** Context of the checks of codings. */
export interface CodingCheck {
  readonly scope: TerminologyScope
  readonly plan: ValueSetPlan
  readonly value: GivenValue
  readonly input: LooseValueSetInput
  readonly languages: LanguageList | undefined
}

/** The findings about one coding. */
export interface CodingResult {
  readonly coding: GivenCoding
  readonly state: Membership['state']
  readonly issues: readonly ValidationIssue[]
  /** Unknown code systems. */
  readonly unknown: readonly string[]
  /** The code system version that was used. */
  readonly provider?: CodeSystemProvider | undefined
  readonly findings?: ConceptFindings | undefined
}

/** Checks one coding against a value set: membership, versions, code and display. Infers its system first if the request asks for that. */
export async function checkCoding(check: CodingCheck, given: GivenCoding): Promise<CodingResult> {
  if (given.system !== undefined) return checkInSystem(check, { ...given, system: given.system })
  if (check.input.inferSystem !== true) return withoutSystem(given)
  const systems = await systemsWith(check, given)
  const [system] = systems
  if (system !== undefined && systems.length === 1) return checkInSystem(check, { ...given, system })
  const values = { code: given.code, valueSet: nameOf(check.plan.valueSet), systems: systems.map(escaped).join(', ') }
  const id = systems.length === 0 ? 'UNABLE_TO_INFER_CODESYSTEM' : 'Unable_to_resolve_system__value_set_has_multiple_matches'
  return { coding: given, state: 'out', issues: [issueOf(id, values, { at: 'code' })], unknown: [] }
}

/** Returns the code systems from which the value set includes a code. */
async function systemsWith({ scope, plan, input }: CodingCheck, coding: GivenCoding): Promise<readonly string[]> {
  const parts = withImports(plan).flatMap(({ includes }) => includes)
  const options = { activeOnly: input.activeOnly, abstract: input.abstract }
  const systems: string[] = []
  for (const system of new Set(parts.flatMap(({ family }) => family?.url ?? []))) {
    await scope.pace.step()
    const code = { ...coding, system }
    const { state } = membershipIn({ scope, code, options, holds: await filterAnswers(scope, plan, code) }, plan)
    if (state === 'in') systems.push(system)
  }
  return systems
}

interface CodingOfSystem extends GivenCoding {
  readonly system: string
}

async function checkInSystem(check: CodingCheck, coding: CodingOfSystem): Promise<CodingResult> {
  const { scope, plan, input } = check
  const family = await scope.family(coding.system)
  await preparedChoice(family, { value: coding.version, rules: scope.rules })
  const options = { activeOnly: input.activeOnly, abstract: input.abstract }
  const holds = await filterAnswers(scope, plan, coding)
  const membership = membershipIn({ scope, code: coding, options, holds }, plan)
  const provider = membership.provider ?? versionToReport(coding, { membership, family }, check)
  const about = codeFindings(check, coding, { provider, membership })
  if (input.membershipOnly === true) return { coding, ...membershipAlone(coding, membership), provider, findings: about.findings }
  const versions = await systemFindings(check, coding, { membership, family })
  const barred = membership.barred === undefined ? [] : [barredIssue(coding, membership.barred)]
  if (scope.ctx.explain !== undefined) await explainCode(check, coding, { provider, membership })
  return {
    coding,
    state: membership.state,
    issues: [...versions.issues, ...barred, ...about.issues],
    unknown: versions.unknown,
    provider,
    findings: about.findings,
  }
}

/** A code is not in the value set if the value set does not include the code's version. */
function membershipAlone(coding: GivenCoding, { state, choices }: Membership): Pick<CodingResult, 'state' | 'issues' | 'unknown'> {
  return state === 'in' ? { state, ...versionFindings(coding, choices) } : { state: 'out', issues: [], unknown: [] }
}

interface Located {
  readonly provider: CodeSystemProvider | undefined
  readonly membership: Membership
}

function codeFindings(
  { input, languages }: CodingCheck,
  coding: GivenCoding,
  { provider, membership }: Located,
): Pick<CodingResult, 'issues' | 'findings'> {
  if (provider === undefined) return { issues: [] }
  const concept = membership.concept ?? provider.find(coding.code)
  if (concept === undefined) return { issues: unknownCode(coding, provider) }
  const valueSet = membership.state === 'in' ? membership.owner : undefined
  const found = { provider, concept, listed: membership.listed, valueSet, knowingly: membership.knowingly }
  const findings = conceptFindings(coding, found, { languages, lenient: input.lenientDisplay === true })
  return { issues: findings.issues, findings }
}

/** Explains the result for the code and its display; the membership is explained elsewhere. */
async function explainCode({ scope, languages }: CodingCheck, coding: GivenCoding, { provider, membership }: Located): Promise<void> {
  const { ctx, pace } = scope
  if (provider === undefined) return
  const concept = provider.find(coding.code)
  if (concept === undefined) return explainUnknownCode(ctx.explain, pace, { provider, code: coding.code })
  explainDisplay(ctx.explain, coding, { provider, concept, listed: membership.listed, languages })
}

interface Looked {
  readonly membership: Membership
  readonly family: SystemFamily
}

async function systemFindings(check: CodingCheck, coding: GivenCoding, { membership, family }: Looked): Promise<VersionFindings> {
  const relative = membership.state === 'in' ? [] : relativeSystem(coding)
  const found = await unknownOrVersions(check, coding, { membership, family })
  return { issues: [...relative, ...found.issues], unknown: found.unknown }
}

async function unknownOrVersions({ scope }: CodingCheck, coding: GivenCoding, { membership, family }: Looked): Promise<VersionFindings> {
  const notAsked = membership.choices.length === 0 && (coding.version === undefined ? family.unknown : !family.has(coding.version))
  if (!family.unknown && !notAsked) return versionFindings(coding, membership.choices)
  const wished = membership.choices.find((choice) => choice.wished !== undefined)?.wished
  return unusableSystem(scope.ctx, { ...coding, version: coding.version ?? wished }, family)
}

/** Returns the version to report when that of the include is unknown: the coding's own, otherwise the one that the request prefers. */
function versionToReport({ version }: GivenCoding, { membership, family }: Looked, { scope }: CodingCheck): CodeSystemProvider | undefined {
  const own = version === undefined ? undefined : family.provider(version)
  if (own !== undefined) return own
  if (membership.choices.length === 0) return version === undefined ? family.provider() : undefined
  const { fallback, check } = scope.rules
  return family.provider(fallback?.get(family.url) ?? check?.get(family.url)) ?? family.provider()
}

/** Returns the result for a coding without a system. */
export function withoutSystem(coding: GivenCoding): CodingResult {
  const issue = issueOf('Coding_has_no_system__cannot_validate', {}, coding.path === '' ? {} : { at: coding.path })
  return { coding, state: 'out', issues: [issue], unknown: [] }
}
