import { quoted } from '../../../errors/index.js'
import { isSubtype, PENDING } from '../../../fhirpath/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject, isObject, shownJson } from '../../../json/index.js'
import { extensionValues, R5_ELEMENT } from '../../profile/value-rule.js'
import type { Run } from '../../run/run.js'
import { compareValues } from '../value/check-limits.js'
import { contains, equals } from '../value/check-value.js'
import { elementOfType, textsAt } from './base-element.js'
import { codesBeside, statedIn } from './check-changes.js'
import { slicedElements, type SlicedElement } from './check-slices.js'

/**
 * Problems with a claim that everything which conforms to a profile conforms to another one, too: each element of the other must have a counterpart that
 * requires at least as much.
 *
 * @see https://hl7.org/fhir/extensions/StructureDefinition-structuredefinition-compliesWithProfile.html
 */
export async function complianceProblems(compared: Compared): Promise<readonly ComplianceProblem[]> {
  const { run, own, claimed } = compared
  const pairs = await slicePairs(compared)
  const known = new Map(own.map((element) => [stringAt(element, 'id') ?? '', element]))
  const problems: ComplianceProblem[] = [...pairs.problems]
  for (const element of claimed) {
    await run.scheduler.turn()
    for (const mine of counterparts(run, element, { pairs, known }))
      for (const problem of elementProblems(run, mine, element)) problems.push(problem)
  }
  return problems
}

interface Counterparts {
  readonly pairs: SlicePairs
  readonly known: ReadonlyMap<string, JsonObject>
}

/**
 * The counterparts of an element of the claimed profile: the same element, or else the sliced one, or else that of the type. None when the profile has no
 * such slice, or forbids an element around it.
 */
function counterparts(run: Run, claimed: JsonObject, { pairs, known }: Counterparts): readonly JsonObject[] {
  const [id, path] = [stringAt(claimed, 'id') ?? '', stringAt(claimed, 'path') ?? '']
  return pairs.idsOf(id).flatMap((own) => {
    if (outerIds(own).some((outer) => known.get(outer)?.['max'] === '0')) return []
    const origin = known.get(own) ?? known.get(path) ?? elementOfType(run, { path })
    return origin === undefined || origin === PENDING ? [] : [origin]
  })
}

function outerIds(id: string): readonly string[] {
  const steps = id.split('.')
  return steps.slice(1).map((_, index) => steps.slice(0, index + 1).join('.'))
}

function elementProblems(run: Run, own: JsonObject, claimed: JsonObject): readonly ComplianceProblem[] {
  const name = stringAt(own, 'id') ?? stringAt(own, 'path') ?? ''
  const numbers = numberProblems(own, claimed)
  const isForbidden = own['max'] === '0'
  const values = isForbidden
    ? []
    : [
        ...valueProblems(own, claimed),
        ...typeProblems(run, own, claimed),
        ...limitProblems(own, claimed),
        ...constraintProblems(own, claimed),
      ]
  const certain = [...numbers, ...values].map((text) => ({ text, isCertain: true }))
  const codes = isForbidden ? [] : bindingProblems(run, own, claimed)
  return [...certain, ...codes].map(({ text, isCertain }) => ({ text: `${quoted(name)} ${text}`, isCertain }))
}

function numberProblems(own: JsonObject, claimed: JsonObject): readonly string[] {
  const [least, most] = [own, claimed].map(({ max }) =>
    max === '*' || max === undefined ? Number.POSITIVE_INFINITY : Number(shownJson(max)),
  )
  const [min, theirs] = [own, claimed].map((element) => (typeof element['min'] === 'number' ? element['min'] : 0))
  return [
    ...((min ?? 0) < (theirs ?? 0) ? [`has min = ${min}, not ${theirs}`] : []),
    ...((least ?? 0) > (most ?? 0) ? [`has max = ${shownJson(own['max'])}, not ${shownJson(claimed['max'])}`] : []),
  ]
}

