import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { INHERITED, type ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { Run } from '../../run/run.js'
import { fromProfile, type BoundRule, type ListedCodes } from './bound-codes.js'

/** A value set that is not loaded, so that the codes of an element are not checked against it. */
export const VALUE_SET_UNKNOWN: FindingDefinition = defineFinding(
  'value-set-unknown',
  'warning',
  'code-invalid',
  'Load the value set or its package; until then the code is not checked.',
)
/** A value set that imports itself, so that codes cannot be checked against it. */
export const VALUE_SET_CIRCULAR: FindingDefinition = defineFinding(
  'value-set-circular',
  'error',
  'processing',
  'Remove the import by which the value set includes itself; until then the code is not checked.',
)
/** A value set that leaves a code undecided, because a part of it cannot be used. */
export const VALUE_SET_UNUSABLE: FindingDefinition = defineFinding(
  'value-set-unusable',
  'warning',
  'processing',
  'Repair the value set; until then the code is not checked.',
)

/** Reports a binding to an unknown value set. */
export function reportUnknownList(run: Run, node: FhirNode, { binding, rule }: BoundRule): void {
  if (binding.valueSet === INHERITED) reportNoSource(run, node, rule)
  else if (!rule.isBase) reportUnknown(run, node, { binding, rule })
}

function reportNoSource(run: Run, node: FhirNode, rule: ElementRule): void {
  if (node.type.name === 'string') return
  run.findings.report(VALUE_SET_UNKNOWN, node, {
    text: `The binding of ${quoted(rule.path)} has no source, in the profile and in its base, so the code is not checked.`,
    severity: 'information',
    ...fromProfile(rule),
  })
}

function reportUnknown(run: Run, node: FhirNode, { binding, rule }: BoundRule): void {
  if (!binding.valueSet.startsWith('#') && isCodeSystem(run, binding.valueSet)) {
    run.findings.report(VALUE_SET_UNKNOWN, node, {
      text: `The profile binds to the code system ${binding.valueSet}, where a value set belongs.`,
      severity: 'error',
      ...fromProfile(rule),
    })
    return
  }
  run.findings.report(VALUE_SET_UNKNOWN, node, {
    text: `The value set ${binding.valueSet} could not be found, so the code is not checked.`,
    ...fromProfile(rule),
  })
}

function isCodeSystem(run: Run, canonical: string): boolean {
  const found = run.definitions.definition('CodeSystem', canonical)
  return found !== undefined && found !== PENDING
}

/** Reports a broken value set that leaves it open whether a code is in it. */
export function noteUnusable(run: Run, node: FhirNode, { rule, list, codes }: ListedCodes): void {
  if (list.problem === undefined) return
  const verdicts = codes.map((code) => list.has(code))
  if (!verdicts.includes('unknown') || verdicts.includes('in')) return
  run.findings.report(VALUE_SET_UNUSABLE, node, {
    text: `The value set ${list.canonical} cannot be used: ${list.problem}`,
    ...fromProfile(rule),
  })
}

/** Reports, once per element that a profile binds, the missing definitions that the value set refers to. */
export function noteLacking(run: Run, node: FhirNode, { rule, list, codes }: ListedCodes): void {
  if (rule.isBase || codes.some((code) => list.has(code) === 'in' && list.lacking(code).length === 0)) return
  const lacking = new Map(codes.flatMap((code) => list.lacking(code)).map((one) => [one.canonical, one]))
  for (const { kind, canonical } of lacking.values()) {
    const relation = kind === 'supplement' ? 'requires' : 'imports'
    run.findings.report(VALUE_SET_UNKNOWN, node, {
      text: `The ${kind} ${quoted(canonical)}, which the value set ${list.canonical} ${relation}, could not be found.`,
      code: 'not-found',
      ...fromProfile(rule),
    })
  }
}
