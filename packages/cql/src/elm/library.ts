import { nodeAt, nodesAt, textAt, typeOf, type ElmNode } from './node.js'

/** The library whose functions turn FHIR elements into System values. It is built in, for every version of it. */
export const FHIR_HELPERS_LIBRARY = 'FHIRHelpers'

/** Where a library lists what it declares. */
export type ElmSection = 'includes' | 'parameters' | 'codeSystems' | 'valueSets' | 'codes' | 'concepts' | 'contexts' | 'statements'

/** The library of an ELM document: that of `{ library: {...} }`, or the document itself. */
export function libraryIn(elm: ElmNode): ElmNode {
  return nodeAt(elm, 'library') ?? elm
}

/** The identifier that a library states for itself; `undefined` when it has none. */
export function identifierOf(library: ElmNode): ElmNode | undefined {
  return nodeAt(library, 'identifier')
}

/** The parts of one library by section and name: libraries may define ten thousand things, and refer to each by its name. */
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

/** What a section of a library declares, in its order. */
export function definitionsIn(library: ElmNode, section: ElmSection): readonly ElmNode[] {
  return declaredIn(library, section).all
}

/** What a section declares under a name, includes under their local one; more than one only where functions are overloaded. */
export function definitionsNamed(library: ElmNode, section: ElmSection, name: string | undefined): readonly ElmNode[] {
  return declaredIn(library, section).named.get(name) ?? []
}

/** Whether an entry of `statements` is a function. */
export function isFunction(def: ElmNode): boolean {
  return typeOf(def) === 'FunctionDef'
}

/** Names of the public definitions of a library, functions and contexts not among them. */
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
  /** Its identifier without the namespace, however that is written. */
  readonly id: string
  readonly version: string | undefined
}

/** What an entry of `includes` names. */
export function includeOf(def: ElmNode): Include {
  return { id: (textAt(def, 'path') ?? '').split(/[./]/).at(-1) ?? '', version: textAt(def, 'version') }
}

/** What a library includes under a local name; `undefined` when there is nothing. */
export function includedAs(library: ElmNode, alias: string): Include | undefined {
  const [def] = definitionsNamed(library, 'includes', alias)
  return def === undefined ? undefined : includeOf(def)
}

/** Whether a node of a library is a call of FHIRHelpers, whatever that is called there. */
export function isHelperCall(library: ElmNode, node: ElmNode): boolean {
  const alias = typeOf(node) === 'FunctionRef' ? textAt(node, 'libraryName') : undefined
  return alias !== undefined && includedAs(library, alias)?.id === FHIR_HELPERS_LIBRARY
}
