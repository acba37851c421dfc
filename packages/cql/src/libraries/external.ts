import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import type { Evaluation } from '../compile/compiler.js'
import { textAt, type ElmNode } from '../elm/node.js'
import { resultTypeOf } from '../elm/type-specifier.js'
import { checkWhole } from '../data/trimmed.js'
import { failedEvaluation, unsupportedElm } from '../problem.js'
import { sizeOf } from '../values/size.js'
import { isFhir, isList, isTuple, type Value } from '../values/value.js'
import { resultAs } from './declared.js'
import { valueOfHost } from './host-value.js'
import type { ExternalFunction, ExternalFunctions, LibraryOptions } from './library-options.js'
import type { Compiled } from './opened.js'

interface Declaration {
  /** The library that declares it. */
  readonly library: string
  /** Slots of its operands. */
  readonly slots: readonly number[]
  readonly options: LibraryOptions
}

/** Steps of a call of the host, besides those for the operands and the result. */
const CALL_STEPS = 20

/**
 * Compiles the body of a function that the host provides.
 *
 * @throws {OperationError} `not-supported` for a function that is not registered, or that takes more operands than are declared.
 */
export function externalBody(def: ElmNode, { library, slots, options }: Declaration): Compiled {
  const name = quoted(`${library}.${textAt(def, 'name') ?? ''}`)
  const call = registered(options.functions, library, textAt(def, 'name') ?? '')
  if (call === undefined) throw unsupportedElm(def, `The function ${name} is external, and no function of that name is registered.`)
  if (call.length > slots.length)
    throw unsupportedElm(
      def,
      `The external function ${name} takes ${call.length} operands, and the library declares it with ${slots.length}.`,
    )
  const [type, { model, offset = 0 }] = [resultTypeOf(def), options]
  const compute = (evaluation: Evaluation): Value => {
    const operands = slots.map((slot) => evaluation.slots[slot] ?? null)
    for (const operand of operands) handOver(operand, evaluation)
    const result = valueOfHost(called(call, name, operands), evaluation)
    const value = result === undefined ? undefined : resultAs(result, type, { model, offset })
    if (value === undefined)
      throw failedEvaluation(`The external function ${name} gave something that is not of the type which the library declares.`, def)
    return value
  }
  return { compute, steps: CALL_STEPS }
}

/** The registered function. Only own members count, not those of the prototype. */
function registered(functions: ExternalFunctions | undefined, library: string, name: string): ExternalFunction | undefined {
  const own = functions !== undefined && Object.hasOwn(functions, library) ? functions[library] : undefined
  return own !== undefined && Object.hasOwn(own, name) ? own[name] : undefined
}

/** Counts the size of an operand, and checks that its resources are whole, because the host may read members that no library names. */
function handOver(operand: Value, { spend }: Evaluation): void {
  spend(sizeOf(operand))
  checkAllWhole(operand)
}

function checkAllWhole(value: Value): void {
  if (isList(value)) for (const item of value) checkAllWhole(item)
  else if (isTuple(value)) for (const element of value.elements.values()) checkAllWhole(element)
  else if (isFhir(value)) checkWhole(value.json)
}

/** Calls a function of the host. Callers see only where it failed; the error itself is for the log. */
function called(call: ExternalFunction, name: string, operands: readonly Value[]): unknown {
  let result: unknown
  try {
    result = call(...operands)
  } catch (error) {
    if (error instanceof OperationError) throw error
    throw new OperationError('unprocessable', `The external function ${name} failed.`, { cause: error })
  }
  if (result instanceof Promise)
    throw failedEvaluation(`The external function ${name} gave a promise: evaluations do not wait for results.`)
  return result
}
