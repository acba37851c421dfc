import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import type { Run } from '../../walk/run.js'

const EXAMPLE = /^https?:\/\/(?:[a-z0-9-]+\.)*(?:example\.(?:org|com|net)|acme\.com)(?:[:/|?#]|$)/i

/** Refuses URLs of the hosts that are meant for examples, where examples are refused. */
export function checkExampleUrl(run: Run, node: FhirNode): void {
  const { value } = node
  if (!run.refuses.has('examples') || typeof value !== 'string' || !EXAMPLE.test(value)) return
  run.sink.report('uri-example', node, { text: `${quoted(value)} is a URL for examples, which are refused here.` })
}
