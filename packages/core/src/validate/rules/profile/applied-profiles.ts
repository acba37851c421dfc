import { canonicalOf } from '../../../content/index.js'
import { OperationError, quoted } from '../../../errors/index.js'
import { type FhirNode, isSubtype, PENDING, type Pending } from '../../../fhirpath/index.js'
import { isObject, objectAt } from '../../../json/index.js'
import { type ElementRule, type Profile, TYPE_URL } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { isAbsoluteUri } from '../primitive/text.js'
import { entryProfilesFor, reportUnusedEntryProfiles } from '../bundle/entry-profiles.js'
import { conforms, profileRoots, rootsOf } from './conforms.js'

/** A profile that is claimed or required and not loaded, so that nothing is checked against it. */
const PROFILE_UNKNOWN: FindingDefinition = defineFinding(
  'profile-unknown',
  'warning',
  'structure',
  'Load the profile or its package, or correct its canonical.',
)
/** A claimed profile of FHIR itself whose url names a release, usually another one. */
const PROFILE_OTHER_VERSION: FindingDefinition = defineFinding(
  'profile-other-version',
  'information',
  'structure',
  'No action needed; the profile is for another release of FHIR.',
)
/** A claimed or required profile that is for another type. */
const PROFILE_TYPE: FindingDefinition = defineFinding('profile-type', 'error', 'structure', 'Claim a profile for the type of the resource.')
/** A profile that cannot be applied: it has no elements, its base is unknown or part of a cycle, or its differential does not fit. */
export const DEFINITION_SNAPSHOT: FindingDefinition = defineFinding(
  'definition-snapshot',
  'error',
  'exception',
  'Correct the differential so that it can be applied to its base.',
)

/** An element that conforms to none of the profiles that its type may have, or to several. */
const PROFILE_CHOICE: FindingDefinition = defineFinding(
  'profile-choice',
  'error',
  'structure',
  'Make the element conform to exactly one of the profiles.',
)

/** The kinds of findings about the profiles of a resource or an element. */
export const PROFILE_FINDINGS: readonly FindingDefinition[] = [
  PROFILE_UNKNOWN,
  PROFILE_OTHER_VERSION,
  PROFILE_TYPE,
  DEFINITION_SNAPSHOT,
  PROFILE_CHOICE,
]

/** Urls of FHIR's own definitions that name the release. */
const OTHER_RELEASE = /^http:\/\/hl7\.org\/fhir\/(\d\.\d)\/StructureDefinition\//

/** The profiles that a resource names in `meta.profile`. Reports those that are not known. */
export function claimedProfiles(run: Run, node: FhirNode): readonly Profile[] {
  const claims = isObject(node.value) ? objectAt(node.value, 'meta')?.['profile'] : undefined
  if (!Array.isArray(claims)) return []
  return claims.flatMap((claim: unknown, index) => (typeof claim === 'string' ? claimed(run, node, { claim, index }) : []))
}

function claimed(run: Run, node: FhirNode, { claim, index }: { claim: string; index: number }): readonly Profile[] {
  const profile = run.definitions.profile(claim)
  if (profile === PENDING) return []
  const release = OTHER_RELEASE.exec(claim)?.[1]
  if (profile === undefined && release === '4.0') {
    const name = claim.replace(OTHER_RELEASE, '')
    const own = run.definitions.profile(TYPE_URL + name)
    if (own === PENDING) return []
    if (own !== undefined) {
      run.findings.report(PROFILE_OTHER_VERSION, node, {
        text: `The profile ${quoted(claim)} is for this release of FHIR.`,
        at: `meta.profile[${index}]`,
      })
      return fittingProfiles(run, node, own)
    }
    run.findings.report(PROFILE_OTHER_VERSION, node, {
      text: `The profile ${quoted(claim)} is for this release of FHIR, which has no type ${quoted(name)}.`,
      at: `meta.profile[${index}]`,
      severity: 'error',
    })
    return []
  }
  if (profile === undefined && release !== undefined) {
    run.findings.report(PROFILE_OTHER_VERSION, node, {
      text: `The profile ${quoted(claim)} is for FHIR ${release} and has not been checked.`,
      at: `meta.profile[${index}]`,
    })
    return []
  }
  // `canonicalProblem` reports a claim that is not absolute.
  if (profile === undefined && !isAbsoluteUri(claim)) return []
  if (profile === undefined) {
    const known = knownInstead(run, claim)
    if (known !== PENDING)
      run.findings.report(PROFILE_UNKNOWN, node, {
        text: `The profile ${quoted(claim)} could not be found and has not been checked.${known}`,
        at: `meta.profile[${index}]`,
      })
    return []
  }
  return fittingProfiles(run, node, profile, `meta.profile[${index}]`)
}

