import { quoted } from '../../errors/index.js'
import { pushChildren, type FhirNode } from '../../fhirpath/index.js'
import { extensionAt, isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../json/index.js'
import { defineFinding, type FindingDefinition } from '../run/finding.js'
import { isCanonicalResource } from '../run/nodes.js'
import type { Run, NodeRule } from '../run/run.js'
import { readNarrative } from './narrative/read-narrative.js'
import { isAbsoluteUri, URI_FORM } from './primitive/text.js'

const ID_EXTENSION: FindingDefinition = defineFinding('id-extension', 'error', 'business-rule', 'Remove the extensions of the id.')
const CONTAINED: FindingDefinition = defineFinding(
  'contained',
  'error',
  'invalid',
  'Give the contained resource an id, refer to it, and contain nothing inside it.',
)
const SECURITY_REPEATED: FindingDefinition = defineFinding(
  'security-label-repeated',
  'error',
  'business-rule',
  'Keep one of the security labels.',
)
const DEFINITION_STATUS: FindingDefinition = defineFinding(
  'definition-status',
  'warning',
  'business-rule',
  "Make status and standards status agree, and write versions without '#'.",
)

const RESOURCE_ID: FindingDefinition = defineFinding(
  'resource-id',
  'error',
  'invalid',
  'Give the resource an id, or remove it, as the receiver asks.',
)

/** Requirements on every resource. */
export const resourceRule: NodeRule = {
  on: ['Resource'],
  finds: [RESOURCE_ID, ID_EXTENSION, URI_FORM, SECURITY_REPEATED, DEFINITION_STATUS, CONTAINED],
  check: checkResource,
}

/**
 * Checks that the id has no extensions, the url is absolute, security labels do not repeat, the status is consistent, and contained resources have ids and
 * are referred to.
 */
function checkResource(run: Run, node: FhirNode): void {
  if (!isObject(node.value)) return
  if (run.policy.resourceId !== 'optional' && node.parent === undefined) checkResourceId(run, node, node.value)
  if (Object.hasOwn(node.value, '_id'))
    run.findings.report(ID_EXTENSION, node, { text: 'The id of a resource must not have extensions.', at: 'id' })
  checkUrl(run, node, stringAt(node.value, 'url'))
  if (Object.hasOwn(node.value, 'meta')) checkSecurity(run, node, objectsAt(objectAt(node.value, 'meta'), 'security'))
  checkStatus(run, node)
  if (run.policy.validateContained && Object.hasOwn(node.value, 'contained')) checkContained(run, node)
}

/** Checks the id of the validated resource itself. Both faults are placed at the resource, as in HL7's validator. */
function checkResourceId(run: Run, node: FhirNode, resource: JsonObject): void {
  const isRequired = run.policy.resourceId === 'required'
  if (isRequired === (Object.hasOwn(resource, 'id') || Object.hasOwn(resource, '_id'))) return
  run.findings.report(RESOURCE_ID, node, { text: isRequired ? 'The resource must have an id.' : 'The resource must not have an id.' })
}

function checkSecurity(run: Run, node: FhirNode, labels: readonly JsonObject[]): void {
  const seen = new Set<string>()
  for (const [index, label] of labels.entries()) {
    const [system, code] = [stringAt(label, 'system'), stringAt(label, 'code')]
    if (code === undefined) continue
    const key = `${system ?? ''}#${code}`
    if (seen.has(key))
      run.findings.report(SECURITY_REPEATED, node, { text: `Duplicate security label ${quoted(key)}.`, at: `meta.security[${index}]` })
    seen.add(key)
  }
}

/** Checks that the url of a definition, which identifies it, is absolute. */
function checkUrl(run: Run, node: FhirNode, url: string | undefined): void {
  if (url === undefined || node.type.elements.get('url')?.[0]?.type !== 'uri' || isAbsoluteUri(url)) return
  run.findings.report(URI_FORM, node, { text: `The canonical url ${quoted(url)} must be absolute.`, at: 'url' })
}

function checkContained(run: Run, node: FhirNode): void {
  const contained: FhirNode[] = []
  pushChildren(run.model, node, { name: 'contained', into: contained })
  if (contained.length === 0) return
  const { contained: _, ...outside } = isObject(node.value) ? node.value : {}
  const sources = [containedReferences(outside), ...contained.map(({ value }) => containedReferences(value))]
  const uses = usesIn(sources)
  const seen = new Set<string>()
  for (const [index, { value }] of contained.entries()) {
    if (!isObject(value)) continue
    const id = stringAt(value, 'id')
    const own = sources[index + 1]
    const isMeant = own?.has('') === true || (id !== undefined && (uses.get(id) ?? 0) > Number(own?.has(id)))
    const at = `contained[${index}]`
    if (id !== undefined && seen.has(id))
      run.findings.report(CONTAINED, node, { text: `Duplicate id ${quoted(id)} among the contained resources.`, at, code: 'duplicate' })
    if (!isMeant || id === undefined) run.findings.report(CONTAINED, node, { text: problemOf(id), at })
    if (id !== undefined) seen.add(id)
  }
}

function problemOf(id: string | undefined): string {
  if (id === undefined) return 'Contained resources must have an id.'
  return `The contained resource ${quoted(id)} is not referred to from the resource that contains it.`
}

/** The number of sources that refer to each id. A contained resource that only refers to itself is not in use, so the caller subtracts its own reference. */
function usesIn(sources: readonly ReadonlySet<string>[]): ReadonlyMap<string, number> {
  const uses = new Map<string, number>()
  for (const ids of sources) for (const id of ids) uses.set(id, (uses.get(id) ?? 0) + 1)
  return uses
}

const STANDARDS_STATUS = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status'

/** The statuses of a definition that go with each standards status. */
const STATUSES: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['draft', ['draft']],
  ['normative', ['active']],
  ['trial-use', ['draft', 'active']],
  ['informative', ['draft', 'active', 'retired']],
  ['deprecated', ['retired']],
  ['withdrawn', ['retired']],
  ['external', ['draft', 'active', 'retired']],
])

