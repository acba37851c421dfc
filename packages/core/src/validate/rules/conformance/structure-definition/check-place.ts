import { quoted } from '../../../../errors/index.js'
import type { FhirNode } from '../../../../fhirpath/index.js'
import { childrenOf, textOf } from '../../../walk/children.js'
import type { DifferentialCheck, ElementCheck } from './check-elements.js'

/** Checks that an element is of the definition's own type, and that it slices only what comes several times or is of several types. */
export function checkPlace({ run, definition, isConstraint }: DifferentialCheck, { node, path, place }: ElementCheck): void {
  const type = (textOf(definition, 'type') ?? '').replace(/^.*\//, '')
  const say = (at: FhirNode, text: string): void => run.sink.report('definition-path', at, { text, code: 'not-found' })
  if (type !== '' && path !== type && !path.startsWith(`${type}.`))
    say(node, `The path ${quoted(path)} does not start with the type ${quoted(type)}.`)
  if (isSingle(place, path))
    for (const slicing of childrenOf(run, node, 'slicing')) say(slicing, `${quoted(path)} comes only once, so there is nothing to slice.`)
  if (isConstraint && !/(?:^E|\.e)xtension$/.test(path) && childrenOf(run, node, 'meaningWhenMissing').length > 0)
    say(node, `Only the definition of the type says what it means when ${quoted(path)} is missing.`)
}

function isSingle(place: ElementCheck['place'], path: string): boolean {
  return place !== undefined && path.includes('.') && place.slots.every(({ isCollection, isChoice }) => !isCollection && !isChoice)
}