/** The profiles that ImplementationGuides set for all resources of the node's type. Reports those that are not known. */
export function globalProfiles(run: Run, node: FhirNode): readonly Profile[] {
  const canonicals = run.definitions.globalProfiles(node.type.name)
  return canonicals === PENDING ? [] : canonicals.flatMap((canonical) => globalProfile(run, node, canonical))
}

function globalProfile(run: Run, node: FhirNode, canonical: string): readonly Profile[] {
  const profile = run.definitions.profile(canonical)
  if (profile === PENDING) return []
  if (profile !== undefined) return fittingProfiles(run, node, profile)
  run.findings.report(PROFILE_UNKNOWN, node, {
    text: `The profile ${canonical}, which an ImplementationGuide requires for every ${node.type.name}, could not be found.`,
  })
  return []
}

/**
 * The rules of the requested profiles that apply to the resource itself.
 *
 * @throws {OperationError} `profile-not-found` for a profile that cannot be found.
 */
export function requestedRules(run: Run, canonicals: readonly string[]): readonly ElementRule[] {
  if (canonicals.length === 0) return []
  const meant = requested(run, canonicals).filter((profile) => !isForEntry(run, profile))
  return meant.flatMap((profile) => fittingProfiles(run, run.root, profile)).flatMap((profile) => rootsOf(run, profile))
}

/** The profiles that the request names for the resource of an entry. */
export function profilesOfEntry(run: Run, node: FhirNode): readonly Profile[] {
  return entryProfilesFor(run, node).flatMap(({ canonical }) => {
    const profile = run.definitions.profile(canonical)
    return profile === undefined || profile === PENDING ? [] : fittingProfiles(run, node, profile)
  })
}

/**
 * Reports, after the walk, which profiles for entries were checked against nothing.
 *
 * @throws {OperationError} `profile-not-found` for a profile that cannot be found.
 */
export function checkEntryProfiles(run: Run): void {
  requested(
    run,
    run.entryProfiles.map(({ canonical }) => canonical),
    'bundle',
  )
  run.scheduler.atEnd(() => reportUnusedEntryProfiles(run))
}

/** Checks the resource of a Bundle's first entry against the requested profiles that are not profiles on Bundle. */
export function visitFirstEntry(run: Run, canonicals: readonly string[]): void {
  if (canonicals.length === 0) return
  const profiles = requested(run, canonicals).filter((profile) => isForEntry(run, profile))
  const [entry] = profiles.length === 0 ? [] : childrenOf(run, run.root, 'entry')
  const [resource] = entry === undefined ? [] : childrenOf(run, entry, 'resource')
  if (resource === undefined) return
  const rules = profiles.flatMap((profile) => fittingProfiles(run, resource, profile)).flatMap((profile) => rootsOf(run, profile))
  run.visit({ ...run, checksTypes: false }, resource, rules)
}

function requested(run: Run, canonicals: readonly string[], parameter = 'profile'): readonly Profile[] {
  return canonicals.flatMap((canonical) => {
    const profile = run.definitions.profile(canonical)
    const known = profile === undefined ? knownInstead(run, canonical) : ''
    if (profile === PENDING || known === PENDING) return []
    if (profile === undefined)
      throw new OperationError('profile-not-found', `The profile ${quoted(canonical)} could not be found.${known}`, {
        expression: [parameter],
      })
    return [profile]
  })
}

/** A sentence, after a space, on what is known instead of an unknown profile: another version, or another kind of resource. Empty if nothing is. */
function knownInstead({ definitions }: Run, canonical: string): string | Pending {
  if (!isAbsoluteUri(canonical)) return ` A profile is named by its canonical URL, such as ${TYPE_URL}Patient.`
  const { url, version } = canonicalOf(canonical)
  const other = version === undefined ? undefined : definitions.profile(url)
  if (other === PENDING) return PENDING
  if (other !== undefined) return ` Known version: ${quoted(other.canonical)}.`
  const kinds = definitions.kinds(url)
  if (kinds === PENDING) return PENDING
  return kinds[0] === undefined || kinds[0] === 'StructureDefinition' ? '' : ` It is the canonical URL of a ${kinds[0]}.`
}

