import { quoted } from '../../../errors/index.js'
import { pushChildren, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt } from '../../../json/index.js'
import type { Run } from '../../walk/run.js'
import { isAbsoluteUri } from '../primitive/uri.js'
import { checkStatus } from './check-status.js'
import { containedReferences } from './contained-references.js'

/** What holds for every resource: its id is bare, its url absolute, and everything in it that is contained is meant by something. */
export function checkResource(run: Run, node: FhirNode): void {
  if (!isObject(node.value)) return
  if (Object.hasOwn(node.value, '_id')) run.sink.report('id-extension', node, { text: 'The id of a resource has no extensions.', at: 'id' })
  checkUrl(run, node, stringAt(node.value, 'url'))
  checkStatus(run, node)
  checkContained(run, node)
}

/** The url of a definition is its identity. */
function checkUrl(run: Run, node: FhirNode, url: string | undefined): void {
  if (url === undefined || node.type.elements.get('url')?.[0]?.type !== 'uri' || isAbsoluteUri(url)) return
  run.sink.report('uri-form', node, { text: `The canonical url ${quoted(url)} must be absolute.`, at: 'url' })
}

function checkContained(run: Run, node: FhirNode): void {
  const contained: FhirNode[] = []
  pushChildren(run.model, node, { name: 'contained', into: contained })
  if (contained.length === 0) return
  const meant = containedReferences(node.value)
  const seen = new Set<string>()
  for (const [index, { value }] of contained.entries()) {
    const id = isObject(value) ? stringAt(value, 'id') : undefined
    const text = problemOf(id, { seen, isMeant: id !== undefined && (meant.has(id) || containedReferences(value).has('')) })
    if (text !== undefined) run.sink.report('contained', node, { text, at: `contained[${index}]` })
    if (id !== undefined) seen.add(id)
  }
}

function problemOf(id: string | undefined, { seen, isMeant }: { seen: ReadonlySet<string>; isMeant: boolean }): string | undefined {
  if (id === undefined) return 'A contained resource must have an id.'
  if (seen.has(id)) return `There are several contained resources with the id ${quoted(id)}.`
  return isMeant ? undefined : `The contained resource ${quoted(id)} is not referred to from the resource that contains it.`
}
