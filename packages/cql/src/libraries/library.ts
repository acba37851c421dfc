import { OperationError } from 'fhir-ops/errors'
import { checkHas, quoted } from 'fhir-ops/internal/errors'
import type { Compiler, Compute, Evaluation, Given, References, Scope } from '../compile/compiler.js'
import { createGiven, createPlaces, fillPlaces } from '../compile/given.js'
import { forEachItem, nodesOf } from '../compile/operators.js'
import { NODE_COMPILERS } from '../compile/registry.js'
import { keptValue, settledFor, type ExpressionPlace } from '../compile/settled.js'
import { definitionsIn, definitionsNamed, identifierOf, isFunction, isHelperCall, parameterNames } from '../elm/library.js'
import { MAX_DEPTH, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { invalidElm, unsupportedElm } from '../problem.js'
import { keptConversion } from '../values/units.js'
import type { Value } from '../values/value.js'
import { createConstants, isConstantForm } from './constants.js'
import {
  checkReference,
  isContextSubject,
  isUnfilteredContext,
  contextIn,
  definedIn,
  EMPTY_SCOPE,
  guarded,
  inContext,
  libraryOf,
  openLibrary,
  type Compiled,
  type Definition,
  type Library,
  type Parameter,
  type Shared,
  codeOf,
  conceptOf,
  inlineCode,
  systemsIn,
  vocabularyOf,
} from './opened.js'
import { declaredValue, parameterType } from './declared.js'
import { callOf, functionsOf, invocationOf, operatorCalled } from './functions.js'
import type { LibraryOptions } from './library-options.js'

export type { Definition } from './opened.js'

/** A compiled library. */
export interface CqlLibrary {
  readonly id: string
  readonly version: string | undefined
  /** Names of its definitions, in their order; functions are not among them. */
  readonly names: readonly string[]
  /** Compiles a definition; `undefined` if there is none with that name. @throws {OperationError} `definition-invalid` if it cannot be compiled. */
  definition(name: string): Definition | undefined
  /** Compiles a call of a function with these operands; `undefined` if no function has that name and number of operands. */
  invocable(name: string, operands: readonly Compute[]): Compute | undefined
  /** How an expression calls a function of the library, such as `Common.Score(age)`; `undefined` if no function has that name. */
  callOf(name: string): string | undefined
  /** Names of the parameters that it declares. */
  readonly parameters: readonly string[]
}

/**
 * Compiles a library from its ELM.
 *
 * Definitions are compiled when they are first requested, so one that cannot be compiled does not affect the others.
 *
 * @param elm The JSON form of ELM, `{ library: {...} }` or the library itself.
 * @throws {OperationError} `definition-invalid` if it is not an ELM library or cannot be compiled, `not-supported` for unknown nodes, naming them.
 */
export function compileLibrary(elm: unknown, options: LibraryOptions): CqlLibrary {
  checkHas('The options', options, ['model', 'convert'])
  const { library, shared, compiled } = compilation(elm, options)
  const definitions = definitionsIn(library.node, 'statements').filter((def) => !isFunction(def))
  return {
    id: library.id,
    version: textAt(identifierOf(library.node) ?? {}, 'version'),
    names: definitions.map((def) => textAt(def, 'name') ?? ''),
    definition: (name) => compiled(() => definitionOf(library, name, shared)),
    invocable: (name, operands) => {
      const candidates = functionsOf(library.node, name, operands.length)
      return candidates.length === 0 ? undefined : compiled(() => callOf(library, candidates, { operands }, shared))
    },
    callOf: (name) => {
      const [def] = definitionsNamed(library.node, 'statements', name).filter(
        (one) => isFunction(one) && textAt(one, 'accessLevel') !== 'Private',
      )
      const operands = nodesAt(def ?? {}, 'operand').map((operand) => textAt(operand, 'name') ?? '')
      return def === undefined ? undefined : `${library.id === '' ? '' : `${library.id}.`}${identifierText(name)}(${operands.join(', ')})`
    },
    parameters: parameterNames(library.node),
  }
}

/**
 * Returns a function that evaluates expressions of a library which are the same for all subjects; `undefined` for any other expression.
 *
 * @throws {OperationError} as `compileLibrary`, when an expression cannot be compiled.
 */
export function constantsIn(elm: unknown, options: Omit<LibraryOptions, 'places'>): (node: ElmNode) => Value | undefined {
  const { library, shared, compiled, own } = compilation(elm, options)
  return (node) => compiled(() => compilerOf(library, shared).constant(node))?.(own)
}

interface Compilation {
  readonly library: Library
  readonly shared: Shared
  /** The values of all evaluations, without `places`. */
  readonly own: Given
  /** Compiles something and, without `places`, makes the values that it needs. */
  readonly compiled: <T>(compile: () => T) => T
}

function compilation(elm: unknown, options: LibraryOptions): Compilation {
  const { places = createPlaces(), offset = 0, subjectType = 'Patient' } = options
  const own = createGiven(options)
  const given = options.places === undefined ? (): Given => own : givenOf
  const compiled = <T>(compile: () => T): T => {
    const made = compile()
    if (options.places === undefined) fillPlaces(own, places)
    return made
  }
  const constants = createConstants({ offset, places, given })
  const shared: Shared = {
    options,
    libraries: new Map(),
    places,
    given,
    depth: 0,
    convert: keptConversion(options.convert, () => shared.running?.spend(UNIT_STEPS)),
    running: undefined,
    nodes: 0,
    context: subjectType,
    constants,
    settled: settledFor(subjectType),
    isSettled: false,
    compile: (own, node, scope) => compiledIn(own, node, { scope, shared }),
  }
  return { library: openLibrary(elm), shared, own, compiled }
}

/** A name as CQL writes it: in quotes if it is not a plain word. */
function identifierText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)
}

