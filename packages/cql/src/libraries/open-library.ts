import type { Compute } from '../compile/compiler.js'
import { createRemembering, type Remembering } from '../compile/remembered.js'
import { freeNames } from '../compile/settled.js'
import { definitionsIn, definitionsNamed, FHIR_HELPERS_LIBRARY, identifierOf, includedAs, isFunction, libraryIn } from '../elm/library.js'
import { isNode, nodeAt, nodesAt, textAt, type ElmNode } from '../elm/node.js'
import { invalidElm } from '../problem.js'
import type { Vocabulary } from '../values/value.js'
import type { Constants } from './constants.js'
import { contextOf, isContextSubject, statesContext } from './context.js'
import type { LibraryOptions, Taken } from './library-options.js'

/** A definition of a library. */
export interface Definition {
  readonly name: string
  /** `Patient`, `Unfiltered` or another context. */
  readonly context: string
  readonly compute: Compute
  /** Whether other libraries may use it, and results name it. */
  readonly isPublic: boolean
}

/** What all libraries of one compilation share. */
export interface Shared {
  readonly options: LibraryOptions
  readonly libraries: Map<string, Library>
  readonly taken: Taken
  depth: number
  /** Nodes of the definition or function that is being compiled, which were compiled so far. */
  nodes: number
  /** Context of the definition that is being compiled. */
  context: string
  /** Found where nobody looks on at nodes. */
  readonly constants: Constants
}

/** A function that is compiled. */
export interface FunctionBody {
  readonly compute: Compute
  /** What a call takes. */
  readonly steps: number
}

/** A library that is being compiled. */
export interface Library {
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
  readonly remembering: Remembering
}

/** @throws {OperationError} `definition-invalid` for what is not a library, or one that was translated with errors. */
export function openLibrary(elm: unknown, shared: Shared): Library {
  const node = isNode(elm) ? libraryIn(elm) : undefined
  const identifier = node === undefined ? undefined : identifierOf(node)
  if (node === undefined || identifier === undefined) throw invalidElm({}, 'The ELM has no library with an identifier.')
  const id = textAt(identifier, 'id')
  const translationError = nodesAt(node, 'annotation').find((note) => textAt(note, 'errorSeverity') === 'error')
  if (translationError !== undefined)
    throw invalidElm(translationError, `The library ${id} was translated with errors: ${textAt(translationError, 'message')}`)
  const systems = definitionsIn(node, 'codeSystems').map((def) => vocabularyIn(def, 'codeSystem'))
  const library: Omit<Library, 'remembering'> = {
    node,
    id: id ?? '',
    definitions: new Map(),
    open: new Set(),
    functions: new Map(),
    operands: new Map(),
    systems,
    statesContext: statesContext(node),
  }
  const free = freeNames({
    isSubject: (reference) => textAt(reference, 'libraryName') === undefined && isSubject(library, textAt(reference, 'name') ?? '', shared),
    isHelper: (call) => includedAs(node, textAt(call, 'libraryName') ?? '')?.id === FHIR_HELPERS_LIBRARY,
  })
  return { ...library, remembering: createRemembering(shared.taken.remembered, free) }
}

type Statements = Pick<Library, 'node' | 'statesContext'>

function isSubject(library: Statements, name: string, shared: Shared): boolean {
  const def = expressionNamed(library, name)
  return def !== undefined && isContextSubject(name, contextIn(library, def, shared), nodeAt(def, 'expression') ?? {})
}

/** The definition with a name that is no function. */
export function expressionNamed({ node }: Statements, name: string): ElmNode | undefined {
  return definitionsNamed(node, 'statements', name).find((one) => !isFunction(one))
}

/** The context of a definition or function of a library. */
export function contextIn({ statesContext: isStated }: Statements, def: ElmNode, { options }: Shared): string {
  return contextOf(def, { isStated, subjectType: options.subjectType ?? 'Patient' })
}

/** What a library declares as a value set or code system. */
export function vocabularyIn(def: ElmNode, kind: Vocabulary['kind']): Vocabulary {
  return { kind, id: textAt(def, 'id') ?? '', version: textAt(def, 'version') ?? null }
}
