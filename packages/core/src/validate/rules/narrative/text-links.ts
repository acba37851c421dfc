import { OperationError, quoted } from '../../../errors/index.js'
import type { FhirNode, TypeDefinition } from '../../../fhirpath/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { extensionValues } from '../../profile/value-rule.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf } from '../../run/nodes.js'
import { resourceOf, type NodeRule, type Run } from '../../run/run.js'
import { resolveLocally } from '../reference/resolve-locally.js'
import { anchorsOf } from './check-narrative.js'
import { readNarrative } from './read-narrative.js'

const TEXT_LINK: FindingDefinition = defineFinding(
  'text-link',
  'error',
  'structure',
  'Link elements of the narrative that exist with data that exists.',
)

const URL = 'http://hl7.org/fhir/StructureDefinition/textLink'

/** Links between narratives and data. */
export const textLinkRule: NodeRule = {
  on: ['Narrative'],
  finds: [TEXT_LINK],
  needs: 'extension',
  check: checkTextLinks,
}

/**
 * Checks that the places which the extensions `textLink` connect exist: elements of the narrative by their ids, and data in the resource or the Bundle.
 *
 * @see http://hl7.org/fhir/extensions/StructureDefinition-textLink.html
 */
function checkTextLinks(run: Run, node: FhirNode): void {
  if (!isObject(node.value)) return
  const links = objectsAt(node.value, 'extension').filter(({ url }) => url === URL)
  if (links.length === 0) return
  const div = stringAt(node.value, 'div')
  if (div === undefined) return run.findings.report(TEXT_LINK, node, { text: 'There is a textLink, but no narrative that it could link.' })
  const ids = readNarrative(div).ids
  run.scheduler.later(() => {
    for (const link of links) checkLink(run, node, { link, ids })
  })
}

interface TextLink {
  readonly link: JsonObject
  /** Ids of the narrative. */
  readonly ids: ReadonlyMap<string, number>
}

function checkLink(run: Run, node: FhirNode, { link, ids }: TextLink): void {
  const say = (text: string, code?: Finding['code']): void =>
    run.findings.report(TEXT_LINK, node, { text, ...(code !== undefined && { code }) })
  for (const id of extensionValues(link, 'htmlid'))
    if (typeof id === 'string' && !ids.has(id)) say(`The narrative has no element with the id ${quoted(id)}.`)
  const [data] = extensionValues(link, 'data')
  if (typeof data !== 'string') return say('The textLink does not say which data it links.')
  const { count, type } = dataOf(run, node, data)
  if (count === 0) say(`The data ${quoted(data)} of the textLink was not found.`, 'not-found')
  if (count > 1) say(`The data ${quoted(data)} of the textLink is in ${count} places.`, 'invalid')
  const [selector] = extensionValues(link, 'selector')
  const problem = typeof selector === 'string' ? selectorProblem(run, selector, type) : undefined
  if (problem !== undefined) say(`The selector ${quoted(String(selector))} of the textLink is not valid: ${problem}`, 'invalid')
}

interface LinkedData {
  readonly count: number
  /** The type of the data, if it is known. */
  readonly type?: TypeDefinition
}

/** The target of `#id`, of an address, or of an address with `#id`. */
function dataOf(run: Run, node: FhirNode, data: string): LinkedData {
  const [address = '', id] = data.split('#')
  const resource = address === '' ? resourceOf(node) : resolveLocally(run, node, address)
  if (resource === undefined) return { count: 0 }
  if (id === undefined) return { count: 1, type: resource.type }
  const type = typeOf(run, resource, id)
  return { count: placesOf(run, resource, id), ...(type !== undefined && { type }) }
}

/** The type of the first element with an id. */
function typeOf(run: Run, node: FhirNode, id: string): TypeDefinition | undefined {
  run.scheduler.step()
  if (isObject(node.value) && node.value['id'] === id) return node.type
  for (const name of node.type.elements.keys()) {
    for (const child of childrenOf(run, node, name)) {
      const found = typeOf(run, child, id)
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** Number of elements with an id, without those of the narrative. */
function placesOf(run: Run, resource: FhirNode, id: string): number {
  const text = isObject(resource.value) ? resource.value['text'] : undefined
  const div = isObject(text) ? (stringAt(text, 'div') ?? '') : ''
  return (anchorsOf(run, resource).get(id) ?? 0) - (readNarrative(div).ids.get(id) ?? 0)
}

function selectorProblem(run: Run, selector: string, type: TypeDefinition | undefined): string | undefined {
  try {
    run.definitions.expression(selector)
  } catch (error) {
    if (error instanceof OperationError) return error.message
    throw error
  }
  const first = /^([a-z]\w*)(?!\w*\()/.exec(selector)?.[1]
  return type === undefined || first === undefined || type.elements.has(first) ? undefined : `${type.name} has no element ${quoted(first)}.`
}
