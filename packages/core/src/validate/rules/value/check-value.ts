import type { FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'
import { differencesOf } from './compare-json.js'
import { checkLimits } from './check-limits.js'

/** Checks a node against the fixed value, the pattern and the limits of a rule. */
export function checkValue(run: Run, node: FhirNode, rule: ElementRule): void {
  const { fixed, pattern } = rule.value
  if (fixed !== undefined) compare(run, node, { expected: fixed, rule, kind: 'value-fixed' })
  if (pattern !== undefined) compare(run, node, { expected: pattern, rule, kind: 'value-pattern' })
  if (rule.hasLimits) checkLimits(run, node, rule)
}

function compare(
  run: Run,
  node: FhirNode,
  { expected, rule, kind }: { expected: unknown; rule: ElementRule; kind: 'value-fixed' | 'value-pattern' },
): void {
  for (const { at, text } of differencesOf(node.value, expected, { at: '', isPattern: kind === 'value-pattern' })) {
    run.sink.report(kind, node, { text, profile: rule.profile, ...(at !== '' && { at }) })
  }
}
