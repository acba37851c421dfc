import { quoted } from 'fhir-ops/internal/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { isOfType } from '../compile/of-type.js'
import { nodeAt, nodesAt, textAt, type ElmNode } from '../elm/node.js'
import { namedType, readTypeSpecifier, type TypeSpecifier } from '../elm/type-specifier.js'
import { invalidElm } from '../problem.js'
import type { Value } from '../values/value.js'

/** Maximum number of functions with one name and number of operands, which are tried one after the other at each call. */
const MAX_OVERLOADS = 100

/**
 * Selects the overload whose operands have the types of the call's signature, if the call states one.
 *
 * @throws {OperationError} `definition-invalid` for more than 100 overloads.
 */
export function bySignature(candidates: readonly ElmNode[], call: ElmNode): readonly ElmNode[] {
  if (candidates.length < 2) return candidates
  if (candidates.length > MAX_OVERLOADS)
    throw invalidElm(call, `The function ${quoted(textAt(call, 'name') ?? '')} has more than ${MAX_OVERLOADS} overloads.`)
  const wanted = nodesAt(call, 'signature').map((type) => JSON.stringify(readTypeSpecifier(type)))
  const exact = candidates.filter((def) =>
    nodesAt(def, 'operand').every((operand, index) => JSON.stringify(operandType(operand)) === wanted[index]),
  )
  return exact.length === 1 ? exact : candidates
}

function operandType(operand: ElmNode): TypeSpecifier | undefined {
  const specifier = nodeAt(operand, 'operandTypeSpecifier')
  if (specifier !== undefined) return readTypeSpecifier(specifier)
  const name = textAt(operand, 'operandType')
  return name === undefined ? undefined : namedType(name)
}

/** Whether values have the types that a function declares for its operands. */
export function fits(def: ElmNode, values: readonly Value[], model: TypeModel): boolean {
  return nodesAt(def, 'operand').every((operand, index) => {
    const [type, value] = [operandType(operand), values[index] ?? null]
    return type === undefined || value === null || isOfType(value, type, model)
  })
}
