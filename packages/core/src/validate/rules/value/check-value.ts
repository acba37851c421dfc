import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { isObject, type JsonObject, objectsAt } from '../../../json/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { DemandRule, Run } from '../../run/run.js'

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

/** A difference between two values: the steps below the node, and the problem there. */
interface Difference {
  readonly at: string
  /** Composed only when it is reported, because most comparisons only ask whether there is a difference. */
  readonly text: () => string
}

/** Whether two JSON values are equal in every part; the order of members does not matter. */
export function equals(actual: unknown, expected: unknown): boolean {
  return differencesOf(actual, expected, { at: '', isPattern: false }).length === 0
}

/** Whether a value has everything in a pattern. */
export function contains(actual: unknown, pattern: unknown): boolean {
  return differencesOf(actual, pattern, { at: '', isPattern: true }).length === 0
}

interface Comparison {
  readonly at: string
  readonly isPattern: boolean
}

/** The differences between a value and a fixed value or a pattern, each at the deepest element that differs or is absent; in lists, at their holder. */
export function differencesOf(actual: unknown, expected: unknown, comparison: Comparison): readonly Difference[] {
  if (Array.isArray(expected))
    return Array.isArray(actual) ? listDifferences(actual, expected, comparison) : [missing(comparison.at, expected)]
  if (isObject(expected)) return isObject(actual) ? memberDifferences(actual, expected, comparison) : [missing(comparison.at, expected)]
  return actual === expected ? [] : [{ at: comparison.at, text: () => `The value must be ${shown(expected)}, but is ${shown(actual)}.` }]
}

function shown(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value).slice(0, 100).toWellFormed()
}

function missing(at: string, expected: unknown): Difference {
  const text = (): string =>
    at === '' ? `The value must have what ${shown(expected)} has.` : `'${at}' is missing; a fixed value or pattern requires it.`
  return { at: Array.isArray(expected) ? parentOf(at) : at, text }
}

function parentOf(at: string): string {
  return at.slice(0, Math.max(0, at.lastIndexOf('.')))
}

function memberDifferences(actual: JsonObject, expected: JsonObject, { at, isPattern }: Comparison): readonly Difference[] {
  const found: Difference[] = []
  const placeOf = (name: string): string => (at === '' ? name : `${at}.${name}`)
  for (const [name, value] of Object.entries(expected)) {
    const place = placeOf(name)
    if (Object.hasOwn(actual, name)) found.push(...differencesOf(actual[name], value, { at: place, isPattern }))
    else found.push(missing(place, value))
  }
  if (isPattern) return found
  const extra = Object.keys(actual).filter((name) => !Object.hasOwn(expected, name))
  return [
    ...found,
    ...extra.map((name) => ({
      // For extensions that only a primitive has too many of, the place is the primitive.
      at: Array.isArray(actual[name]) ? at : placeOf(name.replace(/^_/, '')),
      text: () => `${quoted(name)} is present, but is not in the fixed value.`,
    })),
  ]
}

function listDifferences(actual: readonly unknown[], expected: readonly unknown[], { at, isPattern }: Comparison): readonly Difference[] {
  if (isPattern) {
    const absent = expected.filter((item) => !actual.some((candidate) => contains(candidate, item)))
    return absent.map((item) => ({
      at: parentOf(at),
      text: () => `'${at}' must contain an item with ${JSON.stringify(item).slice(0, 200).toWellFormed()}.`,
    }))
  }
  if (actual.length !== expected.length) return [{ at: parentOf(at), text: () => `'${at}' must have ${expected.length} items.` }]
  return expected.flatMap((item, index) => differencesOf(actual[index], item, { at: `${at}[${index}]`, isPattern }))
}
