import { definitionsIn, identifierOf, includedAs, isHelperCall, libraryIn } from '../elm/library.js'
import { nodeAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import type { LoadedLibrary } from '../libraries/content.js'

/** The definitions and functions of libraries. */
export interface ElmDefinitions {
  /** The libraries, the evaluated one first. */
  readonly libraries: readonly ElmLibrary[]
  /** The expressions of all definitions and functions. */
  readonly roots: ReadonlySet<ElmNode>
  /** The expression that a reference names, within a library. */
  referred(node: ElmNode, library: string): ElmNode | undefined
  /** Whether a node of a library is a call of FHIRHelpers. */
  readonly isHelper: (node: ElmNode, library: string) => boolean
  /** The definition with this expression. */
  ofRoot(node: ElmNode): ElmDefinition | undefined
}

/** A library of ELM. */
interface ElmLibrary {
  readonly id: string
  /** `Name|version`. */
  readonly name: string
  readonly node: ElmNode
  readonly definitions: readonly ElmDefinition[]
}

/** A definition or function. */
export interface ElmDefinition {
  readonly name: string
  readonly node: ElmNode
  readonly expression: ElmNode
  readonly library: string
}

/** Reads the definitions of libraries and of the libraries that they include. */
export function elmDefinitions(loaded: readonly LoadedLibrary[]): ElmDefinitions {
  const libraries = new Map<string, ElmLibrary>()
  for (const { elm, includes } of loaded)
    for (const document of [elm, ...includes.values()]) {
      const library = elmLibrary(libraryIn(document))
      if (!libraries.has(library.id)) libraries.set(library.id, library)
    }
  const definitions = [...libraries.values()].flatMap((library) => library.definitions)
  const byRoot = new Map(definitions.map((definition) => [definition.expression, definition]))
  return {
    libraries: [...libraries.values()],
    roots: new Set(byRoot.keys()),
    ofRoot: (node) => byRoot.get(node),
    isHelper: (node, library) => isHelperCall(libraries.get(library)?.node ?? {}, node),
    referred: (node, library) => {
      const target = idOfIncluded(libraries.get(library)?.node, textAt(node, 'libraryName')) ?? library
      return libraries.get(target)?.definitions.find(({ name }) => name === textAt(node, 'name'))?.expression
    },
  }
}

function elmLibrary(node: ElmNode): ElmLibrary {
  const identifier = identifierOf(node) ?? {}
  const id = textAt(identifier, 'id') ?? ''
  const version = textAt(identifier, 'version')
  const definitions = definitionsIn(node, 'statements').flatMap((def) => {
    const [expression, name] = [nodeAt(def, 'expression'), textAt(def, 'name') ?? '']
    const isContext = name === textAt(def, 'context') && typeOf(expression ?? {}) === 'SingletonFrom'
    return expression === undefined || isContext ? [] : [{ name, node: def, expression, library: id }]
  })
  return { id, name: version === undefined ? id : `${id}|${version}`, node, definitions }
}

/** Id of the library that another includes under a local name. */
function idOfIncluded(library: ElmNode | undefined, alias: string | undefined): string | undefined {
  return library === undefined || alias === undefined ? undefined : includedAs(library, alias)?.id
}
