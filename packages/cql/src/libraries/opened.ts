import { quoted } from 'fhir-ops/internal/errors'
import type { Compute, Evaluation, Given, Places, Scope } from '../compile/compiler.js'
import type { Settled } from '../compile/settled.js'
import { definitionsNamed, identifierOf, includedAs, libraryIn, definitionsIn, type ElmSection, type Include } from '../elm/library.js'
import { isNode, nodesAt, textAt, nodeAt, typeOf, type ElmNode } from '../elm/node.js'
import { invalidElm, unsupportedElm } from '../problem.js'
import type { UnitConversion } from '../values/units.js'
import type { Value, Vocabulary, Code, Concept } from '../values/value.js'
import type { Constants } from './constants.js'
import type { LibraryOptions } from './library-options.js'

/** A definition of a library. */
export interface Definition {
  readonly name: string
  /** `Patient`, `Unfiltered` or another context. */
  readonly context: string
  readonly compute: Compute
  /** Whether other libraries may use it and results include it. */
  readonly isPublic: boolean
}

/** State that all libraries of one compilation share. */
export interface Shared {
  readonly options: LibraryOptions
  readonly libraries: Map<string, Library>
  readonly places: Places
  /** The values that an evaluation gives. */
  readonly given: (evaluation: Evaluation) => Given
  depth: number
  /** The conversion of units of the options, with its factors kept. */
  readonly convert: UnitConversion
  /** The evaluation that computes a definition. */
  running: Evaluation | undefined
  /** Number of nodes of the current definition or function that were compiled so far. */
  nodes: number
  /** Context of the definition that is being compiled. */
  context: string
  /** Constants that are computed during compilation, unless nodes are traced. */
  readonly constants: Constants
  /** Finds expressions that depend on one resource alone. */
  readonly settled: Settled
  /** Whether the current node is part of such an expression. */
  isSettled: boolean
  /** Compiles the expression of a definition or function. Its nodes do not count as nodes of the expressions that refer to it. */
  compile(library: Library, node: ElmNode, scope: Scope): Compiled
}

/** A compiled expression. */
export interface Compiled {
  readonly compute: Compute
  /** Steps of an evaluation, besides those that it counts itself. */
  readonly steps: number
}

/** The compiled body of a function. */
export interface FunctionBody extends Compiled {
  /** Slots of its operands. */
  readonly slots: readonly number[]
}

/** A compiled parameter. */
export interface Parameter {
  readonly compute: Compute
  /** Reads the value that an evaluation gives; `undefined` if its default applies. */
  readonly valueIn: (given: Given) => Value | undefined
}

/** A library whose definitions are compiled on demand. */
export interface Library {
  readonly node: ElmNode
  readonly id: string
  readonly definitions: Map<string, Definition>
  /** Nodes of definitions and functions that are being compiled, to detect recursion. */
  readonly open: Set<ElmNode>
  readonly functions: Map<ElmNode, FunctionBody>
  readonly parameters: Map<ElmNode, Parameter>
  readonly statesContext: boolean
  /** The code systems that it declares; one shared list. */
  systems?: readonly Vocabulary[]
}

/** A scope without aliases and operands. */
export const EMPTY_SCOPE: Scope = { aliases: new Map(), operands: new Map() }

/** Opens a library. @throws {OperationError} `definition-invalid` if `elm` is not a library, or was translated with errors. */
export function openLibrary(elm: unknown): Library {
  const node = isNode(elm) ? libraryIn(elm) : undefined
  const identifier = node === undefined ? undefined : identifierOf(node)
  if (node === undefined || identifier === undefined) throw invalidElm({}, 'The ELM has no library with an identifier.')
  const id = textAt(identifier, 'id') ?? ''
  const translationError = nodesAt(node, 'annotation').find((note) => textAt(note, 'errorSeverity') === 'error')
  if (translationError !== undefined)
    throw invalidElm(translationError, `The library ${id} was translated with errors: ${textAt(translationError, 'message')}`)
  return {
    node,
    id,
    definitions: new Map(),
    open: new Set(),
    functions: new Map(),
    parameters: new Map(),
    statesContext: statesContext(node),
  }
}