function isForEntry({ model, root }: Run, { type }: Profile): boolean {
  return root.type.name === 'Bundle' && !isSubtype(model, root.type, type)
}

/** A profile and those that it imposes, as far as they fit. An imposed profile that is not known is reported at the claim. */
function fittingProfiles(run: Run, node: FhirNode, profile: Profile, at?: string): readonly Profile[] {
  const imposed = imposedBy(run, profile).flatMap(({ canonical, by }) => {
    const found = run.definitions.profile(canonical)
    if (found === PENDING) return []
    if (found !== undefined) return fittingProfile(run, node, found)
    run.findings.report(PROFILE_UNKNOWN, node, {
      text: `The profile ${quoted(canonical)}, which ${quoted(by.canonical)} imposes, could not be found and has not been checked.`,
      code: 'business-rule',
      ...(at !== undefined && { at }),
    })
    return []
  })
  return [...fittingProfile(run, node, profile), ...imposed]
}

/** The profile, as a list of one, if it is for the node's type and can be applied. Otherwise reports the problem and returns an empty list. */
function fittingProfile(run: Run, node: FhirNode, profile: Profile): readonly Profile[] {
  const obstacle = obstacleTo(run, profile)
  if (obstacle !== undefined) {
    run.findings.report(DEFINITION_SNAPSHOT, node, {
      text: `The profile ${quoted(profile.url)} cannot be used: ${obstacle}.`,
      profile: profile.canonical,
    })
    return []
  }
  if (isSubtype(run.model, node.type, profile.type)) return [profile]
  run.findings.report(PROFILE_TYPE, node, {
    text: `The profile ${quoted(profile.url)} is a profile on ${profile.type}, not on ${node.type.name}.`,
    profile: profile.canonical,
  })
  return []
}

const NO_ELEMENTS = 'it has neither a snapshot nor a differential'

/** Reports that a profile without content, which an element needs, cannot be used. */
export function reportEmpty(run: Run, node: FhirNode, profile: Profile): void {
  if (profile.isEmpty !== true) return
  run.findings.report(DEFINITION_SNAPSHOT, node, {
    text: `The profile ${quoted(profile.url)} cannot be used: ${NO_ELEMENTS}.`,
    profile: profile.canonical,
  })
}

/** Why a profile cannot be applied: the chain of base profiles to a type is broken, or one of them names an element that does not exist. */
function obstacleTo(run: Run, profile: Profile): string | undefined {
  const seen = new Set([profile.canonical])
  for (let current = profile; ;) {
    if (current.isEmpty === true) return current === profile ? NO_ELEMENTS : `it is derived from ${quoted(current.url)}: ${NO_ELEMENTS}`
    if (current.obstacle !== undefined) return current.obstacle
    const { base } = current
    const next = base === undefined ? undefined : run.definitions.profile(base)
    if (base === undefined || next === PENDING) return undefined
    if (next === undefined) return `it is derived from ${quoted(base)}, which could not be found`
    if (next === profile) return 'it is derived from itself'
    if (seen.has(next.canonical)) return `it is derived from ${quoted(base)}, which is derived from itself`
    seen.add(next.canonical)
    current = next
  }
}

/** A profile that another one imposes. */
interface ImposedProfile {
  readonly canonical: string
  /** The profile that imposes it. */
  readonly by: Profile
}

/**
 * The profiles that a profile, and those that it is derived from, impose with the extension `structuredefinition-imposeProfile`, and those that these impose
 * in turn; each once, known or not.
 */
function imposedBy(run: Run, profile: Profile): readonly ImposedProfile[] {
  const found = new Map<string, ImposedProfile>()
  const open = lineOf(run, profile)
  for (const by of open) {
    for (const canonical of by.imposes) {
      const next = run.definitions.profile(canonical)
      if (next === profile || found.has(canonical)) continue
      found.set(canonical, { canonical, by })
      if (next !== undefined && next !== PENDING) open.push(...lineOf(run, next).filter((one) => !open.includes(one)))
    }
  }
  return [...found.values()]
}

/** A profile and those that its differential builds on. A snapshot repeats what these impose. */
function lineOf(run: Run, profile: Profile): Profile[] {
  const line = [profile]
  for (let base = profile.base; base !== undefined;) {
    const next = run.definitions.profile(base)
    if (next === undefined || next === PENDING || line.includes(next)) break
    line.push(next)
    base = next.base
  }
  return line
}

