import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'

/** Longer lists, such as those of all units or currencies, are not kept. */
const MOST_CODES = 500

/** The codes of value sets, by url; those of which not all codes are in the definitions are left out. */
export function codesOfValueSets(resources: readonly JsonObject[], urls: ReadonlySet<string>): Record<string, readonly string[]> {
  const [systems, valueSets] = ['CodeSystem', 'ValueSet'].map((type) => byUrl(resources, type))
  const found: Record<string, readonly string[]> = {}
  for (const url of [...urls].toSorted()) {
    const codes = codesOf(valueSets?.get(url), systems ?? new Map())
    if (codes !== undefined && codes.length > 0 && codes.length <= MOST_CODES) found[url] = codes
  }
  return found
}

function byUrl(resources: readonly JsonObject[], type: string): ReadonlyMap<string, JsonObject> {
  const found = resources.filter(({ resourceType }) => resourceType === type)
  return new Map(
    found.flatMap((resource) => (stringAt(resource, 'url') === undefined ? [] : [[stringAt(resource, 'url') ?? '', resource]])),
  )
}

function codesOf(valueSet: JsonObject | undefined, systems: ReadonlyMap<string, JsonObject>): readonly string[] | undefined {
  const compose = objectAt(valueSet, 'compose')
  const includes = objectsAt(compose, 'include')
  if (includes.length === 0 || objectsAt(compose, 'exclude').length > 0) return undefined
  const codes: string[] = []
  for (const include of includes) {
    const included = codesIncluded(include, systems)
    if (included === undefined) return undefined
    codes.push(...included)
  }
  return [...new Set(codes)]
}

function codesIncluded(include: JsonObject, systems: ReadonlyMap<string, JsonObject>): readonly string[] | undefined {
  if (include['filter'] !== undefined || include['valueSet'] !== undefined) return undefined
  const listed = objectsAt(include, 'concept')
  if (listed.length > 0) return listed.flatMap((concept) => stringAt(concept, 'code') ?? [])
  const system = systems.get(stringAt(include, 'system') ?? '')
  return system?.['content'] === 'complete' ? allCodes(system) : undefined
}

function allCodes(system: JsonObject): readonly string[] {
  const codes: string[] = []
  const open: JsonObject[] = [system]
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    for (const concept of objectsAt(holder, 'concept').filter(isObject)) {
      codes.push(stringAt(concept, 'code') ?? '')
      open.push(concept)
    }
  }
  return codes
}
