import { quoted } from '../../../errors/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { elementAtPath } from '../../profile/element-at-path.js'
import { textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { equals } from '../value/check-value.js'
import { baseElement, DEFINITION_SLICING, type DifferentialCheck, type ElementCheck, idOf, typeSlice } from './base-element.js'

/**
 * Checks that slicing is set up before its slices, that each slice has a name of its own, that none sets up the slicing again, and that the numbers of
 * slices fit those of the sliced element.
 */
export async function checkSlices(check: DifferentialCheck, elements: readonly ElementCheck[]): Promise<void> {
  const { run, definition } = check
  const base = textOf(definition, 'baseDefinition') ?? ''
  const seen = new Set<string>()
  const sliced = new Set<string>()
  const wholes = new Set(elements.map(idOf))
  const indexes = snapshotIndexes(run, { base, elements }, { sliced: new Set(elements.flatMap(slicedNames)), base })
  for (const element of elements) {
    const { node, path } = element
    const index = indexes.get(element)
    await run.scheduler.turn()
    const [name, id] = [textOf(node, 'sliceName'), idOf(element)]
    const isKnown = isSetUp(element, { sliced, base })
    for (const own of slicedNames(element)) sliced.add(own)
    if (name === undefined) {
      if (isNameless(id, path) && wholes.has(slicedBy(id)))
        run.findings.report(DEFINITION_SLICING, definition, { text: `The slice ${quoted(id)} has no name.`, code: 'business-rule' })
      continue
    }
    const say = (text: string): void =>
      run.findings.report(DEFINITION_SLICING, definition, {
        text,
        code: 'value',
        ...(index !== undefined && { expression: inSnapshot(index) }),
      })
    const key = id === path ? id : `${slicedBy(id)}:${name}`
    if (seen.has(key) && id !== path) {
      run.findings.report(DEFINITION_SLICING, definition, {
        text: `The id ${quoted(key)} is that of several elements.`,
        code: 'business-rule',
      })
      say(`The slice name ${quoted(name)} is used twice.`)
    }
    seen.add(key)
    if (isKnown) continue
    say(`${quoted(id)} is a slice, but the slicing of ${quoted(path)} is not set up before it.`)
  }
  await checkNumbers(check, elements)
  checkRedefined(check, elements)
}

/** True for the id of a slice without a name: its path is that of the sliced element. */
function isNameless(id: string, path: string): boolean {
  const [last = '', name] = id.slice(id.lastIndexOf('.') + 1).split(':', 2)
  return name !== undefined && !last.endsWith('[x]') && last === path.slice(path.lastIndexOf('.') + 1)
}

/** The names by which slices can refer to an element, if the differential slices it. */
function slicedNames(element: ElementCheck): readonly string[] {
  const { node, path } = element
  if (!isObject(node.value) || node.value['slicing'] === undefined) return []
  const id = idOf(element)
  return id.includes(':') ? [id] : [id, path]
}

interface Slicings {
  /** Ids of the sliced elements, and their paths. */
  readonly sliced: ReadonlySet<string>
  readonly base: string
}

/** Whether the slicing of an element is set up. Extensions, and choices by type, are always sliced. */
function isSetUp(element: ElementCheck, { sliced, base }: Slicings): boolean {
  const { run, path } = element
  if (path.endsWith('xtension') || !path.includes('.') || isForType(element)) return true
  const id = idOf(element)
  const whole = slicedBy(id)
  if (sliced.has(id.includes(':') ? whole : path) || whole.slice(whole.lastIndexOf('.') + 1).includes('/')) return true
  const found = baseElement(run, base, { id: whole, path })
  return found === PENDING || found === undefined || objectAt(found, 'slicing') !== undefined || found['sliceName'] !== undefined
}

function isForType(element: ElementCheck): boolean {
  const { node, path } = element
  return typeSlice(element) !== undefined || (path.endsWith('[x]') && isObject(node.value) && node.value['type'] !== undefined)
}

/**
 * The positions of a differential's elements in the resulting snapshot: the position of the base's element, after the elements that earlier ones added. A
 * slice adds itself, and an element inside a data type adds all elements of the type. Empty when the base has no snapshot.
 */
function snapshotIndexes(
  run: Run,
  { base, elements }: { readonly base: string; readonly elements: readonly ElementCheck[] },
  slicings: Slicings,
): ReadonlyMap<ElementCheck, number> {
  const found = run.definitions.definition('StructureDefinition', base)
  const paths =
    found === undefined || found === PENDING ? [] : objectsAt(objectAt(found, 'snapshot'), 'element').map((one) => stringAt(one, 'path'))
  const places = new Map(paths.toReversed().map((path, index) => [path, paths.length - 1 - index]))
  const indexes = new Map<ElementCheck, number>()
  const open = new Set<string>()
  let added = 0
  for (const element of elements) {
    const { node, path } = element
    const place = places.get(path)
    const id = textOf(node, 'id') ?? path
    if (textOf(node, 'sliceName') !== undefined) {
      if (open.has(path) || isSetUp(element, slicings)) added++
      open.add(path)
    } else if (place === undefined) {
      const parent = id.slice(0, Math.max(0, id.lastIndexOf('.')))
      if (!open.has(parent))
        added += elementAtPath(run.model, path.slice(0, Math.max(0, path.lastIndexOf('.'))))?.types[0]?.elements.size ?? 0
      open.add(parent)
    }
    if (place !== undefined) indexes.set(element, place + added)
  }
  return indexes
}

/** Reports a slice that sets up slicing again. It may only set up slices of its own, other than extensions. */
function checkRedefined({ run, definition }: DifferentialCheck, elements: readonly ElementCheck[]): void {
  const resliced = new Set(elements.map((element) => outerSlice(idOf(element))))
  const slicings = new Map(elements.map((element) => [idOf(element), slicingOf(element)]))
  for (const element of elements) {
    const [id, own, name] = [idOf(element), slicingOf(element), textOf(element.node, 'sliceName')]
    const outer = slicings.get(slicedBy(id))
    if (name === undefined || own === undefined || outer === undefined || isSlicedInBase(definition, element)) continue
    if (resliced.has(id) && !element.path.endsWith('xtension')) continue
    const isSame = equals(own, outer)
    run.findings.report(DEFINITION_SLICING, definition, {
      text: `${quoted(slicedBy(id))} sets up slicing, and its slice ${quoted(name)} sets up ${isSame ? 'the same again' : 'another'}.`,
      code: 'business-rule',
      severity: isSame ? 'information' : 'error',
    })
  }
}

/** Whether the base slices an element. Extensions do not count, because they are sliced everywhere. */
function isSlicedInBase(definition: FhirNode, { run, node, path }: ElementCheck): boolean {
  const id = slicedBy(textOf(node, 'id') ?? '')
  const found = path.endsWith('xtension') ? undefined : baseElement(run, textOf(definition, 'baseDefinition') ?? '', { id, path })
  return found !== undefined && (found === PENDING || found['slicing'] !== undefined)
}

function slicingOf({ node: { value } }: ElementCheck): JsonObject | undefined {
  return isObject(value) ? objectAt(value, 'slicing') : undefined
}

/** `Patient.name:a` for `Patient.name:a/b`. */
function outerSlice(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf('/')))
}

