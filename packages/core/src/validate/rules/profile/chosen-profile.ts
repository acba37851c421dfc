import { canonicalOf } from '../../../content/index.js'
import { quoted } from '../../../errors/index.js'
import { isSubtype, PENDING, type FhirNode, type Pending } from '../../../fhirpath/index.js'
import type { ElementRule, Profile } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { profileRoots } from '../../run/profile-roots.js'
import type { Run } from '../../run/run.js'
import { PROFILE_UNKNOWN, PROFILE_TYPE, reportEmpty } from './applied-profiles.js'
import { conforms } from './conforms.js'

/** An element that conforms to none of the profiles that its type may have, or to several. */
export const PROFILE_CHOICE: FindingDefinition = defineFinding(
  'profile-choice',
  'error',
  'structure',
  'Make the element conform to exactly one of the profiles.',
)

/**
 * The root rules of the profile that a node must conform to. If several are possible, it must conform to one. If it conforms to none, this is reported
 * and the rules of all are returned, so that their findings say why.
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
  if (fitting.length === 0 && !profiles.includes(undefined)) {
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
    if (node.type.name === 'Extension') return []
    run.findings.report(PROFILE_UNKNOWN, node, {
      text: `The profile ${canonical}, which this element must conform to, could not be found.`,
      severity: 'error',
    })
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
