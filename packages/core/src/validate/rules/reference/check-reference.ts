import { quoted } from '../../../errors/index.js'
import type { FhirNode } from '../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import { containedOf, referenceOf } from './resolve-locally.js'

/** A search that finds one resource, in the place of a reference. */
const CONDITIONAL = /^[A-Z][A-Za-z]{0,63}\?/
const QUERY = /^[_a-zA-Z][_a-zA-Z0-9]*=[^=&]*$/

/** Checks the form of a Reference, and that one to a contained resource leads to one. */
export function checkReference(run: Run, node: FhirNode): void {
  const reference = referenceOf(node)
  if (reference === undefined) return checkUnresolvable(run, node)
  if (/\s/.test(reference)) {
    run.sink.report('reference', node, { text: `The reference ${quoted(reference)} has white space.`, code: 'invalid' })
    return
  }
  if (
    CONDITIONAL.test(reference) &&
    !reference
      .slice(reference.indexOf('?') + 1)
      .split('&')
      .every((part) => QUERY.test(part))
  )
    run.sink.report('reference', node, { text: `The search in ${quoted(reference)} is none.`, code: 'invalid' })
  if (!reference.startsWith('#') || containedOf(run, node, reference.slice(1)) !== undefined) return
  run.sink.report('reference', node, { text: `There is no contained resource ${quoted(reference)}.` })
}

/** What has no reference is for people, unless an identifier tells what is meant. */
function checkUnresolvable(run: Run, node: FhirNode): void {
  const [identifier] = childrenOf(run, node, 'identifier')
  const isIdentified = identifier !== undefined && (textOf(identifier, 'system') ?? textOf(identifier, 'value')) !== undefined
  if (isIdentified || textOf(node, 'display') !== undefined) return
  const text = 'There is neither a reference nor an identifier, so there should be a display.'
  run.sink.report('reference', node, { text, severity: 'warning' })
}