/** Steps of finding the factor between two units. */
const UNIT_STEPS = 500

function givenOf({ given }: Evaluation): Given {
  if (given === undefined) throw new TypeError('The evaluation gives nothing to libraries that were compiled for any evaluation.')
  return given
}

function isSubjectIn(library: Library, name: string, shared: Shared): boolean {
  const def = expressionNamed(library, name)
  return def !== undefined && isContextSubject(name, contextIn(library, def, shared), nodeAt(def, 'expression') ?? {})
}

function expressionNamed(library: Library, name: string): ElmNode | undefined {
  return definitionsNamed(library.node, 'statements', name).find((one) => !isFunction(one))
}

function definitionOf(library: Library, name: string, shared: Shared): Definition | undefined {
  const known = library.definitions.get(name)
  if (known !== undefined) return known
  const def = expressionNamed(library, name)
  const expression = def === undefined ? undefined : nodeAt(def, 'expression')
  if (def === undefined || expression === undefined) return undefined
  const context = contextIn(library, def, shared)
  const compute = isContextSubject(name, context, expression)
    ? subject
    : inContext(context, shared, () => memoised(library, name, expression, shared))
  const made = { name, context, compute, isPublic: textAt(def, 'accessLevel') !== 'Private' }
  library.definitions.set(name, made)
  return made
}

const subject: Compute = (evaluation) => evaluation.subject

function memoised(library: Library, name: string, expression: ElmNode, shared: Shared): Compute {
  const slot = shared.places.memo++
  const compute = guarded(library, `define ${name}`, expression, () => shared.compile(library, expression, EMPTY_SCOPE).compute)
  const reach = shared.constants.reachOf(compute)
  if (reach === 'all') return compute
  const memoising: Compute = (evaluation) => {
    const known = evaluation.memo[slot]
    if (known !== undefined) return known
    shared.running = evaluation
    const value = compute(evaluation)
    evaluation.memo[slot] = value
    return value
  }
  if (reach === 'each') shared.constants.addOfEach(memoising, compute)
  return memoising
}

interface CompiledPlace {
  readonly scope: Scope
  readonly shared: Shared
}

function compiledIn(library: Library, node: ElmNode, { scope, shared }: CompiledPlace): Compiled {
  const outer = shared.nodes
  shared.nodes = 0
  try {
    const compiler = compilerOf(library, shared)
    const [compute, steps] = forEachItem(compiler, () => compiler.compile(node, scope))
    return { compute, steps }
  } finally {
    shared.nodes = outer
  }
}

function compilerOf(library: Library, shared: Shared): Compiler {
  const { options } = shared
  const references = referencesOf(library, shared)
  const compiler: Compiler = {
    convert: shared.convert,
    model: options.model,
    offset: options.offset ?? 0,
    isLookedOn: options.trace !== undefined,
    isUnfiltered: () => isUnfilteredContext(shared.context),
    constant: (node) => constantAt(node, { compiler, shared }),
    slot: () => shared.places.slots++,
    places: shared.places,
    given: shared.given,
    nodes: () => shared.nodes,
    references,
    compile: (written, scope) => {
      const node = operatorCalled(written, library)
      const type = typeOf(node)
      const compile = Object.hasOwn(NODE_COMPILERS, type) ? NODE_COMPILERS[type] : undefined
      if (compile === undefined)
        throw unsupportedElm(node, `The ELM node ${type === '' ? 'without a type' : quoted(type)} is not supported.`)
      const compiled = (): Compute =>
        nested(node, shared, () => settling(node, { scope, shared, references }, () => compile(node, scope, compiler)))
      return options.trace === undefined ? shared.constants.folded(type, compiled) : options.trace(compiled(), written, scope, library.id)
    },
  }
  return compiler
}

