import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject } from '../../../json/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import type { Run } from '../../run/run.js'
import { otherKindOf } from '../conformance/other-kind.js'
import { EXTERNAL, isExampleUrl, systemFault } from './special-systems.js'

/** A code system that is not available, so that codes are not checked. */
export const CODE_SYSTEM_UNKNOWN: FindingDefinition = defineFinding(
  'code-system-unknown',
  'warning',
  'not-found',
  'Correct the system, or load the code system; until then the code is not checked.',
)
/** A system that cannot be the url of a code system. */
export const CODING_SYSTEM_FORM: FindingDefinition = defineFinding(
  'coding-system-form',
  'error',
  'invalid',
  'Use the absolute canonical URL of the code system.',
)

/** True for a Coding that is not part of a CodeableConcept. */
export function isLone({ parent }: FhirNode): boolean {
  return parent?.type.name !== 'CodeableConcept'
}

/** True for a Coding that is not part of a CodeableConcept, and not bound to a value set. */
export function isUnbound(node: FhirNode, rules: readonly ElementRule[]): boolean {
  return isLone(node) && rules.every(({ bindings }) => bindings.length === 0)
}

interface UnknownSystem {
  readonly url: string
  readonly rules: readonly ElementRule[]
}

/** Reports the system of a Coding for which no code system is available. */
export function reportUnknownSystem(run: Run, node: FhirNode, { url, rules }: UnknownSystem): void {
  if (EXTERNAL.has(url)) return
  const valueSet = run.definitions.valueSet(url)
  const definition = run.definitions.definition('CodeSystem', url)
  if (valueSet === PENDING || definition === PENDING) return
  if (definition?.['content'] === 'supplement' || definition?.['supplements'] !== undefined) {
    const text = `${quoted(url)} is a code system supplement, so it cannot be used as a system.`
    run.findings.report(CODE_SYSTEM_UNKNOWN, node, { text, at: 'system', severity: 'error' })
  } else if (valueSet !== undefined) {
    const text = `The system ${quoted(url)} references a value set, not a code system.`
    run.findings.report(CODING_SYSTEM_FORM, node, { text, ...placeOfSystem(node, rules) })
  } else if (isUnbound(node, rules)) reportUnbound(run, node, { url, isEmpty: definition !== undefined })
  else reportBound(run, node, { url, rules })
}

/** Issue type or place of a finding about a system, as HL7's validator reports it: it checks the code of an unbound Coding, and the binding of others. */
export function placeOfSystem(node: FhirNode, rules: readonly ElementRule[]): { readonly code?: Finding['code']; readonly at?: string } {
  return isUnbound(node, rules) ? { code: 'code-invalid' } : { at: 'system' }
}

/** Reports an unknown system without a binding. Others may know it, so this is an error only if its url shows that it is wrong. */
function reportUnbound(run: Run, node: FhirNode, { url, isEmpty }: { url: string; isEmpty: boolean }): void {
  if (isExampleUrl(url)) return
  const known = checkScheme(run, node, url)
  const misspelt = known && `The system ${quoted(url)} wrongly starts with https:, not http:.`
  const fault = isEmpty ? undefined : (misspelt ?? systemFault(url))
  if (fault !== undefined) {
    run.findings.report(CODE_SYSTEM_UNKNOWN, node, { text: fault, severity: 'error', code: 'code-invalid' })
    return
  }
  run.findings.report(CODE_SYSTEM_UNKNOWN, node, {
    text: isEmpty
      ? `The definition of the code system ${quoted(url)} has no codes, so the code is not checked.`
      : `The code system ${quoted(url)} could not be found, so the code is not checked.`,
    severity: 'information',
    code: 'unknown',
    ...(!isEmpty && { at: 'system' }),
  })
}

function reportBound(run: Run, node: FhirNode, { url, rules }: UnknownSystem): void {
  const kind = isBound(run, node, rules) ? otherKindOf(run, url, 'CodeSystem') : undefined
  if (kind === PENDING) return
  if (kind !== undefined) {
    const text = `The system ${quoted(url)} references a ${kind}, not a code system.`
    run.findings.report(CODING_SYSTEM_FORM, node, { text, at: 'system' })
    return
  }
  checkScheme(run, node, url)
  const text = `The code system ${quoted(url)} could not be found, so the code is not checked.`
  run.findings.report(CODE_SYSTEM_UNKNOWN, node, { text, at: 'system' })
}

/** True when the Coding, or the concept around it, is bound to a known value set. */
function isBound(run: Run, { parent }: FhirNode, rules: readonly ElementRule[]): boolean {
  if (rules.some(({ bindings }) => bindings.length > 0)) return true
  const concept = parent?.value
  return isObject(concept) && (run.indexes.boundLists.get(concept)?.() ?? []).length > 0
}

/**
 * Reports a system with https: whose code system has http:. The url is a name, not an address, so the scheme is part of it. Returns the url of the code
 * system that is meant.
 */
function checkScheme(run: Run, node: FhirNode, url: string): string | undefined {
  if (!url.startsWith('https:')) return undefined
  const other = `http:${url.slice('https:'.length)}`
  const family = run.definitions.codeSystem(other)
  if (family === PENDING || (family.unknown && !EXTERNAL.has(other))) return undefined
  run.findings.report(CODING_SYSTEM_FORM, node, {
    text: `The code system ${quoted(other)} is known: change https: to http:.`,
    at: 'system',
    severity: 'information',
    code: 'informational',
  })
  return other
}
