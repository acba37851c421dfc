import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import type { Run } from '../../run/run.js'
import { anchorsOf } from '../narrative/check-narrative.js'
import { containerOf } from '../reference/resolve-locally.js'

/** Notes a uri that is a fragment of the resource, where the resource has nothing of that id. */
export function checkFragment(run: Run, node: FhirNode): void {
  const { value } = node
  if (typeof value !== 'string' || !value.startsWith('#') || value === '#') return
  if (anchorsOf(run, containerOf(node)).has(value.slice(1))) return
  run.findings.report('uri-fragment', node, {
    text: `${quoted(value)} seems to mean something in the resource, but nothing there has that id.`,
  })
}

const EXAMPLE = /^https?:\/\/(?:[a-z0-9-]+\.)*(?:example\.(?:org|com|net)|acme\.com)(?:[:/|?#]|$)/i

/** Refuses URLs of the hosts that are meant for examples, where examples are refused. */
export function checkExampleUrl(run: Run, node: FhirNode): void {
  const { value } = node
  if (!run.refuses.has('examples') || typeof value !== 'string' || !EXAMPLE.test(value)) return
  run.findings.report('uri-example', node, { text: `${quoted(value)} is a URL for examples, which are refused here.` })
}
