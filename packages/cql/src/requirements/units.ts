import type { LoadedLibrary } from '../libraries/content.js'
import { nodeAt, nodesAt, textAt, type ElmNode } from '../elm/node.js'

/** An ELM library; references are read in it. */
export interface Unit {
  readonly node: ElmNode
}

/** Where references of a library lead, and what they have led to so far. */
export interface References {
  readonly loaded: LoadedLibrary
  /** Canonical url of the Library resource, by which those of included libraries are made; none where it is not published. */
  readonly url: string | undefined
  /** Canonicals of the libraries, value sets and code systems that were referred to. */
  readonly dependsOn: Set<string>
}

const BUILT_IN = 'FHIRHelpers'

/** The library itself, as a unit. */
export function unitOfElm(elm: ElmNode): Unit {
  return { node: nodeAt(elm, 'library') ?? elm }
}

/** Definitions and functions of a name. */
export function definitionsOf({ node }: Unit, name: string): readonly ElmNode[] {
  return nodesAt(nodeAt(node, 'statements') ?? {}, 'def').filter((def) => textAt(def, 'name') === name)
}

/** The library that a reference leads to; `undefined` for what is built in. */
export function unitOf(references: References, node: ElmNode, unit: Unit): Unit | undefined {
  const alias = textAt(node, 'libraryName')
  if (alias === undefined) return unit
  const include = nodesAt(nodeAt(unit.node, 'includes') ?? {}, 'def').find((def) => textAt(def, 'localIdentifier') === alias)
  const id = (textAt(include ?? {}, 'path') ?? '').split(/[./]/).at(-1) ?? ''
  const elm = references.loaded.includes.get(id)
  if (id === BUILT_IN || elm === undefined) return undefined
  const version = textAt(include ?? {}, 'version')
  const { url } = references
  if (url !== undefined)
    references.dependsOn.add(`${url.slice(0, url.lastIndexOf('/'))}/${id}${version === undefined ? '' : `|${version}`}`)
  return unitOfElm(elm)
}

/** What a section of a library (`codes`, `valueSets` ...) has under the name of a reference. */
export function definedIn(unit: Unit | undefined, section: string, node: ElmNode): readonly ElmNode[] {
  const name = textAt(node, 'name')
  return unit === undefined ? [] : nodesAt(nodeAt(unit.node, section) ?? {}, 'def').filter((def) => textAt(def, 'name') === name)
}

/** A section of value sets or code systems. */
export type Section = 'valueSets' | 'codeSystems'

/** The canonical of a value set or code system that a reference names, which is noted. */
export function canonicalOfRef(
  references: References,
  ref: ElmNode,
  { unit, section }: { readonly unit: Unit; readonly section: Section },
): string | undefined {
  const [def] = definedIn(unitOf(references, ref, unit), section, ref)
  const [id, version] = [textAt(def ?? {}, 'id'), textAt(def ?? {}, 'version')]
  if (id === undefined) return undefined
  const canonical = version === undefined ? id : `${id}|${version}`
  references.dependsOn.add(canonical)
  return canonical
}
