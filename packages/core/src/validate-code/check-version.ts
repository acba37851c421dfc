import { isOfVersion, unknownSystemValues, type SystemChoice } from '../terminology/index.js'
import { issueOf, placeIn, type ValidationIssue } from './issue.js'
import type { GivenCoding } from './input.js'

/** What is wrong about versions, and which systems or versions are not known. */
export interface VersionFindings {
  readonly issues: readonly ValidationIssue[]
  /** `url|version` or url of what is not known. */
  readonly unknown: readonly string[]
}

/** Compares the version of a coding with those that includes of its system came to. */
export function versionFindings(coding: GivenCoding, choices: readonly SystemChoice[]): VersionFindings {
  const found = choices.map((choice) => oneChoice(coding, choice))
  return { issues: found.flatMap(({ issues }) => issues), unknown: [...new Set(found.flatMap(({ unknown }) => unknown))] }
}

function oneChoice(coding: GivenCoding, choice: SystemChoice): VersionFindings {
  const mismatch = differs(coding, choice) ? [mismatchIssue(coding, choice)] : []
  const unusable = unknownChoice(coding, choice)
  const unknown = unusable.unknown.length > 0 || mismatch.length === 0 ? unusable : unknownValue(coding, choice)
  return { issues: [...checkIssues(coding, choice), ...mismatch, ...unknown.issues], unknown: unknown.unknown }
}

function differs({ version }: GivenCoding, { provider, wished }: SystemChoice): boolean {
  if (version === undefined) return false
  return provider === undefined ? wished !== undefined && wished !== version : !isOfVersion(version, provider.header.version)
}

function checkIssues({ path }: GivenCoding, { provider, violates, family }: SystemChoice): readonly ValidationIssue[] {
  if (provider === undefined || violates === undefined) return []
  const values = { system: family.url, version: provider.header.version ?? '', required: violates }
  return [issueOf('VALUESET_VERSION_CHECK', values, { at: placeIn(path, 'version') })]
}

function mismatchIssue({ path, version: given = '' }: GivenCoding, choice: SystemChoice): ValidationIssue {
  const { family, provider, stated = '', wished, origin } = choice
  const at = placeIn(path, 'version')
  const version = wished ?? provider?.header.version ?? ''
  const values = { system: family.url, given, include: stated, version }
  if (origin === 'include') return issueOf('VALUESET_VALUE_MISMATCH', values, { at })
  if (origin !== 'newest') return issueOf('VALUESET_VALUE_MISMATCH_CHANGED', values, { at })
  const severity = provider?.header.versionNeeded === true ? 'error' : 'warning'
  return issueOf('VALUESET_VALUE_MISMATCH_DEFAULT', values, { at, severity })
}

function unknownChoice(coding: GivenCoding, { family, provider, wished }: SystemChoice): VersionFindings {
  return provider === undefined ? unknownVersion(coding, family, wished) : NOTHING
}

function unknownValue(coding: GivenCoding, { family }: SystemChoice): VersionFindings {
  const known = coding.version !== undefined && family.has(coding.version)
  return known ? NOTHING : unknownVersion(coding, family, coding.version)
}

/** The finding that a code system, or a version of it, is not known. */
export function unknownVersion({ path }: GivenCoding, family: SystemChoice['family'], version: string | undefined): VersionFindings {
  const [id, values] = unknownSystemValues(family, version, 'validated')
  const canonical = version === undefined || family.versions.length === 0 ? family.url : `${family.url}|${version}`
  return { issues: [issueOf(id, values, { at: placeIn(path, 'system') })], unknown: [canonical] }
}

const NOTHING: VersionFindings = { issues: [], unknown: [] }
