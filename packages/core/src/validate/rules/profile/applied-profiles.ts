import { canonicalOf } from '../../../content/index.js'
import { OperationError, quoted } from '../../../errors/index.js'
import { isSubtype, PENDING, type FhirNode, type Pending } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { TYPE_URL, type ElementRule, type Profile } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf } from '../../run/nodes.js'
import { rootsOf } from '../../run/profile-roots.js'
import type { Run } from '../../run/run.js'
import { isAbsoluteUri } from '../primitive/uri.js'

/** A profile that is claimed or required and not loaded, so that nothing is checked against it. */
export const PROFILE_UNKNOWN: FindingDefinition = defineFinding(
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
export const PROFILE_TYPE: FindingDefinition = defineFinding(
  'profile-type',
  'error',
  'structure',
  'Claim a profile for the type of the resource.',
)
/** A profile that cannot be applied: it has no elements, its base is unknown or part of a cycle, or its differential does not fit. */
export const DEFINITION_SNAPSHOT: FindingDefinition = defineFinding(
  'definition-snapshot',
  'error',
  'exception',
  'Correct the differential so that it can be applied to its base.',
)

/** The kinds of findings about the profiles that a resource names. */
export const PROFILE_FINDINGS: readonly FindingDefinition[] = [PROFILE_UNKNOWN, PROFILE_OTHER_VERSION, PROFILE_TYPE, DEFINITION_SNAPSHOT]

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

function requested(run: Run, canonicals: readonly string[]): readonly Profile[] {
  return canonicals.flatMap((canonical) => {
    const profile = run.definitions.profile(canonical)
    const known = profile === undefined ? knownInstead(run, canonical) : ''
    if (profile === PENDING || known === PENDING) return []
    if (profile === undefined)
      throw new OperationError('profile-not-found', `The profile ${quoted(canonical)} could not be found.${known}`, {
        expression: ['profile'],
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

/** A profile that was applied because FHIR requires it for the code of a vital sign. */
export const PROFILE_APPLIED: FindingDefinition = defineFinding(
  'profile-applied',
  'information',
  'informational',
  'No action needed; FHIR requires this profile for the code.',
)

/** The profiles of vital signs, each with the LOINC codes of Observations that must conform to it. */
const BY_LOINC: readonly (readonly [profile: string, codes: string])[] = [
  ['vitalspanel', '85353-1'],
  ['resprate', '9279-1 76170-0 76172-6 76171-8 19840-8 33438-3 76270-8 11291-2'],
  ['heartrate', '8867-4 60978-4 73795-7 73799-9 76476-1 76477-9 8889-8 8890-6 8891-4 8892-2 8893-0'],
  ['heartrate', '40443-4 55425-3 68999-2 11328-2 69000-8 8886-4'],
  ['oxygensat', '2708-6 19224-5 20564-1 2709-4 2710-2 2713-6 51733-4 59408-5 59417-6 89276-0 97549-0'],
  ['bodytemp', '8310-5 60834-9 60835-6 60836-4 60838-0 60955-2 61009-7 75539-7 75987-8 76010-8 76011-6 76278-1'],
  ['bodytemp', '8309-7 8328-7 8329-5 8330-3 8331-1 8332-9 8333-7 8334-5 91371-5 98657-0 98663-8'],
  ['bodyheight', '8302-2 3137-7 3138-5 8306-3 8308-9'],
  ['headcircum', '9843-4 8287-5'],
  ['bodyweight', '29463-7 3141-9 3142-7 75292-3 79348-9 8350-1 8351-9'],
  ['bmi', '39156-5 89270-3'],
  ['bp', '85354-9 35094-2 8459-0 76534-7 55284-4 8480-6'],
]

/** Profiles by `system|code`. */
const PROFILES: ReadonlyMap<string, string> = new Map([
  ...BY_LOINC.flatMap(([profile, codes]) => codes.split(' ').map((code): [string, string] => [`http://loinc.org|${code}`, profile])),
  ['http://snomed.info/sct|276885007', 'bodytemp'],
])

const CATEGORY = 'vital-signs'

/**
 * The vital-signs profile that an Observation must conform to, claimed or not, as a list of at most one. Its category shows that it is a vital sign or,
 * if the policy says so, its code alone. An Observation that was entered in error does not count.
 *
 * @see https://hl7.org/fhir/R4/observation-vitalsigns.html
 */
export function vitalSignsProfile(run: Run, node: FhirNode): readonly Profile[] {
  if (node.type.name !== 'Observation' || !isObject(node.value) || !isVitalSign(run, node.value)) return []
  const key = codesOf(node.value).find((code) => PROFILES.has(code))
  if (key === undefined) return []
  const profile = run.definitions.profile(`http://hl7.org/fhir/StructureDefinition/${PROFILES.get(key)}`)
  if (profile === undefined || profile === PENDING) return []
  run.findings.report(PROFILE_APPLIED, node, {
    text: `Validated against ${profile.url}, which FHIR requires because of the code ${key}.`,
    profile: profile.canonical,
  })
  return [profile]
}

function isVitalSign({ policy }: Run, observation: JsonObject): boolean {
  if (observation['status'] === 'entered-in-error') return false
  if (policy.vitalSigns === 'code') return true
  const categories = objectsAt(observation, 'category').flatMap((concept) => objectsAt(concept, 'coding'))
  return categories.some(({ code }) => code === CATEGORY)
}

function codesOf(observation: JsonObject): readonly string[] {
  return objectsAt(objectAt(observation, 'code'), 'coding').map((coding) => `${stringAt(coding, 'system')}|${stringAt(coding, 'code')}`)
}
