import { quoted } from '../../../../errors/index.js'
import type { FhirNode } from '../../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../../walk/children.js'
import type { Run } from '../../../walk/run.js'
import { placeOf } from './element-place.js'

/** Names for resources with a url and a status, which R5 has and definitions for R4 use. */
const LATER: ReadonlySet<string> = new Set(['CanonicalResource', 'MetadataResource'])

/** Checks where an extension may stand: at elements that there are, not everywhere; nothing but an extension says so. */
export function checkContexts(run: Run, node: FhirNode): void {
  const contexts = childrenOf(run, node, 'context')
  if (textOf(node, 'type') === 'Extension') {
    for (const context of contexts) checkContext(run, context)
    return
  }
  for (const context of [...contexts, ...childrenOf(run, node, 'contextInvariant')])
    reportWrong(run, context, 'Only extensions have a context.')
}

function checkContext(run: Run, context: FhirNode): void {
  const [type, expression = ''] = [textOf(context, 'type'), textOf(context, 'expression')]
  const isKnown = LATER.has(expression) || placeOf(run.model, expression) !== undefined
  const warn = (text: string): void => run.sink.report('definition-context', context, { text })
  if (type === 'fhirpath' && isKnown) warn(`${quoted(expression)} is an element, so the context should be of the type element.`)
  if (type !== 'element') return
  if (expression === 'Element') warn('The context Element allows the extension everywhere; name the elements that it is for.')
  // An extension on the context may say that it is one of another release.
  else if (!isKnown && childrenOf(run, context, 'extension').length === 0)
    reportWrong(run, context, `There is no element ${quoted(expression)}.`)
}

function reportWrong(run: Run, context: FhirNode, text: string): void {
  run.sink.report('definition-context', context, { text, severity: 'error', code: 'invalid' })
}
