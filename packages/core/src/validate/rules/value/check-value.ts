import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt } from '../../../json/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import type { Run } from '../../run/run.js'
import { checkLanguageSections } from '../narrative/check-narrative.js'
import { checkLimits } from './check-limits.js'
import { differencesOf } from './compare-json.js'

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
    run.findings.report(kind, node, { text: text(), profile: rule.profile, ...(at !== '' && { at }) })
  }
}

/** A primitive has a value, or one of the extensions that can stand in its place. */
function checkValued(run: Run, node: FhirNode, { alternatives, rule }: { alternatives: readonly string[]; rule: ElementRule }): void {
  if (node.value !== undefined || !isObject(node.extra)) return
  if (objectsAt(node.extra, 'extension').some(({ url }) => alternatives.some((alternative) => alternative === url))) return
  const instead = alternatives.length === 0 ? '' : ` or, in its place, one of the extensions ${alternatives.join(', ')}`
  run.findings.report('value-missing', node, { text: `A value is required here${instead}.`, profile: rule.profile })
}