/** Statuses and standards statuses that seldom go together. */
const DOUBTFUL: ReadonlySet<string> = new Set(['draft trial-use', 'retired informative', 'retired external'])

/** Checks that a definition's status is consistent with its standards status and with what the caller refuses, and that its version can be used in a canonical. */
function checkStatus(run: Run, node: FhirNode): void {
  const { value } = node
  if (!isObject(value) || !isCanonicalResource(node)) return
  for (const text of [standardsStatusProblem(value), versionProblem(value)])
    if (text !== undefined) run.findings.report(DEFINITION_STATUS, node, { text })
  if (value['experimental'] === true && run.policy.refuses.has('experimental'))
    run.findings.report(DEFINITION_STATUS, node, { text: 'The definition is experimental, which is not allowed here.', severity: 'error' })
  const [status, standardsStatus] = statusesOf(value)
  if (DOUBTFUL.has(`${status} ${standardsStatus}`))
    run.findings.report(DEFINITION_STATUS, node, {
      text: `The status ${quoted(`${status}`)} and the standards status ${quoted(`${standardsStatus}`)} may not be consistent and should be reviewed.`,
      severity: 'information',
    })
  if (standardsStatus !== 'deprecated' && stringAt(value, 'description')?.toLowerCase().includes('deprecated') === true)
    run.findings.report(DEFINITION_STATUS, node, {
      text: 'The description mentions that something is deprecated, but the standards status does not say so; check whether it should.',
      severity: 'information',
    })
}

function statusesOf(definition: JsonObject): readonly [status: string | undefined, standardsStatus: string | undefined] {
  return [stringAt(definition, 'status'), stringAt(extensionAt(definition, STANDARDS_STATUS), 'valueCode')]
}

function standardsStatusProblem(definition: JsonObject): string | undefined {
  const [status, standardsStatus] = statusesOf(definition)
  const fitting = STATUSES.get(standardsStatus)
  if (status === undefined || fitting === undefined || fitting.includes(status)) return undefined
  return `The status ${quoted(status)} is not consistent with the standards status ${quoted(`${standardsStatus}`)}.`
}

function versionProblem(definition: JsonObject): string | undefined {
  const version = stringAt(definition, 'version')
  return version?.includes('#') === true
    ? `The version ${quoted(version)} cannot be used in a canonical, where '#' starts a fragment.`
    : undefined
}

/** The ids that `#id` texts anywhere in a value point to; `''` for `#` alone. */
function containedReferences(value: unknown): ReadonlySet<string> {
  const ids = new Set<string>()
  collect(value, ids)
  return ids
}

function collect(value: unknown, ids: Set<string>): void {
  if (typeof value === 'string') {
    if (value.startsWith('#')) ids.add(value.slice(1))
    if (value.startsWith('<div') && value.includes('#')) collectLinks(value, ids)
    return
  }
  if (Array.isArray(value)) for (const item of value) collect(item, ids)
  else if (isObject(value)) for (const name in value) if (Object.hasOwn(value, name)) collect(value[name], ids)
}

function collectLinks(xhtml: string, ids: Set<string>): void {
  const { fragments, sources } = readNarrative(xhtml)
  for (const id of [...fragments, ...sources]) ids.add(id)
}
