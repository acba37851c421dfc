import { isObject, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { randomOf, type Random } from '../../fuzz/random.js'
import { sitesOf, type Site, type Specification } from '../mutation/site.js'
import { profileOn } from '../rules/profile-on.js'
import type { Run } from './case.js'
import { DEMANDS, type Place } from './demands.js'

const RUNS_PER_EXAMPLE = 16
const MOST_ELEMENTS = 4
const URL = 'http://oracle.test/StructureDefinition/'

/** An example, and the inputs for creating its profiles. */
interface ProfileInput {
  readonly specification: Specification
  readonly seed: number
  readonly name: string
  readonly resource: JsonObject
}

/** Creates random profiles for a resource, each with the resource that is validated against it. It conforms to some of them. */
export async function profileCases({ specification, seed, name, resource }: ProfileInput): Promise<readonly Run[]> {
  const type = String(resource['resourceType'])
  const places = placesOf(await sitesOf(specification, resource), type)
  const start = seed + Array.from(name).reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 65_536, 7)
  return Array.from({ length: RUNS_PER_EXAMPLE }, (_, number) => {
    const profile = profileOf({ type, url: `${URL}${type}-${start}-${number}`, places }, randomOf(start, number))
    return { change: 'profile', number, asked: { text: JSON.stringify(resource), profile } }
  })
}

interface Ordered extends Place {
  readonly order: string
}

function profileOf({ type, url, places }: { type: string; url: string; places: readonly Ordered[] }, random: Random): JsonObject {
  const chosen = Array.from({ length: 1 + random.whole(MOST_ELEMENTS) }, () => random.one(places))
  const demanded = new Map(chosen.map((place) => [place.path, place] as const))
  const element = [...demanded.values()]
    .toSorted((a, b) => (a.order < b.order ? -1 : 1))
    .flatMap((place) => random.one(DEMANDS.filter(({ fits }) => fits(place))).make(place, random))
  return { ...profileOn(type, url, element), id: url.slice(URL.length), fhirVersion: '4.0.1' }
}

/** The elements of a resource and its data types, present and absent ones, except elements inside choices. */
function placesOf(sites: readonly Site[], type: string): readonly Ordered[] {
  const holders = new Map<Site['node'], { path: string; order: string }>()
  const places = new Map<string, Ordered>()
  for (const site of sites) {
    const { node } = site
    const holder = node.parent === undefined ? { path: type, order: '' } : inHolder(node, holders)
    if (holder === undefined || !isObject(node.value)) continue
    holders.set(node, holder)
    for (const place of membersOf(site, holder)) if (!places.has(place.path)) places.set(place.path, place)
  }
  return [...places.values()]
}

const LEFT_OUT = /^(id|extension|modifierExtension|contained|text|meta|resource|implicitRules|language)$/

function inHolder(
  { parent, slot }: Site['node'],
  holders: ReadonlyMap<Site['node'], { path: string; order: string }>,
): { path: string; order: string } | undefined {
  const outer = parent === undefined ? undefined : holders.get(parent)
  if (outer === undefined || slot === undefined || slot.isChoice || LEFT_OUT.test(slot.name)) return undefined
  const position = parent === undefined ? 0 : [...parent.type.members.values()].findIndex(({ name }) => name === slot.name)
  return { path: `${outer.path}.${slot.name}`, order: `${outer.order}.${String(position).padStart(3, '0')}` }
}

function membersOf({ node, inside }: Site, holder: { path: string; order: string }): readonly Ordered[] {
  const { value } = node
  if (!isObject(value)) return []
  const slots = [...node.type.members.values()]
  return [...inside].flatMap(([name, element]) => {
    const position = slots.findIndex((slot) => slot.name === name)
    if (LEFT_OUT.test(name) || position < 0) return []
    const found = slots
      .filter((slot) => slot.name === name)
      .flatMap(({ jsonName }) => (Object.hasOwn(value, jsonName) ? [value[jsonName]].flat() : []))
    const step = (stringAt(element, 'path') ?? '').split('.').at(-1) ?? name
    return [{ path: `${holder.path}.${step}`, element, values: found, order: `${holder.order}.${String(position).padStart(3, '0')}` }]
  })
}
