import { quoted } from '../../../errors/index.js'
import { isObject, objectAt, type JsonObject } from '../../../json/index.js'
import { PENDING } from '../../../fhirpath/index.js'
import { textOf } from '../../run/nodes.js'
import { baseElement } from './base-element.js'
import { DEFINITION_SLICING, type DifferentialCheck, type ElementCheck } from './element-place.js'

/** Where an element is in the snapshot that a differential gives. */
export type SnapshotIndex = (id: string) => number | undefined

/** Checks that slices are set up before they are used, that each has a name of its own, and that their numbers fit those of what is sliced. */
export function checkSlices({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[], indexOf: SnapshotIndex): void {
  const base = textOf(definition, 'baseDefinition') ?? ''
  const seen = new Set<string>()
  for (const { node, path } of elements) {
    const [name, id] = [textOf(node, 'sliceName'), textOf(node, 'id') ?? path]
    const say = (text: string, severity?: 'information'): void =>
      run.findings.report(DEFINITION_SLICING, definition, {
        text,
        code: 'value',
        ...placeIn(indexOf(id)),
        ...(severity !== undefined && { severity }),
      })
    if (name === undefined) {
      const text = numberProblem(elements, { path, id, element: node.value })
      if (text !== undefined) say(text, 'information')
      continue
    }
    if (seen.has(id)) say(`The slice name ${quoted(name)} is used twice.`)
    seen.add(id)
    if (isSetUp({ run, elements, path, id, base })) continue
    say(`${quoted(id)} is a slice, but the slicing of ${quoted(path)} is not set up before it.`)
  }
}

function placeIn(index: number | undefined): { expression?: string } {
  return index === undefined ? {} : { expression: `StructureDefinition.snapshot.element[${index}]` }
}

interface SetUp {
  readonly run: DifferentialCheck['run']
  readonly elements: readonly ElementCheck[]
  readonly path: string
  readonly id: string
  readonly base: string
}

/** Types of a choice, and extensions, are slices without more ado. */
function isSetUp({ run, elements, path, id, base }: SetUp): boolean {
  if (path.endsWith('[x]') || path.endsWith('xtension') || path.split('.').length === 1) return true
  const sliced = id.slice(0, Math.max(0, id.lastIndexOf(':')))
  const own = elements.some(
    ({ node }) => isObject(node.value) && (textOf(node, 'id') ?? '') === sliced && node.value['slicing'] !== undefined,
  )
  if (own || sliced.slice(sliced.lastIndexOf('.') + 1).includes('/')) return true
  const found = baseElement(run, base, { id: sliced, path })
  return found === PENDING || found === undefined || objectAt(found, 'slicing') !== undefined || found['sliceName'] !== undefined
}

interface Sliced {
  readonly path: string
  readonly id: string
  readonly element: unknown
}

/** What is required of the slices together must not be more than what is said of the whole. */
function numberProblem(elements: readonly ElementCheck[], { path, id, element }: Sliced): string | undefined {
  if (!isObject(element) || element['slicing'] === undefined || typeof element['min'] !== 'number') return undefined
  const slices = elements.flatMap(({ node: { value }, path: own }): JsonObject[] =>
    own === path && isObject(value) && String(value['id']).startsWith(`${id}:`) && value['sliceName'] !== undefined ? [value] : [],
  )
  const least = slices.reduce((sum, { min }) => sum + (typeof min === 'number' ? min : 0), 0)
  return least > element['min'] ? `${quoted(path)} has min = ${element['min']}, but its slices add up to ${least}.` : undefined
}
