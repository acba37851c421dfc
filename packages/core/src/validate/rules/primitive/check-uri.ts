import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { isCanonicalResource } from '../../run/nodes.js'
import { resourceOf, type Run, type NodeRule } from '../../run/run.js'
import { anchorsOf } from '../narrative/check-narrative.js'
import { containedOf, containerOf } from '../reference/resolve-locally.js'

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
    ...(isNeeded(node) && { severity: 'error' }),
    ...(node.parent?.type.name === 'Meta' && node.slot?.name === 'source' && { severity: 'information' }),
  })
}

/**
 * True for fragments that must resolve: canonicals, and the code system of a value set. Exceptions are needed for examples of R4, which have actions without
 * their definitions, and a question of a contained form without its value set of answers.
 */
function isNeeded(node: FhirNode): boolean {
  const { type, slot, parent } = node
  if (type.name !== 'canonical') return slot?.name === 'system' && parent?.type.name === 'ValueSet.compose.include'
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
