import { nodeAt, nodesAt, textAt, typeOf, type ElmNode } from './node.js'

/** The library whose functions convert FHIR elements to System values. It is built in, for every version of it. */
export const FHIR_HELPERS_LIBRARY = 'FHIRHelpers'

/** The sections of a library with declarations. */
export type ElmSection = 'includes' | 'parameters' | 'codeSystems' | 'valueSets' | 'codes' | 'concepts' | 'contexts' | 'statements'

/** The library of an ELM document: the member `library`, or the document itself. */
export function libraryIn(elm: ElmNode): ElmNode {
  return nodeAt(elm, 'library') ?? elm
}

/** The identifier of a library; `undefined` if it has none. */
export function identifierOf(library: ElmNode): ElmNode | undefined {
  return nodeAt(library, 'identifier')
}

/** The declarations of one section, with an index by name: libraries may have ten thousand, and refer to each by its name. */
interface Declared {
  readonly all: readonly ElmNode[]
  readonly named: ReadonlyMap<string | undefined, readonly ElmNode[]>
}

const declared = new WeakMap<ElmNode, Map<ElmSection, Declared>>()

function declaredIn(library: ElmNode, section: ElmSection): Declared {
  const sections = declared.get(library) ?? new Map<ElmSection, Declared>()
  declared.set(library, sections)
  const known = sections.get(section)
  if (known !== undefined) return known
  const all = nodesAt(nodeAt(library, section) ?? {}, 'def')
  const name = section === 'includes' ? 'localIdentifier' : 'name'
  const made = { all, named: Map.groupBy(all, (def) => textAt(def, name)) }
  sections.set(section, made)
  return made
}

/** The declarations in a section of a library, in their order. */
export function definitionsIn(library: ElmNode, section: ElmSection): readonly ElmNode[] {
  return declaredIn(library, section).all
}

/** The declarations in a section with a name (for includes, the local name); several only for overloaded functions. */
export function definitionsNamed(library: ElmNode, section: ElmSection, name: string | undefined): readonly ElmNode[] {
  return declaredIn(library, section).named.get(name) ?? []
}

/** Whether an entry of `statements` is a function. */
export function isFunction(def: ElmNode): boolean {
  return typeOf(def) === 'FunctionDef'
}

/** Names of the public definitions of a library, without functions and contexts. */
export function publicDefinitions(library: ElmNode): readonly string[] {
  return definitionsIn(library, 'statements')
    .filter((def) => !isFunction(def) && textAt(def, 'accessLevel') !== 'Private' && textAt(def, 'name') !== textAt(def, 'context'))
    .flatMap((def) => textAt(def, 'name') ?? [])
}

/** Names of the parameters that a library declares. */
export function parameterNames(library: ElmNode): readonly string[] {
  return definitionsIn(library, 'parameters').map((def) => textAt(def, 'name') ?? '')
}

/** A library that another includes. */
export interface Include {
  /** Its identifier without the namespace. */
  readonly id: string
  readonly namespace: string | undefined
  readonly version: string | undefined
}

/** The library that an entry of `includes` names. */
export function includeOf(def: ElmNode): Include {
  const path = textAt(def, 'path') ?? ''
  const id = path.split(/[./]/).at(-1) ?? ''
  return { id, namespace: path === id ? undefined : path.slice(0, -id.length - 1), version: textAt(def, 'version') }
}

/** The library that is included under a local name; `undefined` if there is none. */
export function includedAs(library: ElmNode, alias: string): Include | undefined {
  const [def] = definitionsNamed(library, 'includes', alias)
  return def === undefined ? undefined : includeOf(def)
}

/** Whether a node of a library calls a function of FHIRHelpers, under any local name. */
export function isHelperCall(library: ElmNode, node: ElmNode): boolean {
  const alias = typeOf(node) === 'FunctionRef' ? textAt(node, 'libraryName') : undefined
  return alias !== undefined && includedAs(library, alias)?.id === FHIR_HELPERS_LIBRARY
}
