import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import { isPending } from 'fhir-ops/internal/work'
import type { Evaluation } from '../compile/compiler.js'
import { textAt, type ElmNode } from '../elm/node.js'
import { resultTypeOf, SYSTEM } from '../elm/type-specifier.js'
import { checkWhole } from '../data/trimmed.js'
import { failedEvaluation, unsupportedElm } from '../problem.js'
import { sizeOf } from '../values/size.js'
import { isFhir, isList, isTuple, type Value, type FhirElement } from '../values/value.js'
import { decimalOfNumber, decimalOfUnits } from '../values/decimal.js'
import { instanceOf } from '../values/instance.js'
import { intervalOf } from '../values/interval.js'
import { integer, long, pointTypeNamed } from '../values/point.js'
import { DAY, temporalOf } from '../values/temporal.js'
import { resultAs } from './declared.js'
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
  if (isPending(result)) throw failedEvaluation(`The external function ${name} gave a promise: evaluations do not wait for results.`)
  return result
}

/** Maximum nesting of a value of the host. */
const MAX_DEPTH = 200

/** Converts a value of the host to a CQL value. Numbers other than Integers become Decimals. `undefined` for anything that is not a CQL value. */
function valueOfHost(given: unknown, evaluation: Pick<Evaluation, 'spend'>, depth = 0): Value | undefined {
  evaluation.spend(1)
  if (given === null || typeof given === 'boolean' || typeof given === 'string') return given
  if (typeof given === 'bigint') return long(given) ?? undefined
  if (typeof given === 'number') return Number.isInteger(given) && integer(given) !== null ? integer(given) : decimalOfNumber(given)
  if (depth > MAX_DEPTH) return undefined
  const inner = (part: unknown): Value | undefined => valueOfHost(part, evaluation, depth + 1)
  if (Array.isArray(given)) return allKnown(given.map(inner))
  return isFhirElement(given) ? given : isObject(given) ? valueOfKind(given, inner) : undefined
}

function allKnown(values: readonly (Value | undefined)[]): readonly Value[] | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === values.length ? known : undefined
}

function isFhirElement(given: unknown): given is FhirElement {
  if (!isObject(given) || given['kind'] !== 'fhir') return false
  return isObject(given['type']) && given['type']['elements'] instanceof Map
}

/** System types by the `kind` of their values. */
const INSTANCES: ReadonlyMap<unknown, string> = new Map([
  ['quantity', 'Quantity'],
  ['ratio', 'Ratio'],
  ['code', 'Code'],
  ['concept', 'Concept'],
  ['valueSet', 'ValueSet'],
  ['codeSystem', 'CodeSystem'],
])

type Inner = (part: unknown) => Value | undefined

/** Builds the value again from its members, so that an incomplete one is not accepted. */
function valueOfKind(given: JsonObject, inner: Inner): Value | undefined {
  const instance = INSTANCES.get(given['kind'])
  if (instance !== undefined) {
    const { kind: _, ...members } = given
    const elements = elementsOf(Object.entries(members), inner)
    return elements === undefined ? undefined : (instanceOf(`{${SYSTEM}}${instance}`, elements) ?? undefined)
  }
  switch (given['kind']) {
    case 'decimal':
      return decimalOf(given)
    case 'date':
    case 'dateTime':
    case 'time':
      return momentOf(given['kind'], given)
    case 'interval':
      return intervalIn(given, inner)
    case 'tuple':
      return given['elements'] instanceof Map ? tupleOf([...given['elements']], inner) : undefined
    default:
      return undefined
  }
}

function elementsOf(given: readonly (readonly [name: unknown, part: unknown])[], inner: Inner): ReadonlyMap<string, Value> | undefined {
  const elements = new Map<string, Value>()
  for (const [name, part] of given) {
    const value = inner(part)
    if (value === undefined) return undefined
    elements.set(String(name), value)
  }
  return elements
}

function tupleOf(given: readonly (readonly [name: unknown, part: unknown])[], inner: Inner): Value | undefined {
  const elements = elementsOf(given, inner)
  return elements === undefined ? undefined : { kind: 'tuple', elements }
}

function decimalOf({ units, places }: JsonObject): Value | undefined {
  const isWhole = typeof units === 'bigint' || Number.isSafeInteger(units)
  return isWhole && typeof places === 'number' ? decimalOfUnits(typeof units === 'bigint' ? units : Number(units), places) : undefined
}

function momentOf(kind: 'date' | 'dateTime' | 'time', { fields, precision, offset }: JsonObject): Value | undefined {
  if (!Array.isArray(fields) || typeof precision !== 'number' || typeof offset !== 'number') return undefined
  const given = fields.filter((field) => typeof field === 'number').slice(kind === 'time' ? DAY + 1 : 0, precision + 1)
  return temporalOf(kind, given, kind === 'dateTime' ? offset : 0)
}

function intervalIn(given: JsonObject, inner: Inner): Value | undefined {
  const { low, high, lowClosed, highClosed, uncertain } = given
  const [first, last] = [inner(low), inner(high)]
  if (first === undefined || last === undefined || typeof lowClosed !== 'boolean' || typeof highClosed !== 'boolean') return undefined
  const pointType = pointTypeNamed(given['pointType'])
  return { ...intervalOf({ low: first, high: last, lowClosed, highClosed, pointType }), ...(uncertain === true && { uncertain }) }
}
