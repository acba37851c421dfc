import { nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { memberOf } from '../model/property.js'
import { sizeOf } from '../values/size.js'
import { isCode, isConcept, isFhir, type Code, type FhirElement, type Value } from '../values/value.js'
import type { Compiler, Compute, Scope } from './compiler.js'

/**
 * Compiles an operand of which only the codes are needed: for `ToConcept(X)` compiles X, so that no Concept is created from the recorded element. `undefined`
 * for any other node, and if nodes are traced.
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

/** Whether a Code, or any code of a Concept or of a recorded concept, is wanted. */
export function someCode(value: Value, isWanted: (code: string | null, system: string | null) => boolean): boolean {
  if (value === null) return false
  if (!isFhir(value)) return codesOf(value).some(({ code, system }) => isWanted(code, system))
  return codingsOf(value).some((coding) => isWanted(textIn(coding, 'code'), textIn(coding, 'system')))
}

/** Number of steps for reading the codes of a value. */
export function codesToLookAt(value: Value): number {
  return value !== null && isFhir(value) ? codingsOf(value).length : sizeOf(value)
}

/** The codings of a recorded concept; content with a single value instead of a list is accepted. */
function codingsOf({ type, json }: FhirElement): readonly unknown[] {
  const codings = type.elements.has('coding') ? memberOf(json, 'coding') : undefined
  if (Array.isArray(codings)) return codings
  return codings === undefined || codings === null ? [] : [codings]
}

function textIn(coding: unknown, name: string): string | null {
  const text = memberOf(coding, name)
  return typeof text === 'string' ? text : null
}

/** The codes of a Code or Concept; empty for any other value. */
export function codesOf(value: Value): readonly Code[] {
  if (isConcept(value)) return value.codes
  return isCode(value) ? [value] : []
}

/** Codes by their system, so that one is found without building a key from system and code. */
export type CodesBySystem = ReadonlyMap<string, ReadonlySet<string>>

/** Groups codes by their system. */
export function codesBySystem(codes: Iterable<{ readonly system: string; readonly code: string }>): CodesBySystem {
  const bySystem = new Map<string, Set<string>>()
  for (const { system, code } of codes) {
    const own = bySystem.get(system)
    if (own === undefined) bySystem.set(system, new Set([code]))
    else own.add(code)
  }
  return bySystem
}
