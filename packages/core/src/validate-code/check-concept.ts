import { formatCanonical } from '../content/index.js'
import { objectsAt, stringAt } from '../json/index.js'
import {
  mainText,
  shownText,
  STANDARDS_STATUS,
  type CodeSystemProvider,
  type ConceptStatus,
  type LanguageList,
  type ListedCode,
} from '../terminology/index.js'
import { displayIssues, textsWithOwn } from './check-display.js'
import { issueOf, memberPath, type ValidationIssue } from './issue.js'
import type { GivenCoding } from './input.js'

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