/**
 * The root rules of the profile that a node must conform to. If several are possible, it must conform to one. If it conforms to none, this is reported
 * and the rules of all are returned, so that their findings say why; if one of them is not known, only that is reported.
 */
export function chosenRoots(run: Run, node: FhirNode, canonicals: readonly string[]): readonly ElementRule[] {
  const profiles = canonicals.map((canonical) => run.definitions.profile(canonical))
  if (profiles.includes(PENDING)) return []
  for (const profile of profiles) if (profile !== undefined && profile !== PENDING) reportEmpty(run, node, profile)
  const [only] = canonicals
  if (only !== undefined && canonicals.length === 1) return onlyRoots(run, node, { canonical: only, profile: profiles[0] })
  const choices = canonicals
    .filter((canonical, index) => isForType(run, node, { canonical, profile: profiles[index] }))
    .map((canonical) => ({ key: canonical, rules: profileRoots(run, canonical) }))
  const fitting = choices.filter(({ key, rules }) => rules.length > 0 && conforms(run, node, { key, rules }))
  const list = canonicals.join(', ')
  const unknown = canonicals[profiles.indexOf(undefined)]
  if (fitting.length === 0 && unknown !== undefined)
    reportUnknown(run, node, `The profile ${unknown}, one of those that this element may have,`)
  else if (fitting.length === 0) {
    reportNone(run, node, { list, choices: choices.map(({ key }) => key) })
    return choices.flatMap(({ rules }) => rules)
  }
  if (fitting.length > 1) reportSeveral(run, node, { list, first: fitting[0]?.key ?? '' })
  return fitting[0]?.rules ?? []
}

function reportSeveral(run: Run, node: FhirNode, { list, first }: { list: string; first: string }): void {
  run.findings.report(PROFILE_CHOICE, node, { text: `Found several matching profiles among ${list}.`, severity: 'warning' })
  if (node.type.kind !== 'resource') return
  run.findings.report(PROFILE_CHOICE, node, {
    text: `The resource conforms to several of the profiles that it may have; the first, ${first}, is applied.`,
    severity: 'information',
    code: 'invalid',
  })
}

interface Unmet {
  readonly list: string
  /** The profiles on the type of the node. */
  readonly choices: readonly string[]
}

/** Names also each profile that a resource does not conform to, because its findings, which say why, may be many. */
function reportNone(run: Run, node: FhirNode, { list, choices }: Unmet): void {
  run.findings.report(PROFILE_CHOICE, node, { text: `Unable to find a match among the profiles ${list}.` })
  if (node.type.kind !== 'resource' || choices.length === 0) return
  const { name } = node.type
  run.findings.report(PROFILE_CHOICE, node, { text: `The ${name} conforms to none of the profiles that it may have.`, code: 'invalid' })
  for (const choice of choices) {
    const text = `The ${name} does not conform to the profile ${choice}.`
    run.findings.report(PROFILE_CHOICE, node, { text, severity: 'information', code: 'invalid' })
  }
}

/** Reports that an element cannot be checked against the profile that it needs; but for extensions, which a rule of their own reports. */
function reportUnknown(run: Run, node: FhirNode, what: string): void {
  if (node.type.name === 'Extension') return
  run.findings.report(PROFILE_UNKNOWN, node, { text: `${what} could not be found.`, severity: 'error' })
}

interface FoundProfile {
  readonly canonical: string
  readonly profile: Profile | Pending | undefined
}

/** False for a profile on a type that the node does not have. */
function isForType(run: Run, node: FhirNode, { canonical, profile }: FoundProfile): boolean {
  if (profile === undefined || profile === PENDING || canonicalOf(canonical).fragment !== undefined) return true
  return profile.root.path !== profile.type || isSubtype(run.model, node.type, profile.type)
}

function onlyRoots(run: Run, node: FhirNode, { canonical, profile }: FoundProfile): readonly ElementRule[] {
  if (profile === undefined) {
    reportUnknown(run, node, `The profile ${canonical}, which this element must conform to,`)
    return []
  }
  if (profile === PENDING) return []
  const isOfType = isForType(run, node, { canonical, profile })
  if (!isOfType) {
    run.findings.report(PROFILE_TYPE, node, {
      text: `This element must conform to ${quoted(profile.url)}, which is a profile on ${profile.type}, not on ${node.type.name}.`,
      profile: profile.canonical,
      ...(node.slot?.name === 'resource' && { code: 'informational' }),
    })
  }
  return isOfType ? profileRoots(run, canonical) : []
}
