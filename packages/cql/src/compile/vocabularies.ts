import type { ElmNode } from '../elm/node.js'
import { unsupportedElm } from '../problem.js'
import type { Vocabulary } from '../values/value.js'
import type { CodeTest, Compiler, Evaluation, LibraryTerminology } from './compiler.js'
import { placed } from './given.js'

/** Adds a place for the membership test of a value set or code system. */
export function membershipOf(vocabulary: Vocabulary, node: ElmNode, { places, given }: Compiler): (evaluation: Evaluation) => CodeTest {
  const place = places.tests.push(({ source }) => requireTerminology(source.terminology, node).membership(vocabulary)) - 1
  return (evaluation) => placed(given(evaluation).tests, place)
}

/** Makes a call of the terminology before anything is evaluated, so that it can load what the node needs. */
export function announce(
  { places, given }: Compiler,
  node: ElmNode,
  ask: (terminology: LibraryTerminology) => unknown,
): (evaluation: Evaluation) => LibraryTerminology {
  places.announcements.push((terminology) => void ask(requireTerminology(terminology, node)))
  return (evaluation) => requireTerminology(given(evaluation).source.terminology, node)
}

/** @throws {OperationError} `not-supported` if there is no terminology. */
export function requireTerminology(terminology: LibraryTerminology | undefined, node: ElmNode): LibraryTerminology {
  if (terminology !== undefined) return terminology
  throw unsupportedElm(node, 'No terminology is available to this evaluation.')
}