/** A sliced element of a snapshot and its slices, without the slices of slices. */
export interface SlicedElement {
  /** Index in the snapshot. */
  readonly index: number
  readonly element: JsonObject
  readonly slices: readonly JsonObject[]
}

/** The sliced elements of a snapshot, in its order. */
export async function slicedElements({ scheduler }: Run, snapshot: readonly JsonObject[]): Promise<readonly SlicedElement[]> {
  const sliced = new Map<string, SlicedElement & { readonly slices: JsonObject[] }>()
  for (const [index, element] of snapshot.entries()) {
    await scheduler.turn()
    const [id, name] = [stringAt(element, 'id') ?? '', stringAt(element, 'sliceName')]
    if (element['slicing'] !== undefined) sliced.set(id, { index, element, slices: [] })
    if (name?.includes('/') === false) sliced.get(slicedBy(id))?.slices.push(element)
  }
  return [...sliced.values()]
}

/** `Patient.name` for `Patient.name:official`. */
function slicedBy(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf(':')))
}

/** The path of an element in the snapshot that a differential results in. */
export function inSnapshot(index: number): string {
  return `StructureDefinition.snapshot.element[${index}]`
}

/**
 * Checks that the sums of the minimums and maximums of slices fit the cardinality that the differential states for the sliced element. Choices of types are
 * skipped, because they have at most one value.
 */
async function checkNumbers({ run, definition, built }: DifferentialCheck, elements: readonly ElementCheck[]): Promise<void> {
  if (built === undefined) return
  const own = new Map(elements.map((element) => [idOf(element), element]))
  const touched = new Set([...own.keys()].flatMap((id) => [id, slicedBy(id)]))
  for (const sliced of await slicedElements(run, built.elements)) {
    await run.scheduler.turn()
    const id = stringAt(sliced.element, 'id') ?? ''
    if (!touched.has(id) || id.endsWith('[x]')) continue
    const stated = own.get(id)
    for (const [text, severity] of numberProblems(sliced, stated && statedMinimum(definition, stated)))
      run.findings.report(DEFINITION_SLICING, definition, {
        text: `${quoted(id)} ${text}.`,
        code: 'value',
        severity,
        expression: inSnapshot(sliced.index),
      })
  }
}

/** The minimum in the differential, or else in the base. That in the snapshot is not used: it is that of the slices if this is higher. */
function statedMinimum(definition: FhirNode, element: ElementCheck): number {
  const { run, node, path } = element
  if (isObject(node.value) && typeof node.value['min'] === 'number') return node.value['min']
  const base = baseElement(run, textOf(definition, 'baseDefinition') ?? '', { id: idOf(element), path })
  return base === undefined || base === PENDING ? 0 : leastOf(base)
}

/** @param min The minimum that is stated for the sliced element itself, if any. */
function numberProblems(
  { element, slices }: SlicedElement,
  min: number | undefined,
): readonly (readonly [text: string, severity: 'information' | 'warning'])[] {
  const [least, most, max] = [
    sum(slices.map(leastOf)),
    sum(slices.map((slice) => Math.min(mostOf(slice), mostOf(element)))),
    mostOf(element),
  ]
  return [
    ...(least > (min ?? least) ? [[`has min = ${min}, but its slices add up to ${least}`, 'information'] as const] : []),
    ...(most > max ? [[`has max = ${max}, but its slices add up to ${most}`, 'information'] as const] : []),
    ...(least > most ? [[`has slices that require ${least}, but allow ${most} only`, 'warning'] as const] : []),
  ]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function leastOf({ min }: JsonObject): number {
  return typeof min === 'number' ? min : 0
}

function mostOf({ max }: JsonObject): number {
  return max === '*' || max === undefined ? Number.POSITIVE_INFINITY : Number(shownJson(max))
}
