import { quoted } from 'fhir-ops/internal/errors'
import type { Compute, Evaluation, Scope } from '../compile/compiler.js'
import { definitionsNamed, isFunction, isHelperCall } from '../elm/library.js'
import { nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { NODE_COMPILERS } from '../compile/registry.js'
import { FHIR_HELPERS } from '../model/fhir-helpers.js'
import { failedEvaluation, invalidElm, unsupportedElm } from '../problem.js'
import { externalBody } from './external.js'
import { contextIn, guarded, inContext, libraryOf, type FunctionBody, type Library, type Shared } from './opened.js'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { isOfType, isWithin } from '../compile/of-type.js'
import { namedType, readTypeSpecifier, resultTypeOf, statedType, type TypeSpecifier } from '../elm/type-specifier.js'
import type { Value } from '../values/value.js'

/** Compiles a call of a function. */
export function invocationOf(node: ElmNode, operands: readonly Compute[], library: Library, shared: Shared): Compute {
  if (isHelperCall(library.node, node)) return helped(node, operands, shared)
  const name = textAt(node, 'name') ?? ''
  const target = libraryOf(node, library, shared)
  const candidates = bySignature(functionsOf(target.node, name, operands.length), node)
  if (candidates.length === 0)
    throw invalidElm(node, `There is no function ${quoted(name)} with ${operands.length} operands in library ${target.id}.`)
  return callOf(target, candidates, { operands, node }, shared)
}

/**
 * The operator that a call names, as a node of its type: the translator writes operators of the language that are called by name (`Subsumes(a, b)`) as calls
 * of a function without a library. A function of the library goes first. All other nodes are returned unchanged.
 */
export function operatorCalled(node: ElmNode, library: Library): ElmNode {
  if (typeOf(node) !== CALL || textAt(node, 'libraryName') !== undefined) return node
  const name = textAt(node, 'name') ?? ''
  if (name === CALL || !Object.hasOwn(NODE_COMPILERS, name)) return node
  return definitionsNamed(library.node, 'statements', name).some(isFunction) ? node : { ...node, type: name }
}

const CALL = 'FunctionRef'

/** Compiles a call of a function of FHIRHelpers. These are built in. */
function helped(node: ElmNode, [operand]: readonly Compute[], { options }: Shared): Compute {
  const name = textAt(node, 'name') ?? ''
  const helper = Object.hasOwn(FHIR_HELPERS, name) ? FHIR_HELPERS[name] : undefined
  if (helper === undefined || operand === undefined)
    throw unsupportedElm(node, `The function ${quoted(name)} of FHIRHelpers is not supported.`)
  const context = { model: options.model, offset: options.offset ?? 0 }
  return (evaluation) => {
    const value = operand(evaluation)
    evaluation.spend(1)
    return value === null ? null : helper(value, context)
  }
}

/** The functions with a name and a number of operands. */
export function functionsOf(library: ElmNode, name: string, arity: number): readonly ElmNode[] {
  return definitionsNamed(library, 'statements', name).filter((def) => isFunction(def) && nodesAt(def, 'operand').length === arity)
}

interface Call {
  readonly operands: readonly Compute[]
  /** The node that calls, if there is one. */
  readonly node?: ElmNode
}

/** Compiles a call of a function; if several overloads remain, of the one whose operand types fit the values. */
export function callOf(library: Library, candidates: readonly ElmNode[], { operands, node = {} }: Call, shared: Shared): Compute {
  const targets = candidates.map((def) => ({ def, body: bodyOf(library, def, shared) }))
  const [only] = targets
  if (only === undefined) throw invalidElm(node, 'There is no such function.')
  return (evaluation) => {
    const values = operands.map((operand) => operand(evaluation))
    const [meant = only, ...others] = targets.length === 1 ? targets : overloadsFor(values, targets, { node, model: shared.options.model })
    const result = applied(meant, values, evaluation)
    if (others.length > 0 && (result !== null || others.some((other) => applied(other, values, evaluation) !== null)))
      throw failedEvaluation(
        `Several functions ${nameOf(only)} fit these values, and the ELM does not state which one is called: it has no signatures.`,
        node,
      )
    return result
  }
}

function applied({ body }: Overload, values: readonly Value[], evaluation: Evaluation): Value {
  for (const [index, slot] of body.slots.entries()) evaluation.slots[slot] = values[index] ?? null
  evaluation.spend(body.steps)
  return body.compute(evaluation)
}

function bodyOf(library: Library, def: ElmNode, shared: Shared): FunctionBody {
  const known = library.functions.get(def)
  if (known !== undefined) return known
  const name = textAt(def, 'name') ?? ''
  const operands = nodesAt(def, 'operand').map((operand) => [textAt(operand, 'name') ?? '', shared.places.slots++] as const)
  const slots = operands.map(([, slot]) => slot)
  const expression = nodeAt(def, 'expression')
  const scope: Scope = { aliases: new Map(), operands: new Map(operands) }
  const context = library.statesContext ? contextIn(library, def, shared) : shared.context
  const compiled =
    expression === undefined
      ? externalBody(def, { library: library.id, slots, options: shared.options })
      : guarded(library, `function ${name}/${operands.length}`, def, () =>
          inContext(context, shared, () => shared.compile(library, expression, scope)),
        )
  const body = { ...compiled, slots }
  library.functions.set(def, body)
  return body
}

/** Maximum number of functions with one name and number of operands, which are tried one after the other at each call. */
const MAX_OVERLOADS = 100

/**
 * Selects the overload whose operands have the types of the call's signature or, without a signature, of its operands, if the ELM states them.
 *
 * @throws {OperationError} `definition-invalid` for more than 100 overloads.
 */
function bySignature(candidates: readonly ElmNode[], call: ElmNode): readonly ElmNode[] {
  if (candidates.length < 2) return candidates
  if (candidates.length > MAX_OVERLOADS)
    throw invalidElm(call, `The function ${quoted(textAt(call, 'name') ?? '')} has more than ${MAX_OVERLOADS} overloads.`)
  const signature = nodesAt(call, 'signature').map((type) => readTypeSpecifier(type))
  const types = signature.length > 0 ? signature : nodesAt(call, 'operand').map(staticType)
  const wanted = types.map((type) => JSON.stringify(type))
  const exact = candidates.filter((def) =>
    nodesAt(def, 'operand').every((operand, index) => JSON.stringify(operandType(operand)) === wanted[index]),
  )
  return exact.length === 1 ? exact : candidates
}

/** The type of an expression, if the ELM states it. */
function staticType(expression: ElmNode): TypeSpecifier | undefined {
  return resultTypeOf(expression) ?? (typeOf(expression) === 'As' ? statedType(expression, 'as') : undefined)
}

/** The declared type of an operand. */
export function operandType(operand: ElmNode): TypeSpecifier | undefined {
  const specifier = nodeAt(operand, 'operandTypeSpecifier')
  if (specifier !== undefined) return readTypeSpecifier(specifier)
  const name = textAt(operand, 'operandType')
  return name === undefined ? undefined : namedType(name)
}

interface Overload {
  readonly def: ElmNode
  readonly body: FunctionBody
}

/**
 * Selects the overload that fits the values and has the narrowest types; all that fit if the values do not tell which one is meant, because null fits
 * every type.
 *
 * @throws {OperationError} `unprocessable` if none fits.
 */
function overloadsFor(
  values: readonly Value[],
  overloads: readonly Overload[],
  { node, model }: { readonly node: ElmNode; readonly model: TypeModel },
): readonly Overload[] {
  const fitting = overloads.filter(({ def }) => fits(def, values, model))
  const narrowest = fitting.find((one) => fitting.every((other) => one === other || isNarrower(one.def, other.def, { values, model })))
  if (narrowest !== undefined) return [narrowest]
  if (fitting.length > 0) return fitting
  throw failedEvaluation(`No function ${nameOf(overloads[0])} has operands of the types of these values.`, node)
}

function nameOf(overload: Overload | undefined): string {
  return quoted(textAt(overload?.def ?? {}, 'name') ?? '')
}

/** Whether values have the types that a function declares for its operands. */
function fits(def: ElmNode, values: readonly Value[], model: TypeModel): boolean {
  return nodesAt(def, 'operand').every((operand, index) => {
    const [type, value] = [operandType(operand), values[index] ?? null]
    return type === undefined || value === null || isOfType(value, type, model)
  })
}

/** Whether all operands of a function have the types of those of another, or narrower ones; the same ones where the value is null, which has no type. */
function isNarrower(
  def: ElmNode,
  than: ElmNode,
  { values, model }: { readonly values: readonly Value[]; readonly model: TypeModel },
): boolean {
  const others = nodesAt(than, 'operand').map(operandType)
  return nodesAt(def, 'operand').every((operand, index) => {
    const [type, other] = [operandType(operand), others[index]]
    if ((values[index] ?? null) === null) return JSON.stringify(type) === JSON.stringify(other)
    return other === undefined || (type !== undefined && isWithin(type, other, model))
  })
}
