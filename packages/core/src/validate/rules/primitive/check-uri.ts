import { quoted } from '../../../errors/index.js'
import { type FhirNode, PENDING } from '../../../fhirpath/index.js'
import { type ElementRule, TYPE_URL } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { isCanonicalResource, textOf } from '../../run/nodes.js'
import { type NodeRule, resourceOf, type Run } from '../../run/run.js'
import { anchorsOf, TEXT_LINK_URL } from '../narrative/check-narrative.js'
import { containedOf, containerOf } from '../reference/resolve-locally.js'
import { isAbsoluteUri } from './text.js'

const URI_EXAMPLE: FindingDefinition = defineFinding(
  'uri-example',
  'error',
  'invalid',
  'Use a URL of your own; those of example hosts do not resolve.',
)
const URI_FRAGMENT: FindingDefinition = defineFinding(
  'uri-fragment',
  'warning',
  'invalid',
  'Use a fragment that is the id of something in the resource.',
)

/** URIs that are fragments. */
export const fragmentRule: NodeRule = {
  on: ['uri'],
  finds: [URI_FRAGMENT],
  when: () => (value) => typeof value === 'string' && value.startsWith('#'),
  check: checkFragment,
}

/**
 * Reports a uri that is a fragment without a matching id in the resource; `#` is the resource that contains another. For the source of a resource this is only
 * information, because servers write fragments of their own there.
 */
function checkFragment(run: Run, node: FhirNode): void {
  const { value } = node
  if (typeof value !== 'string' || !value.startsWith('#')) return
  if (value === '#' && (node.type.name !== 'canonical' || containedOf(run, node, '') !== undefined)) return
  if (anchorsOf(run, containerOf(node)).has(value.slice(1))) return
  run.findings.report(URI_FRAGMENT, node, {
    text: `The fragment ${quoted(value)} does not resolve: nothing in the resource has this id.`,
    ...((isNeeded(node) || run.policy.forPublication) && { severity: 'error' }),
    ...(node.parent?.type.name === 'Meta' &&
      node.slot?.name === 'source' && { severity: run.policy.forPublication ? 'warning' : 'information' }),
  })
}

/**
 * True for fragments that must resolve: canonicals, the code system of a value set, and the data of a textLink. Exceptions are needed for examples of R4, which have actions without
 * their definitions, and a question of a contained form without its value set of answers.
 */
function isNeeded(node: FhirNode): boolean {
  const { type, slot, parent } = node
  if (type.name !== 'canonical') {
    if (parent?.type.name === 'Extension') return parent.parent !== undefined && textOf(parent.parent, 'url') === TEXT_LINK_URL
    return slot?.name === 'system' && parent?.type.name === 'ValueSet.compose.include'
  }
  return slot?.name !== 'definition' && (slot?.name !== 'answerValueSet' || resourceOf(node).slot?.name !== 'contained')
}

const URI_INCORRECT: FindingDefinition = defineFinding('uri-incorrect', 'warning', 'informational', 'Use the url that replaced it.')

/** Wrong urls that were published for code systems and identifiers. */
const SID = 'http://hl7.org/fhir/sid/'
const INCORRECT: ReadonlySet<unknown> = new Set(['icpc2', 'icf-nl', 'ca-hc-npn', 'ca-hc-din', 'dsm5'].map((name) => SID + name))

/** URIs that were published but are wrong. */
export const incorrectUriRule: NodeRule = {
  on: ['uri'],
  finds: [URI_INCORRECT],
  when: () => (value) => typeof value === 'string' && value.startsWith(SID) && INCORRECT.has(value),
  check: (run, node) => {
    if (INCORRECT.has(node.value))
      run.findings.report(URI_INCORRECT, node, { text: `${quoted(String(node.value))} is not a correct URL, though it was published.` })
  },
}

