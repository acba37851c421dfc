import { PENDING, type Pending } from '../../../fhirpath/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { TYPE_URL } from '../../../text/index.js'
import type { ElementIndex } from '../../run/indexes.js'
import type { Run } from '../../run/run.js'
import { elementAtPath } from '../../profile/element-at-path.js'

/** What an ElementDefinition is looked up by. */
export interface ElementName {
  readonly id: string | undefined
  readonly path: string
}

/**
 * What a definition, or the nearest of those on which it builds, says about an element: by id, else about all that it is a slice of. Below an element
 * of a data type that is what the type says.
 *
 * @param member What has to be said; without it anything.
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

/** The first of each in the snapshot, else in the differential. */
function elementIndex(definition: JsonObject): ElementIndex {
  const parts = ['snapshot', 'differential'].flatMap((part) => objectsAt(objectAt(definition, part), 'element')).toReversed()
  return {
    byId: new Map(parts.map((one) => [one['id'], one])),
    byPath: new Map(parts.filter(isOfAll).map((one) => [one['path'], one])),
    choices: parts.filter((one) => stringAt(one, 'path')?.endsWith('[x]')).toReversed(),
  }
}

/** Neither a slice nor in one. */
function isOfAll(element: JsonObject): boolean {
  return element['sliceName'] === undefined && stringAt(element, 'id')?.includes(':') !== true
}

/** `Observation.value[x]` for `Observation.valueQuantity`. */
function isChoiceOf(element: JsonObject, path: string): boolean {
  const own = stringAt(element, 'path') ?? ''
  return own.endsWith('[x]') && path.startsWith(own.slice(0, -3)) && /^[A-Z]\w*$/.test(path.slice(own.length - 3))
}

/** What the type of an element's parent says about it; `undefined` where that has several types, or is not known. */
export function elementOfType(run: Run, { path }: Pick<ElementName, 'path'>): JsonObject | undefined | Pending {
  const end = path.lastIndexOf('.')
  const [type, ...others] = end < 0 ? [] : (elementAtPath(run.model, path.slice(0, end))?.types ?? [])
  if (type === undefined || others.length > 0 || type.name.includes('.')) return undefined
  const found = run.definitions.definition('StructureDefinition', TYPE_URL + type.name)
  if (found === PENDING || found === undefined) return found
  return elementIn(run, found, { id: undefined, path: `${type.name}${path.slice(end)}` })
}
