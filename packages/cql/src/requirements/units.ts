import type { PinnedVersions } from 'fhir-ops/internal/evaluate'
import { formatCanonical } from 'fhir-ops/internal/content'
import { definitionsNamed, FHIR_HELPERS_LIBRARY, includedAs, libraryIn, type ElmSection } from '../elm/library.js'
import { textAt, type ElmNode } from '../elm/node.js'
import type { LoadedLibrary } from '../libraries/content.js'

/** An ELM library in which references are resolved. */
export interface Unit {
  readonly node: ElmNode
}

/** Resolves references of a library, and records their targets. */
export interface References {
  readonly loaded: LoadedLibrary
  /** Canonical url of the Library resource, from which those of included libraries are derived; `undefined` if it is not published. */
  readonly url: string | undefined
  /** Versions of value sets and code systems whose version is left open. */
  readonly pinned: PinnedVersions
  /** Canonicals of the libraries, value sets and code systems that were referred to. */
  readonly dependsOn: Set<string>
}

/** The library itself, as a unit. */
export function unitOfElm(elm: ElmNode): Unit {
  return { node: libraryIn(elm) }
}

/** Definitions and functions with a name. */
export function definitionsOf({ node }: Unit, name: string): readonly ElmNode[] {
  return definitionsNamed(node, 'statements', name)
}

/** The library to which a reference leads; `undefined` for the built-in one. */
export function unitOf(references: References, node: ElmNode, unit: Unit): Unit | undefined {
  const alias = textAt(node, 'libraryName')
  if (alias === undefined) return unit
  const { id, version } = includedAs(unit.node, alias) ?? { id: '', version: undefined }
  const elm = references.loaded.includes.get(id)
  if (id === FHIR_HELPERS_LIBRARY || elm === undefined) return undefined
  const { url } = references
  if (url !== undefined) {
    const canonical = `${url.slice(0, url.lastIndexOf('/'))}/${id}`
    references.dependsOn.add(formatCanonical(canonical, version ?? references.pinned.of(canonical)))
  }
  return unitOfElm(elm)
}

/** The declarations in a section of a library (`codes`, `valueSets` ...) with the name of a reference. */
export function definedIn(unit: Unit | undefined, section: ElmSection, node: ElmNode): readonly ElmNode[] {
  return unit === undefined ? [] : definitionsNamed(unit.node, section, textAt(node, 'name'))
}

/** A section of value sets or code systems. */
export type Section = 'valueSets' | 'codeSystems'

/** Returns and records the canonical of the value set or code system that a reference names. */
export function canonicalOfRef(
  references: References,
  ref: ElmNode,
  { unit, section }: { readonly unit: Unit; readonly section: Section },
): string | undefined {
  const [def] = definedIn(unitOf(references, ref, unit), section, ref)
  const [id, version] = [textAt(def ?? {}, 'id'), textAt(def ?? {}, 'version')]
  if (id === undefined) return undefined
  const canonical = formatCanonical(id, version ?? references.pinned.of(id))
  references.dependsOn.add(canonical)
  return canonical
}
