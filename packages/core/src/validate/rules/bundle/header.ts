import { quoted } from '../../../errors/index.js'
import { childrenOf } from '../../walk/children.js'
import type { BundleCheck } from './check-bundle.js'

/** The type of the resource that comes first, by type of Bundle. */
const HEADERS: ReadonlyMap<string, string> = new Map([
  ['document', 'Composition'],
  ['message', 'MessageHeader'],
])

/** Checks that a document or message begins with the resource that says what the others are there for. */
export function checkHeader({ run, bundle, type }: BundleCheck): void {
  const header = HEADERS.get(type) ?? ''
  const [entry] = childrenOf(run, bundle, 'entry')
  const [resource] = entry === undefined ? [] : childrenOf(run, entry, 'resource')
  if (resource?.type.name === header) return
  const found = resource === undefined ? '' : `, not with ${quoted(resource.type.name)}`
  run.sink.report('bundle-header', resource ?? entry ?? bundle, {
    text: `A Bundle of type ${quoted(type)} must begin with a ${header}${found}.`,
  })
}
