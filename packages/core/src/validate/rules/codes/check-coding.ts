import { formatCanonical } from '../../../content/index.js'
import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'
import type { CodeSystemProvider, SystemFamily } from '../../../terminology/index.js'
import { didYouMean, nearest, otherCase } from '../../../text/index.js'
import { codesOfSystem, outOfUse, type OutOfUse } from '../../run/definitions.js'
import type { ElementRule } from '../../run/element-rule.js'
import { type Help, defineFinding, type FindingDefinition } from '../../run/finding.js'
import { pointerOf } from '../../run/patch.js'
import type { Run, NodeRule } from '../../run/run.js'
import { isAbsoluteUri } from '../primitive/text.js'
import { checkDisplay, DISPLAY_FINDINGS, isUsualDisplay } from './check-display.js'
import {
  EXTERNAL,
  isNationalIdentifierType,
  CODE_SYSTEM_UNKNOWN,
  CODING_SYSTEM_FORM,
  isLone,
  isUnbound,
  placeOfSystem,
  reportUnknownSystem,
} from './unknown-system.js'

const CODE_UNKNOWN: FindingDefinition = defineFinding(
  'code-unknown',
  'error',
  'code-invalid',
  'Use a code that is defined in the code system.',
)
/** A version of a code system that is not loaded, so that codes are not checked against it. */
export const CODE_SYSTEM_VERSION: FindingDefinition = defineFinding(
  'code-system-version',
  'warning',
  'not-found',
  'Use a version that is loaded, or load the version.',
)
const CODING_SYSTEM_MISSING: FindingDefinition = defineFinding(
  'coding-system-missing',
  'warning',
  'invalid',
  'State the code system of the code.',
)
const CODING_CODE_MISSING: FindingDefinition = defineFinding(
  'coding-code-missing',
  'warning',
  'value',
  'Give a code of the code system, or leave the coding out.',
)
/** A code that is not active any more. */
export const CONCEPT_INACTIVE: FindingDefinition = defineFinding('concept-inactive', 'warning', 'business-rule', 'Use an active code.')
const CODE_CASE: FindingDefinition = defineFinding('code-case', 'information', 'business-rule', 'Write the code as the code system does.')
const UNIT_ANNOTATION: FindingDefinition = defineFinding(
  'unit-annotation',
  'warning',
  'business-rule',
  'Use the code of the unit without braces; the annotation belongs in `unit`.',
)

/** Codings, regardless of bindings. */
export const codingRule: NodeRule = {
  on: ['Coding'],
  finds: [
    CODING_SYSTEM_MISSING,
    CODING_CODE_MISSING,
    CODING_SYSTEM_FORM,
    CODE_SYSTEM_UNKNOWN,
    CODE_SYSTEM_VERSION,
    CODE_UNKNOWN,
    CONCEPT_INACTIVE,
    CODE_CASE,
    ...DISPLAY_FINDINGS,
  ],
  when: () => (value, run) => isObject(value) && !isUsual(run, value),
  check: checkCoding,
}

/** True for a Coding with a known system, an active code and one of its displays: nothing is reported about it. */
function isUsual(run: Run, coding: JsonObject): boolean {
  const code = stringAt(coding, 'code')
  const system = stringAt(coding, 'system')
  if (system === undefined) return code === undefined && coding['display'] === undefined
  const version = stringAt(coding, 'version')
  const family = isAbsoluteUri(system) ? run.definitions.codeSystem(formatCanonical(system, version)) : PENDING
  if (family === PENDING) return false
  if (family.unknown) return EXTERNAL.has(family.url)
  const provider = code === undefined ? undefined : family.provider(version)
  const concept = code === undefined ? undefined : provider?.find(code)
  if (provider === undefined || concept === undefined || provider.code(concept) !== code) return false
  return (
    outOfUse(provider.status(concept)) === undefined && isUsualDisplay(run, { display: stringAt(coding, 'display'), concept, provider })
  )
}

