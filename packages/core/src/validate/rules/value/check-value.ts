import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectsAt } from '../../../json/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { DemandRule, Run } from '../../run/run.js'
import { contains, differencesOf, equals } from './compare-json.js'

const VALUE_FIXED: FindingDefinition = defineFinding('value-fixed', 'error', 'value', 'Use the value that the profile fixes.')
const VALUE_PATTERN: FindingDefinition = defineFinding(
  'value-pattern',
  'error',
  'value',
  'Use a value that contains everything in the pattern of the profile.',
)
const VALUE_MISSING: FindingDefinition = defineFinding(
  'value-missing',
  'error',
  'invalid',
  'Give the element a value; extensions alone are not enough here.',
)

/** Fixed values: an element has exactly this value. */
export const fixedValueRule: DemandRule = {
  name: 'fixed',
  finds: [VALUE_FIXED],
  appliesTo: ({ value }) => value.fixed !== undefined,
  metTest:
    ({ value: { fixed } }) =>
    (value) =>
      equals(value, fixed),
  checkBy: (rules) => (run, node) => {
    const isExtended = node.value !== undefined && isObject(node.extra) && node.extra['extension'] !== undefined
    for (const rule of rules) {
      compare(run, node, { expected: rule.value.fixed, rule, finding: VALUE_FIXED })
      if (isExtended) run.findings.report(VALUE_FIXED, node, { text: 'The fixed value has no extensions.', profile: rule.profile })
    }
  },
}

/** Patterns: an element has at least what the pattern has. */
export const patternRule: DemandRule = {
  name: 'pattern',
  finds: [VALUE_PATTERN],
  appliesTo: ({ value }) => value.pattern !== undefined,
  metTest:
    ({ value: { pattern } }) =>
    (value) =>
      contains(value, pattern),
  checkBy: (rules) => (run, node) => {
    for (const rule of rules) compare(run, node, { expected: rule.value.pattern, rule, finding: VALUE_PATTERN })
  },
}

/** Values that extensions cannot replace. */
export const neededValueRule: DemandRule = {
  name: 'value',
  finds: [VALUE_MISSING],
  appliesTo: ({ value }) => value.alternatives !== undefined,
  metTest: () => undefined,
  checkBy: (rules) => (run, node) => checkValued(run, node, rules),
}

interface Expected {
  readonly expected: unknown
  readonly rule: ElementRule
  readonly finding: FindingDefinition
}

function compare(run: Run, node: FhirNode, { expected, rule, finding }: Expected): void {
  for (const { at, text } of differencesOf(node.value, expected, { at: '', isPattern: finding === VALUE_PATTERN })) {
    run.findings.report(finding, node, { text: text(), profile: rule.profile, ...(at !== '' && { at }) })
  }
}

/** Checks that a primitive has a value, or one of the extensions that the profile allows instead. */
function checkValued(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  if (node.value !== undefined || !isObject(node.extra)) return
  const urls = objectsAt(node.extra, 'extension').map(({ url }) => url)
  for (const { value, profile } of rules) {
    const alternatives = value.alternatives ?? []
    if (alternatives.some((alternative) => urls.includes(alternative))) continue
    const instead = alternatives.length === 0 ? '' : ` or one of the extensions ${alternatives.join(', ')}`
    run.findings.report(VALUE_MISSING, node, { text: `The element must have a value${instead}.`, profile })
  }
}
