import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import type { Run } from '../../walk/run.js'
import { anchorsOf } from '../narrative/element-ids.js'
import { containerOf } from '../reference/resolve-locally.js'

/** Notes a uri that is a fragment of the resource, where the resource has nothing of that id. */
export function checkFragment(run: Run, node: FhirNode): void {
  const { value } = node
  if (typeof value !== 'string' || !value.startsWith('#') || value === '#') return
  if (anchorsOf(run, containerOf(node)).has(value.slice(1))) return
  run.sink.report('uri-fragment', node, {
    text: `${quoted(value)} seems to mean something in the resource, but nothing there has that id.`,
  })
}