const EXAMPLE = /^https?:\/\/(?:[a-z0-9-]+\.)*(?:example\.(?:org|com|net)|acme\.(?:com|org))(?:[:/|?#]|$)/i

/** The branches of OIDs that are for examples: that of ISO and ITU, and that of the enterprise for documentation. */
const EXAMPLE_OID = /^urn:oid:(?:2\.999|1\.3\.6\.1\.4\.1\.32473)\./

/** True for a URL of a host for examples, and for an OID of an example. */
export function isForExamples(uri: string): boolean {
  return EXAMPLE.test(uri) || EXAMPLE_OID.test(uri)
}

/** URLs of hosts for examples. */
export const exampleUrlRule: NodeRule = {
  on: ['uri'],
  finds: [URI_EXAMPLE],
  when:
    () =>
    (_, { policy }) =>
      policy.refuses.has('examples'),
  check: checkExampleUrl,
}

/** Reports URLs of example hosts, if examples are refused. The url of a definition and the fullUrl of an entry are exempt, because they need not resolve. */
function checkExampleUrl(run: Run, node: FhirNode): void {
  const { value, parent, slot } = node
  if (!run.policy.refuses.has('examples') || typeof value !== 'string' || !EXAMPLE.test(value)) return
  if (slot?.name === 'fullUrl' || (slot?.name === 'url' && parent !== undefined && isCanonicalResource(parent))) return
  run.findings.report(URI_EXAMPLE, node, { text: `Example URLs are not allowed here (${quoted(value)}).` })
}

const CANONICAL_TYPE: FindingDefinition = defineFinding(
  'canonical-type',
  'error',
  'invalid',
  'Refer to a definition of a type that the element allows.',
)

/** Canonicals and the definitions that they lead to. */
export const canonicalRule: NodeRule = {
  on: ['canonical'],
  finds: [CANONICAL_TYPE],
  when: ({ rules }) => {
    const allowed = allowedTypes(rules)
    return allowed && ((value, run) => typeof value === 'string' && (value.startsWith('#') || otherType(run, value, allowed) !== undefined))
  },
  check: checkCanonical,
}

/** Types of definitions, the most referenced ones first. */
const DEFINITIONS = [
  'ValueSet',
  'StructureDefinition',
  'Questionnaire',
  'CodeSystem',
  'Library',
  'Measure',
  'PlanDefinition',
  'ActivityDefinition',
  'ConceptMap',
  'SearchParameter',
  'OperationDefinition',
  'CapabilityStatement',
  'ImplementationGuide',
  'MessageDefinition',
  'CompartmentDefinition',
  'GraphDefinition',
  'NamingSystem',
  'StructureMap',
]

/** Canonicals that are not looked up: parts of a resource, as contained ones, implicit value sets of code systems, and examples. */
const NOT_LOOKED_UP =
  /#|\?|^https?:\/\/(?:[a-z0-9-]+\.)*(?:example\.(?:org|com|net)|acme\.(?:com|org))(?:[:/|?#]|$)|^http:\/\/(?:snomed\.info|loinc\.org)\//

/** Reports a canonical that leads to a definition of a type that its element does not allow. One that leads to no known definition may be right. */
function checkCanonical(run: Run, node: FhirNode, rules: readonly ElementRule[]): void {
  const { value } = node
  const allowed = allowedTypes(rules)
  if (typeof value !== 'string') return
  const isContained = value.startsWith('#')
  if (!isContained && isReportedElsewhere(node)) return
  const other = isContained ? otherContained(run, node, { id: value.slice(1), allowed }) : otherType(run, value, allowed)
  if (other !== undefined)
    run.findings.report(CANONICAL_TYPE, node, {
      text: `${quoted(value)} is a ${other}, but the element takes ${allowed?.join(' or ')}.`,
    })
}

/** The type of the contained resource that a canonical leads to, if it is none of the allowed types. */
function otherContained(
  run: Run,
  node: FhirNode,
  { id, allowed }: { id: string; allowed: readonly string[] | undefined },
): string | undefined {
  const type = id === '' ? undefined : containedOf(run, node, id)?.type.name
  return type === undefined || allowed?.includes(type) !== false ? undefined : type
}

/** The type of the definition that a canonical leads to, if it leads to none of the allowed types. */
function otherType(run: Run, canonical: string, allowed: readonly string[] | undefined): string | undefined {
  if (allowed === undefined || !isLookedUp(canonical)) return undefined
  for (const type of allowed) if (run.definitions.definition(type, canonical) !== undefined) return undefined
  const kinds = run.definitions.kinds(canonical)
  return kinds === PENDING ? undefined : DEFINITIONS.find((type) => !allowed.includes(type) && kinds.includes(type))
}

function isLookedUp(canonical: string): boolean {
  return isAbsoluteUri(canonical) && !NOT_LOOKED_UP.test(canonical)
}

/** True for canonicals with findings of their own: profiles of a resource, value sets of bindings, and the questionnaire or measure that is answered. */
function isReportedElsewhere({ slot, parent }: FhirNode): boolean {
  return ELSEWHERE.has(`${parent?.type.name}.${slot?.name}`)
}

const ELSEWHERE: ReadonlySet<string> = new Set([
  'Meta.profile',
  'QuestionnaireResponse.questionnaire',
  'MeasureReport.measure',
  'ElementDefinition.binding.valueSet',
])

/** The types of definitions that the rules allow; `undefined` when any resource is allowed. */
function allowedTypes(rules: readonly ElementRule[]): readonly string[] | undefined {
  const targets = rules.map(({ types }) => types.find(({ code }) => code === 'canonical')?.targetProfiles ?? [])
  const narrow = targets
    .find((one) => one.length > 0 && one.every((url) => url.startsWith(TYPE_URL)))
    ?.map((url) => url.slice(TYPE_URL.length))
  return narrow === undefined || narrow.includes('Resource') ? undefined : narrow
}
