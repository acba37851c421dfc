import { quoted } from 'fhir-ops/internal/errors'
import { definitionsIn } from '../elm/library.js'
import { textAt, typeOf, type ElmNode } from '../elm/node.js'
import { unsupportedElm } from '../problem.js'

const UNFILTERED: ReadonlySet<string> = new Set(['Unfiltered', 'Population'])

/** Whether a context has no subject, so that retrieves find the resources of all subjects. */
export function isUnfilteredContext(context: string): boolean {
  return UNFILTERED.has(context)
}

/** Whether a library declares contexts. One that does not is evaluated for each subject, although the translator writes Unfiltered. */
export function statesContext(library: ElmNode): boolean {
  return definitionsIn(library, 'contexts').some((context) => textAt(context, 'name') !== 'Unfiltered')
}

/** The context of a definition or function. */
export function contextOf(def: ElmNode, { isStated, subjectType }: { readonly isStated: boolean; readonly subjectType: string }): string {
  const context = textAt(def, 'context') ?? subjectType
  return context === 'Unfiltered' && !isStated ? subjectType : context
}

/** True for `define Patient: singleton from ([Patient])`, which every library with that context has. */
export function isContextSubject(name: string, context: string, expression: ElmNode): boolean {
  return name === context && typeOf(expression) === 'SingletonFrom'
}

/**
 * Checks that a definition may be referenced from a context. A definition about one subject has no value in the context of another type, and a value for
 * each subject in the context Unfiltered.
 *
 * @throws {OperationError} `not-supported`, naming the definition and both contexts.
 */
export function checkReference(node: ElmNode, { name, context }: { readonly name: string; readonly context: string }, from: string): void {
  if (context === from || isUnfilteredContext(context)) return
  throw unsupportedElm(
    node,
    `${quoted(name)} is defined in the context ${context} and used in the context ${from}, which is not supported.`,
  )
}
