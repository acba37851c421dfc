import { quoted } from '../../../errors/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import type { Run } from '../../run/run.js'
import { equals } from '../value/compare-json.js'
import { slicedElements, type SlicedElement } from './slice-numbers.js'
import { statedIn } from './stated-value.js'

/** Why a profile does not comply with another one, or why this is not known. */
export interface ComplianceProblem {
  readonly text: string
  /** False when it is not known whether the profile complies. */
  readonly isCertain: boolean
}

/** The elements of two snapshots: of a profile, and of the one with which it claims to comply. */
export interface Compared {
  readonly run: Run
  readonly own: readonly JsonObject[]
  readonly claimed: readonly JsonObject[]
}

/** The correspondence between the slices of two profiles. */
export interface SlicePairs {
  /** The ids in the profile that correspond to an id in the other one: several if several slices correspond, none if it has no such slice. */
  readonly idsOf: (id: string) => readonly string[]
  readonly problems: readonly ComplianceProblem[]
}

/** Pairs the slices of two profiles by the values of their discriminators, and those without such values by their names. */
export async function slicePairs({ run, own, claimed }: Compared): Promise<SlicePairs> {
  const pairs = new Map<string, readonly string[]>()
  const idsOf = (id: string): readonly string[] => {
    const end = id.lastIndexOf('.')
    return pairs.get(id) ?? (end < 0 ? [id] : idsOf(id.slice(0, end)).map((above) => above + id.slice(end)))
  }
  const mine = new Map((await slicedElements(run, own)).map((sliced) => [stringAt(sliced.element, 'id') ?? '', sliced]))
  const [elements, others] = [byId(own), byId(claimed)]
  const problems: string[] = []
  for (const theirs of await slicedElements(run, claimed)) {
    await run.scheduler.turn()
    for (const id of idsOf(stringAt(theirs.element, 'id') ?? '')) {
      const sides: Sides = { id, mine: mine.get(id), theirs, elements, others }
      problems.push(...slicingProblems(sides))
      for (const slice of theirs.slices) pairSlice(slice, sides, { pairs, problems })
    }
  }
  return { idsOf, problems: problems.map((text) => ({ text, isCertain: true })) }
}

function byId(elements: readonly JsonObject[]): ReadonlyMap<string, JsonObject> {
  return new Map(elements.map((element) => [stringAt(element, 'id') ?? '', element]))
}

/** A sliced element in both profiles. */
interface Sides {
  readonly id: string
  /** `undefined` when the profile does not slice it. */
  readonly mine: SlicedElement | undefined
  readonly theirs: SlicedElement
  readonly elements: ReadonlyMap<string, JsonObject>
  readonly others: ReadonlyMap<string, JsonObject>
}

function slicingProblems({ id, mine, theirs }: Sides): readonly string[] {
  const [own, claimed] = [objectAt(mine?.element, 'slicing'), objectAt(theirs.element, 'slicing')]
  const rules = stringAt(claimed, 'rules') ?? 'open'
  if (mine === undefined || mine.slices.length === 0)
    return rules === 'closed' || theirs.slices.some(({ min }) => Number(min) > 0) ? [`${quoted(id)} has no slices`] : []
  const lacking = objectsAt(claimed, 'discriminator').filter(
    ({ type, path }) => !objectsAt(own, 'discriminator').some((one) => one['type'] === type && one['path'] === path),
  )
  return [
    ...(rules === 'open' || own?.['rules'] === rules ? [] : [`the slicing of ${quoted(id)} is not ${rules}`]),
    ...(claimed?.['ordered'] === true && own?.['ordered'] !== true ? [`the slices of ${quoted(id)} are not ordered`] : []),
    ...lacking.map(({ type, path }) => `${quoted(id)} is not sliced by ${String(type)} of ${quoted(String(path))}`),
  ]
}

function pairSlice(
  slice: JsonObject,
  sides: Sides,
  { pairs, problems }: { readonly pairs: Map<string, readonly string[]>; readonly problems: string[] },
): void {
  const { id, mine, elements } = sides
  const discriminators = objectsAt(objectAt(sides.theirs.element, 'slicing'), 'discriminator')
  const found = (mine?.slices ?? []).filter((one) => isSame(one, slice, { discriminators, sides }))
  // A choice that is narrowed to the type of the slice corresponds to the slice.
  const whole = elements.get(id)
  const isNarrowed = mine === undefined && whole !== undefined && id.endsWith('[x]') && equals(typesOf(whole), typesOf(slice))
  const key = stringAt(slice, 'id') ?? ''
  pairs.set(key, [...(pairs.get(key) ?? []), ...(isNarrowed ? [id] : found.map((one) => stringAt(one, 'id') ?? ''))])
  if (found.length === 0 && mine !== undefined && mine.slices.length > 0)
    problems.push(`${quoted(id)} has no slice that corresponds to ${quoted(stringAt(slice, 'sliceName') ?? '')}`)
}

interface Discriminating {
  readonly discriminators: readonly JsonObject[]
  readonly sides: Sides
}

function isSame(own: JsonObject, claimed: JsonObject, { discriminators, sides }: Discriminating): boolean {
  const isNamedSo = own['sliceName'] === claimed['sliceName']
  return discriminators.every((discriminator) => {
    const mine = discriminatorValue(own, discriminator, sides.elements)
    const theirs = discriminatorValue(claimed, discriminator, sides.others)
    return mine === undefined && theirs === undefined ? isNamedSo : equals(mine, theirs)
  })
}

/** The value that a slice states for a discriminator; `undefined` when it states none, or in another resource. */
function discriminatorValue(slice: JsonObject, { type, path }: JsonObject, elements: ReadonlyMap<string, JsonObject>): unknown {
  const steps = String(path)
    .split('.')
    .filter((step) => step !== '$this')
  if (steps.some((step) => step.includes('('))) return undefined
  const id = [stringAt(slice, 'id') ?? '', ...steps].join('.')
  const element = elements.get(id)
  if (type === 'type') return element && typesOf(element)
  if (type === 'profile') return profilesOf(element)
  if (type === 'exists') return element?.['max'] === '0' ? false : Number(element?.['min']) > 0 || undefined
  return statedAlong(slice, steps, elements) ?? profilesOf(slice) ?? stringAt(objectAt(element, 'binding'), 'valueSet')
}

/** A fixed value or pattern of the element at the end of a path, or of one on the way. */
function statedAlong(slice: JsonObject, steps: readonly string[], elements: ReadonlyMap<string, JsonObject>): unknown {
  for (let depth = steps.length; depth >= 0; depth--) {
    const element = elements.get([stringAt(slice, 'id') ?? '', ...steps.slice(0, depth)].join('.'))
    const value = element && memberAlong((statedIn(element, 'fixed') ?? statedIn(element, 'pattern'))?.value, steps.slice(depth))
    if (value !== undefined) return value
  }
  return undefined
}

function memberAlong(value: unknown, steps: readonly string[]): unknown {
  let current = value
  for (const step of steps) {
    const object: unknown = Array.isArray(current) ? current[0] : current
    if (!isObject(object)) return undefined
    current = object[step]
  }
  return current
}

function typesOf(element: JsonObject): readonly unknown[] {
  return objectsAt(element, 'type').map(({ code }) => code)
}

/** The profiles of the first type that has any; `undefined` when none has. */
function profilesOf(element: JsonObject | undefined): unknown {
  return objectsAt(element, 'type').find(({ profile }) => profile !== undefined)?.['profile']
}
