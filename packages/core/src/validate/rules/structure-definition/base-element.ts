import { PENDING, type Pending } from '../../../fhirpath/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { TYPE_URL } from '../../../text/index.js'
import type { ElementIndex } from '../../run/indexes.js'
import type { Run } from '../../run/run.js'
import { elementAtPath } from '../../profile/element-at-path.js'
import { OperationError } from '../../../errors/index.js'
import { buildSnapshot, type BuiltSnapshot, type SnapshotSource } from '../../../snapshot/index.js'

/** Id and path, by which an ElementDefinition is looked up. */
export interface ElementName {
  readonly id: string | undefined
  readonly path: string
}

/**
 * The ElementDefinition of an element in a definition or the nearest of its bases: by id, or else that of the element of which it is a slice. Below an
 * element of a data type, that of the type.
 *
 * @param member The member that the ElementDefinition must have; any ElementDefinition will do when absent.
 */
export function baseElement(run: Run, canonical: string, name: ElementName, member?: string): JsonObject | undefined | Pending {
  const seen = new Set<string>()
  for (let next: string | undefined = canonical; next !== undefined && !seen.has(next);) {
    seen.add(next)
    const found = run.definitions.definition('StructureDefinition', next)
    if (found === PENDING) return PENDING
    if (found === undefined) break
    const element = elementIn(run, found, name)
    if (element !== undefined && (member === undefined || element[member] !== undefined)) return element
    next = objectAt(found, 'snapshot') === undefined ? stringAt(found, 'baseDefinition') : undefined
  }
  return elementOfType(run, name)
}

function elementIn(run: Run, definition: JsonObject, { id, path }: ElementName): JsonObject | undefined {
  const known = run.indexes.elements.get(definition) ?? elementIndex(definition)
  run.indexes.elements.set(definition, known)
  for (let next = id; next !== undefined; next = withoutLastSlice(next)) {
    const own = known.byId.get(next)
    if (own !== undefined) return own
  }
  return known.byPath.get(path) ?? known.choices.find((one) => isChoiceOf(one, path))
}

/** `Patient.name:a.given` for `Patient.name:a.given:b`, `Patient.name:a` for `Patient.name:a/b`; `undefined` where there is no slice. */
function withoutLastSlice(id: string): string | undefined {
  const start = Math.max(id.lastIndexOf(':'), id.lastIndexOf('/'))
  if (start < 0) return undefined
  const end = id.indexOf('.', start)
  return id.slice(0, start) + (end < 0 ? '' : id.slice(end))
}

/** Indexes the ElementDefinitions. Of several, the first in the snapshot counts, or else the first in the differential. */
function elementIndex(definition: JsonObject): ElementIndex {
  const parts = ['snapshot', 'differential'].flatMap((part) => objectsAt(objectAt(definition, part), 'element')).toReversed()
  return {
    byId: new Map(parts.map((one) => [one['id'], one])),
    byPath: new Map(parts.filter(isOfAll).map((one) => [one['path'], one])),
    choices: parts.filter((one) => stringAt(one, 'path')?.endsWith('[x]')).toReversed(),
  }
}

/** True for an element that is neither a slice nor in one. */
function isOfAll(element: JsonObject): boolean {
  return element['sliceName'] === undefined && stringAt(element, 'id')?.includes(':') !== true
}

/** True for the element `Observation.value[x]` and the path `Observation.valueQuantity`. */
function isChoiceOf(element: JsonObject, path: string): boolean {
  const own = stringAt(element, 'path') ?? ''
  return own.endsWith('[x]') && path.startsWith(own.slice(0, -3)) && /^[A-Z]\w*$/.test(path.slice(own.length - 3))
}

/** The ElementDefinition of an element in the type of its parent; `undefined` when the parent has several types, or an unknown one. */
export function elementOfType(run: Run, { path }: Pick<ElementName, 'path'>): JsonObject | undefined | Pending {
  const end = path.lastIndexOf('.')
  const [type, ...others] = end < 0 ? [] : (elementAtPath(run.model, path.slice(0, end))?.types ?? [])
  if (type === undefined || others.length > 0 || type.name.includes('.')) return undefined
  const found = run.definitions.definition('StructureDefinition', TYPE_URL + type.name)
  if (found === PENDING || found === undefined) return found
  return elementIn(run, found, { id: undefined, path: `${type.name}${path.slice(end)}` })
}

/** The snapshot that a differential results in; `undefined` when it cannot be applied, or when a definition is pending. */
export async function builtSnapshot({ definitions, scheduler }: Run, definition: JsonObject): Promise<BuiltSnapshot | undefined> {
  let isPending = false
  const find: SnapshotSource['find'] = (canonical) => {
    const found = definitions.definition('StructureDefinition', canonical)
    isPending ||= found === PENDING
    return Promise.resolve(found === PENDING ? undefined : found)
  }
  try {
    const built = await buildSnapshot(definition, { pace: { step: scheduler.turn }, find })
    return isPending ? undefined : built
  } catch (error) {
    // Other rules report bases that are unknown, circular or of another type.
    if (error instanceof OperationError && UNFIT.has(error.code)) return undefined
    throw error
  }
}

const UNFIT: ReadonlySet<string> = new Set(['definition-invalid', 'definition-not-found', 'too-costly'])

/** The snapshot of a known definition: its own, or else the result of its differential; `undefined` when that cannot be applied. */
export async function snapshotOf(run: Run, canonical: string): Promise<readonly JsonObject[] | undefined | Pending> {
  const found = run.definitions.definition('StructureDefinition', canonical)
  if (found === undefined || found === PENDING) return found
  const own = objectsAt(objectAt(found, 'snapshot'), 'element')
  return own.length > 0 ? own : (await builtSnapshot(run, found))?.elements
}
