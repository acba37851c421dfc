import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'
import { textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { baseElement } from './base-element.js'
import { DEFINITION_SLICING, idOf, type DifferentialCheck, type ElementCheck } from './element-place.js'

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
export function slicedBy(id: string): string {
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
export async function checkNumbers({ run, definition, built }: DifferentialCheck, elements: readonly ElementCheck[]): Promise<void> {
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
  return max === '*' || max === undefined ? Number.POSITIVE_INFINITY : Number(max)
}
