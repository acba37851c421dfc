import type { ElmNode } from '../elm/node.js'
import { unsupportedElm } from '../problem.js'
import type { Vocabulary } from '../values/value.js'
import type { Given, GivenSource, Places, CodeTest, Compiler, Evaluation, LibraryTerminology } from './compiler.js'

/** Creates the places of libraries that are compiled together. */
export function createPlaces(): Places {
  return { slots: 0, memo: 0, parameters: [], constants: [], tests: [], requests: [], announcements: [] }
}

/** Creates the values of an evaluation, whose places are empty. */
export function createGiven(source: GivenSource): Given {
  return { source, parameters: [], constants: [], tests: [], requests: [], announced: 0 }
}

/**
 * Fills the places that were added since the last call. A value may be made from those in places before it.
 *
 * @throws {OperationError} `parameter-value` for a parameter that is of another type than its library declares; `not-supported` if terminology is needed and there is none.
 */
export function fillPlaces(given: Given, places: Places): void {
  fill(given.parameters, places.parameters, given)
  fill(given.constants, places.constants, given)
  fill(given.tests, places.tests, given)
  fill(given.requests, places.requests, given)
  for (const announce of places.announcements.slice(given.announced)) announce(given.source.terminology)
  given.announced = places.announcements.length
}

function fill<T>(filled: T[], makers: readonly ((given: Given) => T)[], given: Given): void {
  for (const make of makers.slice(filled.length)) filled.push(make(given))
}

/** The value in a place. */
export function placed<T>(filled: readonly T[], place: number): T {
  const found = filled[place]
  if (found === undefined) throw new TypeError('An evaluation was begun before it had filled all places of what is compiled.')
  return found
}

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
