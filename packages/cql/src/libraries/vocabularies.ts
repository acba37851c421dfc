import { definitionsIn } from '../elm/library.js'
import { nodeAt, nodesAt, textAt, type ElmNode } from '../elm/node.js'
import type { Code, Concept, Vocabulary } from '../values/value.js'
import { definedIn, libraryOf, type Library, type Shared } from './opened.js'

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
  return {
    kind: 'code',
    code: code ?? null,
    system: system === undefined ? null : (textAt(system, 'id') ?? null),
    version: system === undefined ? null : (textAt(system, 'version') ?? null),
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

function vocabularyIn(def: ElmNode, kind: Vocabulary['kind']): Vocabulary {
  return { kind, id: textAt(def, 'id') ?? '', version: textAt(def, 'version') ?? null }
}