/** Checks a Coding regardless of bindings: the system is known and has the code, and the code is active and has the display. */
function checkCoding(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  const { value } = node
  if (!isObject(value)) return
  const code = stringAt(value, 'code')
  const system = stringAt(value, 'system')
  if (system === undefined) {
    if (code === undefined && (value['display'] === undefined || isLone(node))) return
    const text =
      'The Coding has no system. A code with no system has no defined meaning and cannot be validated. A system should be provided.'
    run.findings.report(CODING_SYSTEM_MISSING, node, { text, ...(isLone(node) && { code: 'code-invalid' }) })
    return
  }
  checkAbsolute(run, node, { system, rules })
  const family = run.definitions.codeSystem(formatCanonical(system, stringAt(value, 'version')))
  if (family !== PENDING) checkInSystem(run, node, { coding: value, code, family, rules })
}

function checkAbsolute(run: Run, node: FhirNode, { system, rules }: { system: string; rules: readonly ElementRule[] }): void {
  if (isAbsoluteUri(system)) return
  run.findings.report(CODING_SYSTEM_FORM, node, {
    text: `The system must be an absolute reference, not ${quoted(system)}.`,
    ...placeOfSystem(node, rules),
  })
}

interface CodeInSystem {
  readonly coding: JsonObject
  readonly code: string | undefined
  readonly family: SystemFamily
  readonly rules: readonly ElementRule[]
}

function checkInSystem(run: Run, node: FhirNode, { coding, code, family, rules }: CodeInSystem): void {
  if (family.unknown) return reportUnknownSystem(run, node, { url: family.url, rules })
  if (code === undefined) {
    if (!isLone(node)) reportNoCode(run, node, family)
    return
  }
  const version = stringAt(coding, 'version')
  const provider = family.provider(version)
  if (provider === undefined) {
    run.findings.report(CODE_SYSTEM_VERSION, node, {
      text: `Version ${quoted(version ?? '')} of ${quoted(family.url)} could not be found; known versions: ${family.versions.join(', ')}.`,
      ...(isUnbound(node, rules) ? { code: 'business-rule' } : { at: 'system' }),
    })
    return
  }
  const concept = provider.find(code)
  if (concept === undefined && isNationalIdentifierType(family.url, code)) return
  if (concept === undefined) reportUnknownCode(run, node, { code, provider })
  else checkConcept(run, node, { coding, concept, provider, rules })
}

function reportNoCode(run: Run, node: FhirNode, { url }: SystemFamily): void {
  run.findings.report(CODING_CODE_MISSING, node, { text: `There is no code of the code system ${quoted(url)}.`, at: 'code' })
}

interface UnknownCode {
  readonly code: string
  readonly provider: CodeSystemProvider
  /** False when even a complete code system gives only a warning. */
  readonly isSure?: boolean
}

/** Reports a code of a Coding or Quantity that its code system lacks. */
function reportUnknownCode(run: Run, node: FhirNode, { code, provider, isSure = true }: UnknownCode): void {
  const { url, complete } = provider.header
  run.findings.report(CODE_UNKNOWN, node, {
    text: `Unknown code ${quoted(code)} in the code system ${quoted(url)}.`,
    severity: complete && isSure ? 'error' : 'warning',
    at: 'code',
    help: () => nearestCode(node, code, provider),
  })
}

function nearestCode(node: FhirNode, code: string, provider: CodeSystemProvider): Help {
  const near = nearest(code, codesOfSystem(provider))
  const right = otherCase(code, near)
  return {
    hint: didYouMean(near),
    fix: right === undefined ? undefined : [{ op: 'replace', path: pointerOf(node, 'code'), value: right }],
  }
}

interface CodedConcept {
  readonly coding: JsonObject
  readonly concept: number
  readonly provider: CodeSystemProvider
  readonly rules: readonly ElementRule[]
}

