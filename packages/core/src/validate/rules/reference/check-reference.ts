import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import type { Run } from '../../walk/run.js'
import { containedOf, referenceOf } from './resolve-locally.js'

/** Checks the form of a Reference, and that one to a contained resource leads to one. */
export function checkReference(run: Run, node: FhirNode): void {
  const reference = referenceOf(node)
  if (reference === undefined) return
  if (/\s/.test(reference)) {
    run.sink.report('reference', node, { text: `The reference ${quoted(reference)} has white space.`, code: 'invalid' })
    return
  }
  if (!reference.startsWith('#') || containedOf(run, node, reference.slice(1)) !== undefined) return
  run.sink.report('reference', node, { text: `There is no contained resource ${quoted(reference)}.` })
}
