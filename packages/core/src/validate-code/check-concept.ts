import { formatCanonical } from '../content/index.js'
import { objectsAt, stringAt } from '../json/index.js'
import {
  mainText,
  shownText,
  STANDARDS_STATUS,
  findValueSet,
  isOfVersion,
  unknownSystemValues,
  type CodeSystemProvider,
  type ConceptStatus,
  type LanguageList,
  type ListedCode,
  type SystemChoice,
  type SystemFamily,
} from '../terminology/index.js'
import { displayIssues, textsWithOwn } from './check-display.js'
import { issueOf, memberPath, noteOf, type ValidationIssue } from './issue.js'
import type { GivenCoding } from './input.js'
import type { OperationContext } from '../context/index.js'

const DEPRECATED = 'http://hl7.org/fhir/StructureDefinition/valueset-deprecated'

/** The concept of a coding, in the version that applies. */
interface FoundConcept {
  readonly provider: CodeSystemProvider
  readonly concept: number
  readonly listed?: ListedCode | undefined
  /** Name of the value set in which it is listed. */
  readonly valueSet?: string | undefined
  /** True if the value set explicitly includes the inactive concept; that it is inactive is then not reported. */
  readonly knowingly?: boolean | undefined
}

/** How displays are compared. */
interface TextOptions {
  readonly languages: LanguageList | undefined
  readonly lenient: boolean
}

/** Findings about an existing concept. */
export interface ConceptFindings {
  readonly issues: readonly ValidationIssue[]
  readonly display?: string
  /** The code in the system's spelling, when the coding spells it differently. */
  readonly normalizedCode?: string
  readonly status: ConceptStatus
}

/** Checks display, spelling and status of a concept. */
export function conceptFindings(coding: GivenCoding, found: FoundConcept, options: TextOptions): ConceptFindings {
  const { provider, concept, listed } = found
  const code = provider.code(concept)
  const main = mainText(provider, concept, listed)
  // Designations matter only for a given display and for languages.
  const plain = coding.display === undefined && options.languages === undefined && main !== undefined
  const texts = plain ? [main] : textsWithOwn(found)
  const status = found.knowingly === true ? REVIEWED : provider.status(concept)
  const { language } = provider.header
  const shown = (shownText(texts, options.languages) ?? main)?.value
  return {
    issues: [
      ...displayIssues(coding, { code, texts, language, ...options }),
      ...spellingIssues(coding, provider, code),
      ...statusIssues(coding, status),
      ...listedIssues(coding, found),
      ...versionIssues(coding, provider),
    ],
    status,
    ...(shown !== undefined && { display: shown }),
    ...(code !== coding.code && { normalizedCode: code }),
  }
}

const REVIEWED: ConceptStatus = { inactive: false, abstract: false }

function spellingIssues(coding: GivenCoding, { header }: CodeSystemProvider, code: string): readonly ValidationIssue[] {
  if (code === coding.code) return []
  const values = { given: coding.code, code, system: formatCanonical(header.url, header.version) }
  return [issueOf('CODE_CASE_DIFFERENCE', values, { at: memberPath(coding.path, 'code') })]
}

/** @see https://hl7.org/fhir/R4/codesystem-definitions.html#CodeSystem.versionNeeded */
function versionIssues({ version, path }: GivenCoding, { header }: CodeSystemProvider): readonly ValidationIssue[] {
  if (!header.versionNeeded || version !== undefined) return []
  return [issueOf('CODE_SYSTEM_VERSION_NEEDED', { system: header.url }, { at: memberPath(path, 'version') })]
}

function statusIssues({ code, path }: GivenCoding, { inactive, status = 'inactive' }: ConceptStatus): readonly ValidationIssue[] {
  const at = path === '' ? 'code' : path
  if (inactive) {
    const text = status === 'inactive' ? status : `${status} and inactive`
    return [issueOf('INACTIVE_CONCEPT_FOUND', { code, status: text }, { at })]
  }
  return status === 'deprecated' ? [issueOf('DEPRECATED_CONCEPT_FOUND', { code }, { at })] : []
}

/** Creates the issue for a code that the request does not accept because it is inactive or abstract. */
export function barredIssue({ code, system = '', path }: GivenCoding, barred: 'inactive' | 'abstract'): ValidationIssue {
  const id = barred === 'inactive' ? 'STATUS_CODE_WARNING_CODE' : 'ABSTRACT_CODE_NOT_ALLOWED'
  return issueOf(id, { code, system }, { at: memberPath(path, 'code') })
}

function listedIssues({ code, system = '', path }: GivenCoding, { listed, valueSet }: FoundConcept): readonly ValidationIssue[] {
  if (listed === undefined || valueSet === undefined || !isDeprecated(listed)) return []
  return [issueOf('CONCEPT_DEPRECATED_IN_VALUESET', { code, system, valueSet }, { at: memberPath(path, 'code') })]
}

function isDeprecated({ concept }: ListedCode): boolean {
  return objectsAt(concept, 'extension').some((extension) => {
    const url = stringAt(extension, 'url')
    if (url === DEPRECATED) return extension['valueBoolean'] !== false
    const status = stringAt(extension, 'valueCode')
    return url === STANDARDS_STATUS && (status === 'deprecated' || status === 'withdrawn')
  })
}

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
