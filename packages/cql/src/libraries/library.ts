import { NODE_COMPILERS } from '../compile/registry.js'
import type { Compiler, Compute, LibraryTerminology, References, Scope } from '../compile/compiler.js'
import { forEachItem } from '../compile/operators.js'
import {
  definitionsIn,
  definitionsNamed,
  FHIR_HELPERS_LIBRARY,
  identifierOf,
  includedAs,
  isFunction,
  libraryIn,
  parameterNames,
  type ElmSection,
  type Include,
} from '../elm/library.js'
import { quoted } from 'fhir-ops/internal/errors'
import { isNode, MAX_DEPTH, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { FHIR_HELPERS } from '../model/fhir-helpers.js'
import { declaredValue, parameterType } from './declared.js'
import { checkReference, contextOf, isContextSubject, isUnfilteredContext, statesContext } from './context.js'
import { createConstants, type Constants } from './constants.js'
import type { LibraryOptions } from './library-options.js'
import { bySignature, fits } from './overloads.js'
import { invalidElm, unsupportedElm } from '../problem.js'
import type { Code, Value, Vocabulary } from '../values/value.js'

/** A definition of a library. */
export interface Definition {
  readonly name: string
  /** `Patient`, `Unfiltered` or another context. */
  readonly context: string
  readonly compute: Compute
  /** Whether other libraries may use it, and results name it. */
  readonly isPublic: boolean
}

/** A compiled library. */
export interface CqlLibrary {
  readonly id: string
  readonly version: string | undefined
  /** Names of its definitions, in their order; functions are not among them. */
  readonly names: readonly string[]
  /** A definition. @throws {OperationError} `definition-invalid` when it cannot be compiled; `undefined` when there is none. */
  definition(name: string): Definition | undefined
  /** The functions with a name, by their number of operands. */
  invocable(name: string, operands: readonly Compute[]): Compute | undefined
  /** Names of the parameters that it declares. */
  readonly parameters: readonly string[]
}

/** What all libraries of one compilation share. */
interface Shared {
  readonly options: LibraryOptions
  readonly libraries: Map<string, Library>
  readonly taken: { slots: number; memo: number }
  depth: number
  /** Nodes of the definition or function that is being compiled, which were compiled so far. */
  nodes: number
  /** Context of the definition that is being compiled. */
  context: string
  /** Found where nobody looks on at nodes. */
  readonly constants: Constants
}

interface FunctionBody {
  readonly compute: Compute
  /** What a call takes. */
  readonly steps: number
}

interface Library {
  readonly node: ElmNode
  readonly id: string
  readonly definitions: Map<string, Definition>
  /** Definitions and functions that are being compiled, to notice recursion. */
  readonly open: Set<string>
  readonly functions: Map<ElmNode, FunctionBody>
  readonly operands: Map<ElmNode, readonly number[]>
  /** The code systems that it declares. */
  readonly systems: readonly Vocabulary[]
  readonly statesContext: boolean
}

/**
 * Compiles a library from its ELM.
 *
 * Nothing is compiled before it is asked for, so a definition that cannot be compiled hinders no other.
 *
 * @param elm The JSON form of ELM, `{ library: {...} }` or the library itself.
 * @throws {OperationError} `definition-invalid` when it is not an ELM library or cannot be compiled, `not-supported` for nodes that are not
 *   understood, naming them.
 */
export function compileLibrary(elm: unknown, options: LibraryOptions): CqlLibrary {
  const { taken = { slots: 0, memo: 0 } } = options
  const constants = createConstants(options.offset ?? 0)
  const shared: Shared = { options, libraries: new Map(), taken, depth: 0, nodes: 0, context: options.subjectType ?? 'Patient', constants }
  const library = openLibrary(elm)
  const definitions = definitionsIn(library.node, 'statements').filter((def) => !isFunction(def))
  return {
    id: library.id,
    version: textAt(identifierOf(library.node) ?? {}, 'version'),
    names: definitions.map((def) => textAt(def, 'name') ?? ''),
    definition: (name) => definitionOf(library, name, shared),
    invocable: (name, operands) => {
      const candidates = functionsOf(library, name, operands.length)
      return candidates.length === 0 ? undefined : callOf(library, candidates, operands, shared)
    },
    parameters: parameterNames(library.node),
  }
}

function openLibrary(elm: unknown): Library {
  const node = isNode(elm) ? libraryIn(elm) : undefined
  const identifier = node === undefined ? undefined : identifierOf(node)
  if (node === undefined || identifier === undefined) throw invalidElm({}, 'The ELM has no library with an identifier.')
  const id = textAt(identifier, 'id')
  const translationError = nodesAt(node, 'annotation').find((note) => textAt(note, 'errorSeverity') === 'error')
  if (translationError !== undefined)
    throw invalidElm(translationError, `The library ${id} was translated with errors: ${textAt(translationError, 'message')}`)
  const systems = definitionsIn(node, 'codeSystems').map((def) => vocabularyIn(def, 'codeSystem'))
  return {
    node,
    id: id ?? '',
    definitions: new Map(),
    open: new Set(),
    functions: new Map(),
    operands: new Map(),
    systems,
    statesContext: statesContext(node),
  }
}

function definitionOf(library: Library, name: string, shared: Shared): Definition | undefined {
  const known = library.definitions.get(name)
  if (known !== undefined) return known
  const def = definitionsNamed(library.node, 'statements', name).find((one) => !isFunction(one))
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

function contextIn({ statesContext: isStated }: Library, def: ElmNode, { options }: Shared): string {
  return contextOf(def, { isStated, subjectType: options.subjectType ?? 'Patient' })
}

/** Compiles within the context of a definition. */
function inContext<T>(context: string, shared: Shared, compile: () => T): T {
  const outer = shared.context
  shared.context = context
  try {
    return compile()
  } finally {
    shared.context = outer
  }
}

const subject: Compute = (evaluation) => evaluation.subject

function memoised(library: Library, name: string, expression: ElmNode, shared: Shared): Compute {
  const slot = shared.taken.memo++
  const compute = guarded(library, `define ${name}`, expression, () => compileIn(library, expression, EMPTY_SCOPE, shared))
  if (shared.constants.has(compute)) return compute
  return (evaluation) => {
    const known = evaluation.memo[slot]
    if (known !== undefined) return known
    const value = compute(evaluation)
    evaluation.memo[slot] = value
    return value
  }
}

const EMPTY_SCOPE: Scope = { aliases: new Map(), operands: new Map() }

/** Compiles while noticing that something is defined by itself. */
function guarded<T>(library: Library, what: string, node: ElmNode, compile: () => T): T {
  if (library.open.has(what)) throw invalidElm(node, `${what} in library ${library.id} is defined by itself, which is not supported.`)
  library.open.add(what)
  try {
    return compile()
  } finally {
    library.open.delete(what)
  }
}

/** Compiles the expression of a definition or function. What refers to it does not evaluate its nodes each time, or counts a call as such. */
function compileIn(library: Library, node: ElmNode, scope: Scope, shared: Shared): Compute {
  return withSteps(library, node, scope, shared)[0]
}

function withSteps(library: Library, node: ElmNode, scope: Scope, shared: Shared): readonly [compute: Compute, steps: number] {
  const outer = shared.nodes
  shared.nodes = 0
  try {
    const compiler = compilerOf(library, shared)
    return forEachItem(compiler, () => compiler.compile(node, scope))
  } finally {
    shared.nodes = outer
  }
}

function compilerOf(library: Library, shared: Shared): Compiler {
  const { options } = shared
  const compiler: Compiler = {
    convert: options.convert,
    model: options.model,
    offset: options.offset ?? 0,
    isLookedOn: options.trace !== undefined,
    isUnfiltered: () => isUnfilteredContext(shared.context),
    onRetrieve: (request, node) => options.onRetrieve?.(request, node),
    slot: () => shared.taken.slots++,
    nodes: () => shared.nodes,
    references: referencesOf(library, shared),
    compile: (node, scope) => {
      const type = typeOf(node)
      const compile = Object.hasOwn(NODE_COMPILERS, type) ? NODE_COMPILERS[type] : undefined
      if (compile === undefined)
        throw unsupportedElm(node, `The ELM node ${type === '' ? 'without a type' : quoted(type)} is not supported.`)
      const compiled = (): Compute => nested(node, shared, () => compile(node, scope, compiler))
      return options.trace === undefined ? shared.constants.folded(type, compiled) : options.trace(compiled(), node, scope, library.id)
    },
  }
  return compiler
}

/** Compiles one level deeper. */
function nested<T>(node: ElmNode, shared: Shared, compile: () => T): T {
  if (shared.depth >= MAX_DEPTH) throw invalidElm(node, `Expressions may be nested ${MAX_DEPTH} deep.`)
  shared.depth++
  shared.nodes++
  try {
    return compile()
  } finally {
    shared.depth--
  }
}

function referencesOf(library: Library, shared: Shared): References {
  const at = (node: ElmNode): Library => libraryOf(node, library, shared)
  return {
    expression: (node) => {
      const target = at(node)
      const name = textAt(node, 'name') ?? ''
      const found = guarded(target, `the reference to ${name}`, node, () => definitionOf(target, name, shared))
      if (found === undefined) throw invalidElm(node, `There is no definition ${quoted(name)} in library ${target.id}.`)
      if (target.statesContext) checkReference(node, found, shared.context)
      return found.compute
    },
    parameter: (node) => parameterOf(node, at(node), shared),
    given: (node) => givenValue(definedIn(at(node), 'parameters', node), shared),
    invoke: (node, operands) => invocationOf(node, operands, library, shared),
    isHelper: (node) => isHelper(node, library),
    code: (node) => codeOf(node, at(node), shared),
    inlineCode: (node) => codeWith(node, textAt(node, 'code'), { target: library, reference: nodeAt(node, 'system'), shared }),
    concept: (node) => {
      const target = at(node)
      const def = definedIn(target, 'concepts', node)
      const codes = nodesAt(def, 'code').map((code) => codeOf(code, libraryOf(code, target, shared), shared))
      return { kind: 'concept', codes, display: textAt(def, 'display') ?? null }
    },
    vocabulary: (node, kind) => vocabularyOf(node, kind, at(node)),
    terminology: (node) => terminologyOf(node, shared),
    systems: () => library.systems,
  }
}

function terminologyOf(node: ElmNode, { options }: Shared): LibraryTerminology {
  if (options.terminology !== undefined) return options.terminology
  throw unsupportedElm(node, 'No terminology is available to this evaluation.')
}

/** The library that a reference names by its local name: this one when it names none. */
function libraryOf(node: ElmNode, library: Library, shared: Shared): Library {
  const alias = textAt(node, 'libraryName')
  if (alias === undefined) return library
  const { id, version } = included(alias, library, node)
  const key = `${id}|${version ?? ''}`
  const known = shared.libraries.get(key)
  if (known !== undefined) return known
  const elm = shared.options.include?.(id, version)
  if (elm === undefined) throw invalidElm(node, `The library ${id}${version === undefined ? '' : ` version ${version}`} is not available.`)
  const opened = openLibrary(elm)
  shared.libraries.set(key, opened)
  return opened
}

function included(alias: string, library: Library, node: ElmNode): Include {
  const include = includedAs(library.node, alias)
  if (include === undefined) throw invalidElm(node, `The library ${library.id} includes nothing as ${quoted(alias)}.`)
  return include
}

function definedIn(library: Library, section: ElmSection, node: ElmNode): ElmNode {
  const name = textAt(node, 'name')
  const [def] = definitionsNamed(library.node, section, name)
  if (def === undefined) throw invalidElm(node, `There is no ${quoted(name ?? '')} among the ${section} of library ${library.id}.`)
  return def
}

function codeOf(node: ElmNode, target: Library, shared: Shared): Code {
  const def = definedIn(target, 'codes', node)
  return codeWith(def, textAt(def, 'id'), { target, reference: nodeAt(def, 'codeSystem'), shared })
}

interface CodePlace {
  readonly target: Library
  /** The reference to the code system. */
  readonly reference: ElmNode | undefined
  readonly shared: Shared
}

function codeWith(node: ElmNode, code: string | undefined, { target, reference, shared }: CodePlace): Code {
  const system = reference === undefined ? undefined : definedIn(libraryOf(reference, target, shared), 'codeSystems', reference)
  return {
    kind: 'code',
    code: code ?? null,
    system: system === undefined ? null : (textAt(system, 'id') ?? null),
    version: system === undefined ? null : (textAt(system, 'version') ?? null),
    display: textAt(node, 'display') ?? null,
  }
}

function vocabularyOf(node: ElmNode, kind: Vocabulary['kind'], target: Library): Vocabulary {
  return vocabularyIn(definedIn(target, `${kind}s`, node), kind)
}

function vocabularyIn(def: ElmNode, kind: Vocabulary['kind']): Vocabulary {
  return { kind, id: textAt(def, 'id') ?? '', version: textAt(def, 'version') ?? null }
}

function parameterOf(node: ElmNode, target: Library, shared: Shared): Compute {
  const def = definedIn(target, 'parameters', node)
  const given = givenValue(def, shared)
  if (given !== undefined) return () => given
  const fallback = nodeAt(def, 'default')
  return fallback === undefined ? () => null : memoised(target, `parameter ${textAt(def, 'name') ?? ''}`, fallback, shared)
}

function givenValue(def: ElmNode, { options }: Shared): Value | undefined {
  const value = options.parameters?.(textAt(def, 'name') ?? '', parameterType(def))
  return value === undefined ? undefined : declaredValue(value, def, options.model)
}

function invocationOf(node: ElmNode, operands: readonly Compute[], library: Library, shared: Shared): Compute {
  const name = textAt(node, 'name') ?? ''
  if (isHelper(node, library)) {
    const helper = Object.hasOwn(FHIR_HELPERS, name) ? FHIR_HELPERS[name] : undefined
    const [operand] = operands
    if (helper === undefined || operand === undefined)
      throw unsupportedElm(node, `The function ${quoted(name)} of FHIRHelpers is not supported.`)
    const context = { model: shared.options.model, offset: shared.options.offset ?? 0 }
    return (evaluation) => {
      const value = operand(evaluation)
      evaluation.spend(1)
      return value === null ? null : helper(value, context)
    }
  }
  const target = libraryOf(node, library, shared)
  const overloads = functionsOf(target, name, operands.length)
  const candidates = bySignature(overloads, node)
  if (candidates.length === 0)
    throw invalidElm(node, `There is no function ${quoted(name)} with ${operands.length} operands in library ${target.id}.`)
  return callOf(target, candidates, operands, shared)
}

function isHelper(node: ElmNode, library: Library): boolean {
  const alias = textAt(node, 'libraryName')
  return alias !== undefined && included(alias, library, node).id === FHIR_HELPERS_LIBRARY
}

function functionsOf(library: Library, name: string, arity: number): readonly ElmNode[] {
  return definitionsNamed(library.node, 'statements', name).filter((def) => isFunction(def) && nodesAt(def, 'operand').length === arity)
}

/** A call of one function or, where several overloads are left, of the first whose operand types fit the values. */
function callOf(library: Library, candidates: readonly ElmNode[], operands: readonly Compute[], shared: Shared): Compute {
  const targets = candidates.map((def) => ({ def, body: bodyOf(library, def, shared), slots: library.operands.get(def) ?? [] }))
  const [only] = targets
  if (only === undefined) throw invalidElm({}, 'There is no such function.')
  return (evaluation) => {
    const values = operands.map((operand) => operand(evaluation))
    const target = targets.length === 1 ? only : (targets.find(({ def }) => fits(def, values, shared.options.model)) ?? only)
    for (const [index, slot] of target.slots.entries()) evaluation.slots[slot] = values[index] ?? null
    evaluation.spend(target.body.steps)
    return target.body.compute(evaluation)
  }
}

function bodyOf(library: Library, def: ElmNode, shared: Shared): FunctionBody {
  const known = library.functions.get(def)
  if (known !== undefined) return known
  const name = textAt(def, 'name') ?? ''
  const expression = nodeAt(def, 'expression')
  if (expression === undefined) throw unsupportedElm(def, `The function ${quoted(name)} is external; external functions are not supported.`)
  const operands = nodesAt(def, 'operand').map((operand) => [textAt(operand, 'name') ?? '', shared.taken.slots++] as const)
  const scope: Scope = { aliases: new Map(), operands: new Map(operands) }
  const compiled = (): readonly [compute: Compute, steps: number] => withSteps(library, expression, scope, shared)
  const context = library.statesContext ? contextIn(library, def, shared) : shared.context
  const [compute, steps] = guarded(library, `function ${name}/${operands.length}`, def, () => inContext(context, shared, compiled))
  const body = { compute, steps }
  library.functions.set(def, body)
  library.operands.set(
    def,
    operands.map(([, slot]) => slot),
  )
  return body
}
