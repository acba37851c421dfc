import { PENDING, type Pending } from '../../../fhirpath/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { TYPE_URL } from '../../../text/index.js'
import type { ElementIndex } from '../../run/indexes.js'
import type { Run } from '../../run/run.js'
import { placeOf } from '../../profile/element-at-path.js'

/** What an ElementDefinition is looked up by. */
export interface ElementName {
  readonly id: string | undefined
  readonly path: string
}

/**
 * What a definition, or the nearest of those on which it builds, says about an element: by id, else by path. Below an element of a data type that is
 * what the type says.
 */
export function baseElement(run: Run, canonical: string, name: ElementName): JsonObject | undefined | Pending {
  const seen = new Set<string>()
  for (let next: string | undefined = canonical; next !== undefined && !seen.has(next);) {
    seen.add(next)
    const found = run.definitions.definition('StructureDefinition', next)
    if (found === PENDING) return PENDING
    if (found === undefined) break
    const element = elementIn(run, found, name)
    if (element !== undefined) return element
    next = objectAt(found, 'snapshot') === undefined ? stringAt(found, 'baseDefinition') : undefined
  }
  return elementOfType(run, name)
}

function elementIn(run: Run, definition: JsonObject, { id, path }: ElementName): JsonObject | undefined {
  const known = run.indexes.elements.get(definition) ?? elementIndex(definition)
  run.indexes.elements.set(definition, known)
  const own = id === undefined ? undefined : known.byId.get(id)
  return own ?? known.byPath.get(path) ?? known.choices.find((one) => isChoiceOf(one, path))
}

/** The first of each in the snapshot, else in the differential. */
function elementIndex(definition: JsonObject): ElementIndex {
  const parts = ['snapshot', 'differential'].flatMap((part) => objectsAt(objectAt(definition, part), 'element')).toReversed()
  return {
    byId: new Map(parts.map((one) => [one['id'], one])),
    byPath: new Map(parts.filter((one) => one['sliceName'] === undefined).map((one) => [one['path'], one])),
    choices: parts.filter((one) => stringAt(one, 'path')?.endsWith('[x]')).toReversed(),
  }
}

/** `Observation.value[x]` for `Observation.valueQuantity`. */
function isChoiceOf(element: JsonObject, path: string): boolean {
  const own = stringAt(element, 'path') ?? ''
  return own.endsWith('[x]') && path.startsWith(own.slice(0, -3)) && /^[A-Z]\w*$/.test(path.slice(own.length - 3))
}

/** What the type of an element's parent says about it; `undefined` where that has several types, or is not known. */
export function elementOfType(run: Run, { path }: Pick<ElementName, 'path'>): JsonObject | undefined | Pending {
  const end = path.lastIndexOf('.')
  const [type, ...others] = end < 0 ? [] : (placeOf(run.model, path.slice(0, end))?.types ?? [])
  if (type === undefined || others.length > 0 || type.name.includes('.')) return undefined
  const found = run.definitions.definition('StructureDefinition', TYPE_URL + type.name)
  if (found === PENDING || found === undefined) return found
  return elementIn(run, found, { id: undefined, path: `${type.name}${path.slice(end)}` })
}
