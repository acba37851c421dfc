import type { FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'
import { checkLanguageSections } from '../narrative/check-language-sections.js'
import { differencesOf } from './compare-json.js'
import { checkLimits } from './check-limits.js'
import { checkValued } from './check-valued.js'

/** Checks a node against the fixed value, the pattern, the limits and all else that a rule says about its value. */
export function checkValue(run: Run, node: FhirNode, rule: ElementRule): void {
  const { fixed, pattern, alternatives, sections } = rule.value
  if (fixed !== undefined) compare(run, node, { expected: fixed, rule, kind: 'value-fixed' })
  if (pattern !== undefined) compare(run, node, { expected: pattern, rule, kind: 'value-pattern' })
  if (rule.hasLimits) checkLimits(run, node, rule)
  if (alternatives !== undefined) checkValued(run, node, { alternatives, rule })
  if (sections !== undefined) checkLanguageSections(run, node, { sections, rule })
}

function compare(
  run: Run,
  node: FhirNode,
  { expected, rule, kind }: { expected: unknown; rule: ElementRule; kind: 'value-fixed' | 'value-pattern' },
): void {
  for (const { at, text } of differencesOf(node.value, expected, { at: '', isPattern: kind === 'value-pattern' })) {
    run.sink.report(kind, node, { text: text(), profile: rule.profile, ...(at !== '' && { at }) })
  }
}
