import type { OperationContext } from '../context/index.js'
import {
  findValueSet,
  isOfVersion,
  unknownSystemValues,
  type CodeSystemProvider,
  type SystemChoice,
  type SystemFamily,
} from '../terminology/index.js'
import type { GivenCoding } from './input.js'
import { issueOf, noteOf, memberPath, type ValidationIssue } from './issue.js'

/** Returns why the system of a coding cannot be used: it is a value set, a supplement, or unknown. */
export async function unusableSystem(ctx: OperationContext, coding: GivenCoding, family: SystemFamily): Promise<VersionFindings> {
  const at = memberPath(coding.path, 'system')
  if (family.unknown && (await findValueSet(ctx, family.url)) !== undefined) {
    return { issues: [issueOf('Terminology_TX_System_ValueSet2', { system: family.url }, { at })], unknown: [] }
  }
  if (family.supplement !== undefined) {
    return { issues: [issueOf('CODESYSTEM_CS_NO_SUPPLEMENT', { system: family.supplement }, { at })], unknown: [] }
  }
  return unknownVersion(coding, family, coding.version)
}

/** Returns the issue for a system that is not an absolute URI. */
export function relativeSystem({ system = '', path }: GivenCoding): readonly ValidationIssue[] {
  if (/^[a-z][a-z0-9+.-]*:/i.test(system)) return []
  return [issueOf('Terminology_TX_System_Relative', {}, { at: memberPath(path, 'system') })]
}

/** Returns the issue for a code that the code system does not define; only a warning for a fragment, which may lack it. */
export function unknownCode(coding: GivenCoding, { header, grammar }: CodeSystemProvider): readonly ValidationIssue[] {
  const values = { code: coding.code, system: header.url, version: header.version ?? '' }
  const at = memberPath(coding.path, 'code')
  if (!header.complete) return [issueOf('UNKNOWN_CODE_IN_FRAGMENT', values, { at })]
  const issue = issueOf(header.version === undefined ? 'Unknown_Code_in' : 'Unknown_Code_in_Version', values, { at })
  const reason = grammar?.whyNot(coding.code)
  return reason === undefined ? [issue] : [issue, noteOf(reason, at, { code: 'code-invalid', txIssue: 'invalid-code' })]
}

/** Issues about versions, and unknown systems or versions. */
export interface VersionFindings {
  readonly issues: readonly ValidationIssue[]
  /** `url|version` or `url` of unknown systems. */
  readonly unknown: readonly string[]
}

/** Compares the version of a coding with the versions chosen for the includes of its system. */
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

/** Reports a version that `check-system-version` forbids. */
export function checkIssues({ path }: Pick<GivenCoding, 'path'>, { provider, violates, family }: SystemChoice): readonly ValidationIssue[] {
  if (provider === undefined || violates === undefined) return []
  const values = { system: family.url, version: provider.header.version ?? '', required: violates }
  return [issueOf('VALUESET_VERSION_CHECK', values, { at: memberPath(path, 'version') })]
}

function mismatchIssue({ path, version: given = '' }: GivenCoding, choice: SystemChoice): ValidationIssue {
  const { family, provider, stated = '', wished, origin } = choice
  const at = memberPath(path, 'version')
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

/** Returns the finding for an unknown code system or version. */
function unknownVersion({ path }: GivenCoding, family: SystemChoice['family'], version: string | undefined): VersionFindings {
  const [id, values] = unknownSystemValues(family, version, 'the code cannot be validated')
  const canonical = version === undefined || family.versions.length === 0 ? family.url : `${family.url}|${version}`
  return { issues: [issueOf(id, values, { at: memberPath(path, 'system') })], unknown: [canonical] }
}

const NOTHING: VersionFindings = { issues: [], unknown: [] }