/** Checks that a fixed value is kept, and that a pattern includes everything in the claimed one. */
function valueProblems(own: JsonObject, claimed: JsonObject): readonly string[] {
  const [fixed, pattern] = [statedIn(claimed, 'fixed'), statedIn(claimed, 'pattern')]
  const mine = statedIn(own, 'fixed')
  if (fixed !== undefined) return mine !== undefined && equals(mine.value, fixed.value) ? [] : ['does not have the fixed value']
  if (pattern === undefined) return []
  return contains((mine ?? statedIn(own, 'pattern'))?.value, pattern.value) ? [] : ['lacks what the pattern has']
}

function typeProblems(run: Run, own: JsonObject, claimed: JsonObject): readonly string[] {
  const allowed = objectsAt(claimed, 'type')
  if (allowed.length === 0) return []
  return objectsAt(own, 'type').flatMap((type) => {
    const code = stringAt(type, 'code') ?? ''
    const match = allowed.filter((one) => isOfType(run, code, stringAt(one, 'code') ?? ''))
    if (match.length === 0) return [`may be of type ${quoted(code)}`]
    return ['profile', 'targetProfile'].flatMap((member) => {
      const wanted = match.flatMap((one) => textsAt(one, member))
      const isOpen = match.some((one) => textsAt(one, member).length === 0)
      const mine = textsAt(type, member)
      if (isOpen) return []
      const stray = mine.find((one) => !wanted.some((canonical) => buildsOn(run, one, canonical)))
      if (mine.length > 0 && stray === undefined) return []
      return [
        `${member === 'profile' ? 'may have' : 'may lead to'} ${stray === undefined ? 'anything' : quoted(stray)}, not only ${wanted.join(', ')}`,
      ]
    })
  })
}

/** Whether a type of FHIR is another one, or derives from it. */
function isOfType({ model }: Run, code: string, allowed: string): boolean {
  const type = model.type(code)
  return code === allowed || (type !== undefined && isSubtype(model, type, allowed))
}

/** Whether a profile is another one, or builds on it; true when that is not known. */
function buildsOn(run: Run, canonical: string, wanted: string): boolean {
  const target = wanted.split('|', 1)[0]
  const seen = new Set<string>()
  for (let next: string | undefined = canonical; next !== undefined && !seen.has(next);) {
    seen.add(next)
    if (next.split('|', 1)[0] === target) return true
    const found = run.definitions.definition('StructureDefinition', next)
    if (found === PENDING || found === undefined) return true
    next = stringAt(found, 'baseDefinition')
  }
  return false
}

function limitProblems(own: JsonObject, claimed: JsonObject): readonly string[] {
  const longest = claimed['maxLength']
  const needed = (element: JsonObject): unknown => extensionValues(element, `${R5_ELEMENT}mustHaveValue`)[0]
  return [
    ...boundProblems(own, claimed, { stem: 'minValue', sign: -1 }),
    ...boundProblems(own, claimed, { stem: 'maxValue', sign: 1 }),
    ...(typeof longest === 'number' && !(Number(shownJson(own['maxLength'])) <= longest) ? [`may be longer than ${longest}`] : []),
    ...(needed(claimed) === true && needed(own) !== true ? ['may have no value'] : []),
  ]
}

interface Bound {
  readonly stem: 'minValue' | 'maxValue'
  /** The sign of a difference that is not allowed. */
  readonly sign: number
}

function boundProblems(own: JsonObject, claimed: JsonObject, { stem, sign }: Bound): readonly string[] {
  const name = Object.keys(claimed).find((key) => key.startsWith(stem))
  if (name === undefined) return []
  const order = own[name] === undefined ? sign : compareValues(own[name], claimed[name])
  return order !== undefined && order * sign > 0 ? [`has no such ${stem}: ${JSON.stringify(claimed[name])}`] : []
}

