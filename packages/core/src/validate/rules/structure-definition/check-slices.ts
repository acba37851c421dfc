import { quoted } from '../../../errors/index.js'
import { isObject, objectAt } from '../../../json/index.js'
import { PENDING } from '../../../fhirpath/index.js'
import { textOf } from '../../run/nodes.js'
import { baseElement } from './base-element.js'
import { snapshotIndexes } from './snapshot-index.js'
import { DEFINITION_SLICING, type DifferentialCheck, type ElementCheck } from './element-place.js'

/** Checks that slices are set up before they are used, that each has a name of its own, and that their numbers fit those of what is sliced. */
export async function checkSlices({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): Promise<void> {
  const base = textOf(definition, 'baseDefinition') ?? ''
  const seen = new Set<string>()
  const sliced = slicedIds(elements)
  const least = leastOfSlices(elements)
  const indexes = snapshotIndexes(run, { base, elements }, (id, path) => isSetUp({ run, sliced, path, id, base }))
  for (const element of elements) {
    const { node, path } = element
    const index = indexes.get(element)
    await run.scheduler.turn()
    const [name, id] = [textOf(node, 'sliceName'), textOf(node, 'id') ?? path]
    const say = (text: string, severity?: 'information'): void =>
      run.findings.report(DEFINITION_SLICING, definition, {
        text,
        code: 'value',
        ...(index !== undefined && { expression: `StructureDefinition.snapshot.element[${index}]` }),
        ...(severity !== undefined && { severity }),
      })
    if (name === undefined) {
      const text = numberProblem(node.value, { path, least: least.get(id) ?? 0 })
      if (text !== undefined) say(text, 'information')
      continue
    }
    if (seen.has(id)) {
      run.findings.report(DEFINITION_SLICING, definition, {
        text: `The id ${quoted(id)} is that of several elements.`,
        code: 'business-rule',
      })
      say(`The slice name ${quoted(name)} is used twice.`)
    }
    seen.add(id)
    if (isSetUp({ run, sliced, path, id, base })) continue
    say(`${quoted(id)} is a slice, but the slicing of ${quoted(path)} is not set up before it.`)
  }
}

/** Ids of the elements that the differential slices. */
function slicedIds(elements: readonly ElementCheck[]): ReadonlySet<string> {
  return new Set(
    elements.flatMap(({ node }) => (isObject(node.value) && node.value['slicing'] !== undefined ? (textOf(node, 'id') ?? []) : [])),
  )
}

/** What the slices of an element require together, by the id of the element. */
function leastOfSlices(elements: readonly ElementCheck[]): ReadonlyMap<string, number> {
  const least = new Map<string, number>()
  for (const { node } of elements) {
    const id = slicedBy(textOf(node, 'id') ?? '')
    const min = isObject(node.value) && textOf(node, 'sliceName') !== undefined ? node.value['min'] : undefined
    if (typeof min === 'number') least.set(id, (least.get(id) ?? 0) + min)
  }
  return least
}

/** `Patient.name` for `Patient.name:official`. */
function slicedBy(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf(':')))
}

interface SetUp {
  readonly run: DifferentialCheck['run']
  readonly sliced: ReadonlySet<string>
  readonly path: string
  readonly id: string
  readonly base: string
}

/** Types of a choice, and extensions, are slices without more ado. */
function isSetUp({ run, sliced, path, id, base }: SetUp): boolean {
  if (path.endsWith('[x]') || path.endsWith('xtension') || path.split('.').length === 1) return true
  const whole = slicedBy(id)
  if (sliced.has(whole) || whole.slice(whole.lastIndexOf('.') + 1).includes('/')) return true
  const found = baseElement(run, base, { id: whole, path })
  return found === PENDING || found === undefined || objectAt(found, 'slicing') !== undefined || found['sliceName'] !== undefined
}

interface Required {
  readonly path: string
  /** By its slices together. */
  readonly least: number
}

/** What is required of the slices together must not be more than what is said of the whole. */
function numberProblem(element: unknown, { path, least }: Required): string | undefined {
  if (!isObject(element) || element['slicing'] === undefined || typeof element['min'] !== 'number' || least <= element['min'])
    return undefined
  return `${quoted(path)} has min = ${element['min']}, but its slices add up to ${least}.`
}
