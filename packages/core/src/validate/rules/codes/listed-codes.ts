import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import type { CodeList, GivenCode } from '../../run/definitions.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { Run } from '../../run/run.js'
import { fromProfile, shownCode } from './bound-codes.js'
import { CODE_SYSTEM_VERSION, CONCEPT_INACTIVE, reportOutOfUse } from './check-coding.js'

/** A code of a version of its code system that the value set does not have. */
export const CODE_VERSION_MISMATCH: FindingDefinition = defineFinding(
  'code-version-mismatch',
  'error',
  'invalid',
  'Use the version of the code system that the value set has, or leave the version out.',
)

/** A code that the value set marks as outdated. */
export const CONCEPT_OUTDATED: FindingDefinition = defineFinding(
  'concept-outdated',
  'warning',
  'business-rule',
  'Use another code of the value set; this one may be taken out of it.',
)

interface ListedCode {
  readonly rule: ElementRule
  readonly list: CodeList
  readonly code: GivenCode
  /** Prefix of the names of the Coding's members, such as `coding[0].`. */
  readonly at: string
}

/** Checks a code that is bound to a value set: its version, its status there, and its status in the code system. */
export function checkListedCode(run: Run, node: FhirNode, listed: ListedCode): void {
  checkVersion(run, node, listed)
  noteOutdated(run, node, listed)
  noteOutOfUse(run, node, listed)
  noteMissingVersion(run, node, listed)
  checkActive(run, node, listed)
}

/** Reports a code that is in the value set, but with another version of its code system. */
function checkVersion(run: Run, node: FhirNode, { rule, list, code, at }: ListedCode): void {
  if (!isOtherVersion(list, code)) return
  run.findings.report(CODE_VERSION_MISMATCH, node, {
    text: `${shownCode(code)} is in the value set ${quoted(list.title)}, but not with the version ${quoted(code.version ?? '')} of its code system.`,
    at: `${at}version`,
    ...(!list.versions(code.system ?? '').areStated && { severity: 'warning' }),
    ...fromProfile(rule),
  })
}

/** Reports a code that the value set marks as outdated. */
function noteOutdated(run: Run, node: FhirNode, { rule, list, code, at }: ListedCode): void {
  const status = list.outdated(code)
  if (status === undefined) return
  run.findings.report(CONCEPT_OUTDATED, node, {
    text: `${shownCode(code)} is ${status} in the value set ${quoted(list.title)} (${list.canonical}); its use should be reviewed.`,
    ...(typeof node.value !== 'string' && { at: `${at}code` }),
    ...fromProfile(rule),
  })
}

/** Reports an outdated code without system by the code system of the value set. `checkCoding` and `checkUnit` do so for Codings and units. */
function noteOutOfUse(run: Run, node: FhirNode, { list, code }: ListedCode): void {
  const reason = code.system === undefined ? list.outOfUse(code.code) : undefined
  if (reason !== undefined) reportOutOfUse(run, node, { code: code.code, reason })
}

/** Reports an inactive code that is outside the value set because that allows active codes only. */
function checkActive(run: Run, node: FhirNode, { rule, list, code, at }: ListedCode): void {
  if (list.has(code) !== 'out' || !list.isBarred(code)) return
  run.findings.report(CONCEPT_INACTIVE, node, {
    text: `${shownCode(code)} is valid, but it is not active, and the value set ${quoted(list.title)} (${list.canonical}) allows active codes only.`,
    severity: 'error',
    ...(typeof node.value !== 'string' && { at: `${at}code` }),
    ...fromProfile(rule),
  })
}

/** Reports that a code is not checked, because a version of its code system is not loaded. */
function noteMissingVersion(run: Run, node: FhirNode, { rule, list, code, at }: ListedCode): void {
  const missing = list.missingVersions(code.system)
  if (missing.length === 0 || list.has(code) !== 'unknown') return
  run.findings.report(CODE_SYSTEM_VERSION, node, {
    text: `Version ${missing.map(quoted).join(', ')} of the code system of ${shownCode(code)}, which the value set ${list.canonical} names, could not be found, so the code is not checked.`,
    ...(typeof node.value !== 'string' && { at: `${at}system` }),
    ...fromProfile(rule),
  })
}

/** Whether a code is in a value set, but with other versions of its code system than the stated one. */
export function isOtherVersion(list: CodeList, code: GivenCode): boolean {
  if (code.version === undefined || code.system === undefined || list.has({ ...code, version: undefined }) !== 'in') return false
  const { known } = list.versions(code.system)
  return known.length > 0 && !known.includes(code.version)
}
