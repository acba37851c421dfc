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
import { isOfType, isWithin, widened } from '../compile/of-type.js'
import { namedType, readTypeSpecifier, resultTypeOf, statedType, type TypeSpecifier } from '../elm/type-specifier.js'
import { sizeOf, writingSteps } from '../values/size.js'
import { literalText } from '../values/text.js'
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
  const { model } = shared.options
  const targets = candidates.map((def) => ({ def, body: bodyOf(library, def, shared) }))
  const [only] = targets
  if (only === undefined) throw invalidElm(node, 'There is no such function.')
  const valuesIn = (evaluation: Evaluation): readonly Value[] => operands.map((operand) => operand(evaluation))
  if (targets.length === 1) return (evaluation) => applied(only, valuesIn(evaluation), evaluation)
  const overloads = targets.map(({ def, body }) => overloadOf(def, body, model))
  return (evaluation) => {
    const values = valuesIn(evaluation)
    evaluation.spend(overloads.length)
    for (const value of values) evaluation.spend(sizeOf(value))
    const [meant, ...others] = overloadsFor(values, overloads, { node, model })
    const result = applied(meant, values, evaluation)
    if (!others.every((other) => isSame(result, applied(other, values, evaluation), evaluation)))
      throw failedEvaluation(
        `Several functions ${meant.name} fit these values, and the ELM does not state which one is called: it has no signatures.`,
        node,
      )
    return result
  }
}

/** Whether two functions gave the same. */
function isSame(one: Value, other: Value, { spend }: Evaluation): boolean {
  if (one === other || one === null || other === null) return one === other
  spend(writingSteps(one) + writingSteps(other))
  return literalText(one) === literalText(other)
}

function applied({ body }: Pick<Overload, 'body'>, values: readonly Value[], evaluation: Evaluation): Value {
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

/** One of several functions with a name and a number of operands. */
interface Overload {
  readonly name: string
  readonly body: FunctionBody
  /** The declared types of its operands. */
  readonly types: readonly (TypeSpecifier | undefined)[]
  /** The same types as texts, which are equal for equal types. */
  readonly texts: readonly (string | undefined)[]
  /** The same types, where any FHIR value may be of a type that the model does not know, such as one of QI-Core. */
  readonly wideTypes: readonly (TypeSpecifier | undefined)[]
}

function overloadOf(def: ElmNode, body: FunctionBody, model: TypeModel): Overload {
  const types = nodesAt(def, 'operand').map(operandType)
  return {
    name: quoted(textAt(def, 'name') ?? ''),
    body,
    types,
    texts: types.map((type) => JSON.stringify(type)),
    wideTypes: types.map((type) => type && widened(type, model)),
  }
}

/**
 * Selects the overload that fits the values and has the narrowest types; all that fit if the values do not tell which one is meant, because null fits
 * every type, and any FHIR value may be of a type that the model does not know.
 *
 * @throws {OperationError} `unprocessable` if none fits.
 */
function overloadsFor(
  values: readonly Value[],
  overloads: readonly Overload[],
  { node, model }: { readonly node: ElmNode; readonly model: TypeModel },
): readonly [Overload, ...Overload[]] {
  const fitting = overloads.filter(({ types }) => fits(types, values, model))
  const narrowest = fitting.find((one) => fitting.every((other) => one === other || isNarrower(one, other, { values, model })))
  if (narrowest !== undefined) return [narrowest]
  const [first, ...rest] = fitting.length > 0 ? fitting : overloads.filter(({ wideTypes }) => fits(wideTypes, values, model))
  if (first !== undefined) return [first, ...rest]
  throw failedEvaluation(`No function ${overloads[0]?.name} has operands of the types of these values.`, node)
}

/** Whether values have the types that a function declares for its operands. */
function fits(types: Overload['types'], values: readonly Value[], model: TypeModel): boolean {
  return types.every((type, index) => {
    const value = values[index] ?? null
    return type === undefined || value === null || isOfType(value, type, model)
  })
}

/** Whether all operands of a function have the types of those of another, or narrower ones; the same ones where the value is null, which has no type. */
function isNarrower(
  one: Overload,
  than: Overload,
  { values, model }: { readonly values: readonly Value[]; readonly model: TypeModel },
): boolean {
  return one.types.every((type, index) => {
    if ((values[index] ?? null) === null) return one.texts[index] === than.texts[index]
    const other = than.types[index]
    return other === undefined || (type !== undefined && isWithin(type, other, model))
  })
}
