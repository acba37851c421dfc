import { nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { memberOf } from '../model/property.js'
import { sizeOf } from '../values/size.js'
import { isCode, isConcept, isFhir, type Code, type FhirElement, type Value } from '../values/value.js'
import type { Compiler, Compute, Scope } from './compiler.js'

/**
 * Compiles an operand of which only the codes are asked for: of `ToConcept(X)` what X is, so that no concept is made of what is recorded. `undefined` for any other
 * node, and where somebody looks on at nodes.
 */
export function compileRecorded(node: ElmNode, scope: Scope, compiler: Compiler): Compute | undefined {
  const [recorded, ...others] = nodesAt(node, 'operand')
  const isConversion = typeOf(node) === 'FunctionRef' && textAt(node, 'name') === 'ToConcept' && compiler.references.isHelper(node)
  if (compiler.isLookedOn || !isConversion || recorded === undefined || others.length > 0) return undefined
  const compute = compiler.compile(recorded, scope)
  return (evaluation) => {
    const value = compute(evaluation)
    return value !== null && isFhir(value) ? value : null
  }
}

/** Whether some code of a code, a concept or a recorded concept is wanted. */
export function someCode(value: Value, isWanted: (code: string | null, system: string | null) => boolean): boolean {
  if (value === null) return false
  if (!isFhir(value)) return codesOf(value).some(({ code, system }) => isWanted(code, system))
  return codingsOf(value).some((coding) => isWanted(textIn(coding, 'code'), textIn(coding, 'system')))
}

/** How much there is to look at in a value of which the codes are asked for. */
export function codesToLookAt(value: Value): number {
  return value !== null && isFhir(value) ? codingsOf(value).length : sizeOf(value)
}

/** What repeats is a list; content that has one item in its place is read as that. */
function codingsOf({ type, json }: FhirElement): readonly unknown[] {
  const codings = type.elements.has('coding') ? memberOf(json, 'coding') : undefined
  if (Array.isArray(codings)) return codings
  return codings === undefined || codings === null ? [] : [codings]
}

function textIn(coding: unknown, name: string): string | null {
  const text = memberOf(coding, name)
  return typeof text === 'string' ? text : null
}

/** The codes of a code or concept; none of any other value. */
export function codesOf(value: Value): readonly Code[] {
  if (isConcept(value)) return value.codes
  return isCode(value) ? [value] : []
}