/** Compares constraints by their expressions; warnings need not be kept. */
function constraintProblems(own: JsonObject, claimed: JsonObject): readonly string[] {
  const mine = new Set(objectsAt(own, 'constraint').map(({ expression }) => expression))
  const lost = objectsAt(claimed, 'constraint').filter(
    ({ severity, expression, key }) => severity === 'error' && typeof expression === 'string' && key !== 'ele-1' && !mine.has(expression),
  )
  return lost.map(({ key }) => `lacks the constraint ${quoted(shownJson(key))}`)
}

const STRENGTHS = ['example', 'preferred', 'extensible', 'required']

/** Checks that bindings which require codes are kept, to the same codes or fewer. */
function bindingProblems(run: Run, own: JsonObject, claimed: JsonObject): readonly ComplianceProblem[] {
  const [mine, theirs] = [objectAt(own, 'binding'), objectAt(claimed, 'binding')]
  const [set, other] = [stringAt(mine, 'valueSet'), stringAt(theirs, 'valueSet')]
  const needed = strengthOf(theirs)
  if (other === undefined || needed < STRENGTHS.indexOf('extensible')) return []
  if (set === undefined || strengthOf(mine) < needed)
    return [{ text: `is not bound to ${quoted(other)} with the strength ${STRENGTHS[needed]}`, isCertain: true }]
  const strays = codesBeside(run, set, other)
  if (strays === undefined)
    return [{ text: `is bound to ${quoted(set)}, which cannot be compared with ${quoted(other)}`, isCertain: false }]
  if (strays.length === 0) return []
  const text = `is bound to codes that ${quoted(other)} lacks: ${strays.slice(0, 5).join(', ')}`
  return [{ text, isCertain: strengthOf(mine) === STRENGTHS.indexOf('required') }]
}

function strengthOf(binding: JsonObject | undefined): number {
  return STRENGTHS.indexOf(stringAt(binding, 'strength') ?? '')
}

/** Why a profile does not comply with another one, or why this is not known. */
interface ComplianceProblem {
  readonly text: string
  /** False when it is not known whether the profile complies. */
  readonly isCertain: boolean
}

/** The elements of two snapshots: of a profile, and of the one with which it claims to comply. */
interface Compared {
  readonly run: Run
  readonly own: readonly JsonObject[]
  readonly claimed: readonly JsonObject[]
}

/** The correspondence between the slices of two profiles. */
interface SlicePairs {
  /** The ids in the profile that correspond to an id in the other one: several if several slices correspond, none if it has no such slice. */
  readonly idsOf: (id: string) => readonly string[]
  readonly problems: readonly ComplianceProblem[]
}

/** Pairs the slices of two profiles by the values of their discriminators, and those without such values by their names. */
async function slicePairs({ run, own, claimed }: Compared): Promise<SlicePairs> {
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
    return rules === 'closed' || theirs.slices.some(({ min }) => Number(shownJson(min)) > 0) ? [`${quoted(id)} has no slices`] : []
  const lacking = objectsAt(claimed, 'discriminator').filter(
    ({ type, path }) => !objectsAt(own, 'discriminator').some((one) => one['type'] === type && one['path'] === path),
  )
  return [
    ...(rules === 'open' || own?.['rules'] === rules ? [] : [`the slicing of ${quoted(id)} is not ${rules}`]),
    ...(claimed?.['ordered'] === true && own?.['ordered'] !== true ? [`the slices of ${quoted(id)} are not ordered`] : []),
    ...lacking.map(({ type, path }) => `${quoted(id)} is not sliced by ${shownJson(type)} of ${quoted(shownJson(path))}`),
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
  const steps = shownJson(path)
    .split('.')
    .filter((step) => step !== '$this')
  if (steps.some((step) => step.includes('('))) return undefined
  const id = [stringAt(slice, 'id') ?? '', ...steps].join('.')
  const element = elements.get(id)
  if (type === 'type') return element && typesOf(element)
  if (type === 'profile') return profilesOf(element)
  if (type === 'exists') return element?.['max'] === '0' ? false : Number(shownJson(element?.['min'])) > 0 || undefined
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