function checkConcept(run: Run, node: FhirNode, { coding, concept, provider, rules }: CodedConcept): void {
  noteStatus(run, node, { concept, provider })
  const own = provider.code(concept)
  const code = stringAt(coding, 'code')
  if (code !== own && code?.toLowerCase() === own.toLowerCase())
    run.findings.report(CODE_CASE, node, {
      text: `The code ${quoted(code)} differs from ${quoted(own)} by case, which this code system allows and others may not.`,
      at: 'code',
    })
  const display = stringAt(coding, 'display')
  if (display !== undefined) checkDisplay(run, node, { display, concept, provider, rules })
}

function noteStatus(run: Run, node: FhirNode, { concept, provider }: { concept: number; provider: CodeSystemProvider }): void {
  const reason = outOfUse(provider.status(concept))
  if (reason !== undefined) reportOutOfUse(run, node, { code: provider.code(concept), reason })
}

/** Reports an inactive code, or a deprecated one, which can still be used. */
export function reportOutOfUse(run: Run, node: FhirNode, { code, reason }: { code: string; reason: OutOfUse }): void {
  const text = reason === 'inactive' ? 'is inactive and should not be used' : 'is deprecated; its use should be reviewed'
  run.findings.report(CONCEPT_INACTIVE, node, { text: `${quoted(code)} ${text}.` })
}

const UCUM = 'http://unitsofmeasure.org'
const ANNOTATED_UNIT = /^[^{]+\{/

/** Units of quantities. */
export const unitRule: NodeRule = {
  on: ['Quantity'],
  finds: [CODE_UNKNOWN, CONCEPT_INACTIVE, UNIT_ANNOTATION, CODE_SYSTEM_UNKNOWN, CODING_SYSTEM_FORM],
  when: () => (value, run) => isObject(value) && !isUsualUnit(run, value),
  check: checkUnit,
}

function isUsualUnit(run: Run, quantity: JsonObject): boolean {
  const [code, system] = [stringAt(quantity, 'code'), stringAt(quantity, 'system')]
  if (code === undefined || system === undefined) return true
  if (run.policy.bestPractice !== 'off' && system === UCUM && code.includes('{')) return false
  const family = run.definitions.codeSystem(system)
  if (family === PENDING) return false
  if (family.unknown) return EXTERNAL.has(family.url)
  const provider = family.provider()
  if (provider === undefined) return true
  const concept = provider.find(code)
  return concept !== undefined && outOfUse(provider.status(concept)) === undefined && !code.includes('{')
}

/**
 * Checks that the unit of a Quantity exists and is active, if its code system is available, and that it does not depend on an annotation in braces. For
 * systems other than UCUM, an unknown unit is a warning if no profile binds it, because an example of R4 has a code that its system lacks.
 */
function checkUnit(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  const [code, system] = isObject(node.value) ? [stringAt(node.value, 'code'), stringAt(node.value, 'system')] : []
  if (code === undefined || system === undefined) return
  checkAbsolute(run, node, { system, rules })
  const { bestPractice } = run.policy
  if (bestPractice !== 'off' && system === UCUM && code.includes('{')) reportAnnotation(run, node, code)
  const family = run.definitions.codeSystem(system)
  if (family === PENDING) return
  if (family.unknown) return reportUnknownSystem(run, node, { url: family.url, rules })
  const provider = family.provider()
  if (provider === undefined) return
  const concept = provider.find(code)
  if (concept === undefined) {
    const isBound = rules.some(({ isBase, bindings }) => !isBase && bindings.length > 0)
    reportUnknownCode(run, node, { code, provider, isSure: system === UCUM || isBound })
    return
  }
  noteStatus(run, node, { concept, provider })
  if (bestPractice === 'off' && system === UCUM && ANNOTATED_UNIT.test(code)) reportAnnotation(run, node, code)
}

/** Reports an annotation. A unit that consists only of an annotation, to count something, is reported only if best practices are checked. */
function reportAnnotation(run: Run, node: FhirNode, code: string): void {
  const { bestPractice } = run.policy
  const text = `The unit ${quoted(code)} has an annotation, which is ignored when units are compared; put it into the text of the unit.`
  run.findings.report(UNIT_ANNOTATION, node, { text, ...(bestPractice !== 'off' && { severity: bestPractice }) })
}