/** Compiles an expression that may be a constant, without counting its nodes among those of the definition. */
function constantAt(
  node: ElmNode,
  { compiler, shared }: { readonly compiler: Compiler; readonly shared: Shared },
): ReturnType<Compiler['constant']> {
  if (!isConstantForm(node)) return undefined
  const { nodes } = shared
  try {
    return shared.constants.valueIn(compiler.compile(node, EMPTY_SCOPE))
  } finally {
    shared.nodes = nodes
  }
}

interface SettlingPlace extends ExpressionPlace {
  readonly shared: Shared
}

/** Compiles an expression. If it depends on one resource alone, its values are kept with the resource, but those of its parts are not. */
function settling(node: ElmNode, { shared, ...place }: SettlingPlace, compile: () => Compute): Compute {
  const isPart = shared.isSettled
  const resourceOf = isPart || shared.options.trace !== undefined ? undefined : shared.settled.resourceOf(node, place)
  if (resourceOf === undefined) return compile()
  shared.isSettled = true
  try {
    return keptValue(compile(), node, resourceOf)
  } finally {
    shared.isSettled = false
  }
}

/** Compiles one level deeper, and checks the depth. */
function nested<T>(node: ElmNode, shared: Shared, compile: () => T): T {
  if (shared.depth >= MAX_DEPTH) throw invalidElm(node, `Expressions may be nested ${MAX_DEPTH} deep.`)
  shared.depth++
  shared.nodes += nodesOf(typeOf(node))
  try {
    return compile()
  } finally {
    shared.depth--
  }
}

function referencesOf(library: Library, shared: Shared): References {
  return {
    expression: (node) => {
      const target = libraryOf(node, library, shared)
      const name = textAt(node, 'name') ?? ''
      const found = definitionOf(target, name, shared)
      if (found === undefined) throw invalidElm(node, `There is no definition ${quoted(name)} in library ${target.id}.`)
      if (target.statesContext) checkReference(node, found, shared.context)
      return found.compute
    },
    parameter: (node) => parameterOf(node, libraryOf(node, library, shared), shared).compute,
    parameterIn: (node) => parameterOf(node, libraryOf(node, library, shared), shared).valueIn,
    invoke: (node, operands) => invocationOf(node, operands, library, shared),
    isHelper: (node) => isHelperCall(library.node, node),
    isSubject: (node) => isSubjectIn(library, textAt(node, 'name') ?? '', shared),
    code: (node) => codeOf(node, library, shared),
    inlineCode: (node) => inlineCode(node, library, shared),
    concept: (node) => conceptOf(node, library, shared),
    vocabulary: (node, kind) => vocabularyOf(node, kind, libraryOf(node, library, shared)),
    systems: () => systemsIn(library),
  }
}

function parameterOf(node: ElmNode, target: Library, shared: Shared): Parameter {
  const def = definedIn(target, 'parameters', node)
  const known = target.parameters.get(def)
  if (known !== undefined) return known
  const { places, constants, given, options } = shared
  const { otherwise, fault } = defaultOf(def, target, shared)
  const place =
    places.parameters.push(({ source }) => {
      const value = source.parameters?.(textAt(def, 'name') ?? '', parameterType(def))
      if (value === undefined && fault !== undefined) throw fault
      return value === undefined ? undefined : declaredValue(value, def, options.model)
    }) - 1
  const compute: Compute = (evaluation) => {
    const value = given(evaluation).parameters[place]
    return value === undefined ? otherwise(evaluation) : value
  }
  if (otherwise === NULL || constants.reachOf(otherwise) !== undefined) constants.addOfEach(compute)
  const made = { compute, valueIn: ({ parameters }: Given) => parameters[place] }
  target.parameters.set(def, made)
  return made
}

interface Default {
  readonly otherwise: Compute
  /** The error of a default that cannot be compiled: it matters only to evaluations that do not give the parameter. */
  readonly fault?: OperationError
}

function defaultOf(def: ElmNode, target: Library, shared: Shared): Default {
  const fallback = nodeAt(def, 'default')
  if (fallback === undefined) return { otherwise: NULL }
  try {
    return { otherwise: memoised(target, `parameter ${textAt(def, 'name') ?? ''}`, fallback, shared) }
  } catch (error) {
    if (error instanceof OperationError) return { otherwise: NULL, fault: error }
    throw error
  }
}

const NULL: Compute = () => null