/** The library that a reference names by its local name; this one if it names none. */
export function libraryOf(node: ElmNode, library: Library, shared: Shared): Library {
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

/** The declaration in a section of a library with the name of a reference. */
export function definedIn(library: Library, section: ElmSection, node: ElmNode): ElmNode {
  const name = textAt(node, 'name')
  const [def] = definitionsNamed(library.node, section, name)
  if (def === undefined) throw invalidElm(node, `There is no ${quoted(name ?? '')} among the ${section} of library ${library.id}.`)
  return def
}

/** The context of a definition or function. */
export function contextIn(library: Library, def: ElmNode, { options: { subjectType = 'Patient' } }: Shared): string {
  const context = textAt(def, 'context') ?? subjectType
  return context === 'Unfiltered' && !library.statesContext ? subjectType : context
}

const UNFILTERED: ReadonlySet<string> = new Set(['Unfiltered', 'Population'])

/** Whether a context has no subject, so that retrieves find the resources of all subjects. */
export function isUnfilteredContext(context: string): boolean {
  return UNFILTERED.has(context)
}

/** Whether a library declares contexts. One that does not is evaluated for each subject, although the translator writes Unfiltered. */
export function statesContext(library: ElmNode): boolean {
  return definitionsIn(library, 'contexts').some((context) => textAt(context, 'name') !== 'Unfiltered')
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

/** Compiles in the context of a definition. */
export function inContext<T>(context: string, shared: Shared, compile: () => T): T {
  const outer = shared.context
  shared.context = context
  try {
    return compile()
  } finally {
    shared.context = outer
  }
}

/** Compiles a definition, and rejects one that refers to itself. */
export function guarded<T>(library: Library, what: string, node: ElmNode, compile: () => T): T {
  if (library.open.has(node)) throw invalidElm(node, `${what} in library ${library.id} is defined by itself, which is not supported.`)
  library.open.add(node)
  try {
    return compile()
  } finally {
    library.open.delete(node)
  }
}

/** The code that a reference names. */
export function codeOf(node: ElmNode, library: Library, shared: Shared): Code {
  const target = libraryOf(node, library, shared)
  const def = definedIn(target, 'codes', node)
  return codeWith(def, textAt(def, 'id'), { target, reference: nodeAt(def, 'codeSystem'), shared })
}

/** The code of an inline selector. */
export function inlineCode(node: ElmNode, library: Library, shared: Shared): Code {
  return codeWith(node, textAt(node, 'code'), { target: library, reference: nodeAt(node, 'system'), shared })
}

/** The concept that a reference names. */
export function conceptOf(node: ElmNode, library: Library, shared: Shared): Concept {
  const target = libraryOf(node, library, shared)
  const def = definedIn(target, 'concepts', node)
  const codes = nodesAt(def, 'code').map((code) => codeOf(code, target, shared))
  return { kind: 'concept', codes, display: textAt(def, 'display') ?? null }
}

interface CodePlace {
  readonly target: Library
  /** The reference to the code system. */
  readonly reference: ElmNode | undefined
  readonly shared: Shared
}

function codeWith(node: ElmNode, code: string | undefined, { target, reference, shared }: CodePlace): Code {
  const system = reference === undefined ? undefined : definedIn(libraryOf(reference, target, shared), 'codeSystems', reference)
  const declared = system && vocabularyIn(system, 'codeSystem')
  return {
    kind: 'code',
    code: code ?? null,
    system: declared?.id ?? null,
    version: declared?.version ?? null,
    display: textAt(node, 'display') ?? null,
  }
}

/** The value set or code system that a reference names. */
export function vocabularyOf(node: ElmNode, kind: Vocabulary['kind'], target: Library): Vocabulary {
  return vocabularyIn(definedIn(target, `${kind}s`, node), kind)
}

/** The code systems that a library declares. */
export function systemsIn(library: Library): readonly Vocabulary[] {
  library.systems ??= definitionsIn(library.node, 'codeSystems').map((def) => vocabularyIn(def, 'codeSystem'))
  return library.systems
}

/** A declared value set or code system. Its version may be stated with its id: `valueset "V": 'http://example.org/ValueSet/v|1'`. */
function vocabularyIn(def: ElmNode, kind: Vocabulary['kind']): Vocabulary {
  const [id = '', version] = (textAt(def, 'id') ?? '').split('|')
  return { kind, id, version: textAt(def, 'version') ?? version ?? null }
}
