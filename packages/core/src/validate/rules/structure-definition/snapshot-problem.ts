import { withoutVersion } from '../../../content/index.js'
import { quoted } from '../../../errors/index.js'
import { isSubtype, PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import type { BuiltSnapshot, SnapshotProblemKind } from '../../../snapshot/index.js'
import { choiceName, TYPE_URL } from '../../../text/index.js'
import { SYSTEM_TYPES } from '../../run/element-rule.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { isAbsoluteUri } from '../primitive/text.js'
import { ABSTRACT_TYPES, baseElement, type ElementCheck, idOf, isSingle, typeSlice, textsAt } from './base-element.js'
import { elementAtPath } from '../../profile/element-at-path.js'

/** A differential and its base. */
export interface Application {
  /** Canonical of the base. */
  readonly base: string
  readonly elements: readonly ElementCheck[]
  /** The resulting snapshot. */
  readonly built: BuiltSnapshot | undefined
}

/** The first reason why a differential cannot be applied to its base at all; `undefined` when there is none, or when another rule reports it. */
export async function snapshotProblem({ base, elements, built }: Application): Promise<string | undefined> {
  const slices = slicesByPath(elements)
  const repeated = repeatedPath(elements, slices)
  if (repeated !== undefined) return `There are several elements for the path ${quoted(repeated)}, which are not its slices.`
  const late = lateElement(elements)
  if (late !== undefined) return `${quoted(late)} is out of order: what is inside of it comes earlier.`
  const groups = Map.groupBy(elements, (element) => unslicedId(idOf(element)))
  const choices = Map.groupBy(elements.filter(mayOccur), (element) => typeSlice(element)?.choice)
  const narrowed = new Map(elements.flatMap((element) => (isWholeChoice(element) ? [[element.path, typesIn(element.node)] as const] : [])))
  for (const element of elements) {
    await element.run.scheduler.turn()
    const typed = typeSlice(element)
    const beside = typed === undefined ? 0 : (choices.get(typed.choice)?.length ?? 0)
    const applied = { ...element, base, slices: slices.get(element.path) ?? [], beside, narrowed }
    const problem =
      pathProblem(element.path) ?? elementProblem(applied) ?? repetitionProblem(applied, groups) ?? memberProblem(element, groups)
    if (problem !== undefined) return problem
  }
  return built?.problems.find(({ kind }) => REPORTED.has(kind))?.text
}

/** A path that several elements have although nothing on it is sliced. */
function repeatedPath(elements: readonly ElementCheck[], slices: ReadonlyMap<string, unknown>): string | undefined {
  const seen = new Set<string>()
  for (const element of elements) {
    const { path } = element
    if (idOf(element).includes(':') || isInSlice(path, slices)) continue
    if (seen.has(path)) return path
    seen.add(path)
  }
  return undefined
}

/** The id of an element that comes after its content. */
function lateElement(elements: readonly ElementCheck[]): string | undefined {
  const [stated, implied] = [new Set<string>(), new Set<string>()]
  for (const element of elements) {
    const id = idOf(element)
    if (implied.has(id)) return id
    stated.add(id)
    for (let end = id.lastIndexOf('.'); end > 0; end = id.lastIndexOf('.', end - 1))
      if (!stated.has(id.slice(0, end))) implied.add(id.slice(0, end))
  }
  return undefined
}

function isInSlice(path: string, slices: ReadonlyMap<string, unknown>): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) if (slices.has(path.slice(0, end))) return true
  return false
}

/** `Patient.name` for `Patient.name:official`. */
function unslicedId(id: string): string {
  const slice = id.indexOf(':', id.lastIndexOf('.') + 1)
  return slice < 0 ? id : id.slice(0, slice)
}

const LONGEST_NAME = 64

function pathProblem(path: string): string | undefined {
  const names = path.split('.').slice(1)
  if (names.some((name) => name === '')) return `The path ${quoted(path)} lacks a name between two dots.`
  if (names.some((name) => name.length > LONGEST_NAME))
    return `The path ${quoted(path)} has a name of more than ${LONGEST_NAME} characters.`
  if (/\s/u.test(path)) return `The path ${quoted(path)} has white space.`
  const stray = /[,:;'"/|?!@#$%^&*(){}]/.exec(path)?.[0]
  return stray === undefined ? undefined : `The path ${quoted(path)} has the character ${quoted(stray)}.`
}

interface Applied extends ElementCheck {
  readonly base: string
  /** The slices with the same path. */
  readonly slices: readonly ElementCheck[]
  /** The number of slices by type of the same choice that may occur, including this one. */
  readonly beside: number
  /** The types that the differential leaves for choices, by path. */
  readonly narrowed: ReadonlyMap<string, readonly string[]>
}

function isWholeChoice({ node, path }: ElementCheck): boolean {
  return path.endsWith('[x]') && textOf(node, 'sliceName') === undefined && typesIn(node).length > 0
}

function typesIn({ value }: FhirNode): readonly string[] {
  return isObject(value) ? objectsAt(value, 'type').map((type) => stringAt(type, 'code') ?? '') : []
}

function slicesByPath(elements: readonly ElementCheck[]): ReadonlyMap<string, readonly ElementCheck[]> {
  const slices = new Map<string, ElementCheck[]>()
  for (const element of elements) {
    if (textOf(element.node, 'sliceName') === undefined) continue
    const known = slices.get(element.path)
    if (known === undefined) slices.set(element.path, [element])
    else known.push(element)
  }
  return slices
}

function elementProblem(applied: Applied): string | undefined {
  const { run, node, path, base } = applied
  const found = path.includes('.') ? baseElement(run, base, { id: textOf(node, 'id'), path }) : undefined
  if (!isObject(node.value)) return undefined
  const own = discriminatorProblem(node.value) ?? choiceNameProblem(applied) ?? typeSlicingProblem(applied) ?? choiceProblem(applied)
  if (own !== undefined || found === undefined || found === PENDING) return own
  return (
    summaryProblem(node.value, found, path) ??
    narrowedProblem(applied, found) ??
    typeProblem(applied, found) ??
    slicingProblem(node.value, found, path) ??
    closedProblem(applied, found)
  )
}

const DISCRIMINATORS: ReadonlySet<unknown> = new Set(['value', 'exists', 'pattern', 'type', 'profile', 'position'])

function discriminatorProblem(element: JsonObject): string | undefined {
  const stray = objectsAt(objectAt(element, 'slicing'), 'discriminator').find(({ type }) => type !== undefined && !DISCRIMINATORS.has(type))
  return stray && `There is no discriminator type ${quoted(shownJson(stray['type']))}.`
}

function summaryProblem(own: JsonObject, base: JsonObject, path: string): string | undefined {
  const stated = own['isSummary']
  return typeof stated === 'boolean' && stated !== (base['isSummary'] === true)
    ? `${quoted(path)} has isSummary ${String(base['isSummary'] === true)} in the base, which a profile cannot change.`
    : undefined
}

/** Checks that a choice is named `value[x]`, or with one of its types. */
function choiceNameProblem({ run, path }: Applied): string | undefined {
  const end = path.lastIndexOf('.')
  const name = path.slice(end + 1)
  const types = end < 0 || name.endsWith('[x]') ? [] : (elementAtPath(run.model, path.slice(0, end))?.types ?? [])
  for (const { elements, members } of types) {
    if (members.has(name)) continue
    const choice = [...elements].find(([stem, [slot]]) => slot?.isChoice === true && isChoiceName(name, stem))
    if (choice !== undefined)
      return `The path must be ${quoted(`${path.slice(0, end)}.${choice[0]}[x]`)}, not ${quoted(path)}, unless it names a type of the choice.`
  }
  return undefined
}

function isChoiceName(name: string, stem: string): boolean {
  return name === stem || (name.startsWith(stem) && /^[A-Z]/.test(name.slice(stem.length)))
}

/** Checks that a short path names a type that the base still allows, and that its slice has the right name. */
function narrowedProblem({ run, node, path, place, narrowed }: Applied, base: JsonObject): string | undefined {
  const [slot] = place?.slots ?? []
  const whole = `${path.slice(0, path.lastIndexOf('.') + 1)}${slot?.name}[x]`
  const allowed = narrowed.get(whole) ?? objectsAt(base, 'type').map((type) => stringAt(type, 'code') ?? '')
  if (slot?.isChoice !== true || !path.endsWith(`.${slot.jsonName}`) || allowed.length === 0) return undefined
  const name = textOf(node, 'sliceName') ?? slot.jsonName
  if (name !== slot.jsonName) return `The slice of ${quoted(path)} must be named ${quoted(slot.jsonName)}, not ${quoted(name)}.`
  return allowed.some((type) => isAllowed(run, slot.type, type))
    ? undefined
    : `${quoted(path)} is of type ${quoted(slot.type)}, but may only be of type ${allowed.join(', ')}.`
}

/** Checks that slices of a choice by type are by type alone, unordered, and named after the type. */
function typeSlicingProblem({ run, node, path, slices }: Applied): string | undefined {
  const slicing = isObject(node.value) && path.endsWith('[x]') ? objectAt(node.value, 'slicing') : undefined
  if (slicing === undefined) return undefined
  const untyped = isByType(slicing) ? slices.find((slice) => typesIn(slice.node).length === 0 && !isNamedAfterType(run, slice)) : undefined
  if (untyped !== undefined)
    return `The slice ${quoted(textOf(untyped.node, 'sliceName') ?? '')} of ${quoted(path)} has no type, and is not named after one.`
  if (!slices.every(({ node: { value } }) => isObject(value) && objectsAt(value, 'type').length === 1)) return undefined
  return discriminatorsProblem(slicing, path) ?? slices.map((slice) => nameProblem(slice, path)).find((text) => text !== undefined)
}

function discriminatorsProblem(slicing: JsonObject, path: string): string | undefined {
  if (slicing['ordered'] === true) return `The slicing of ${quoted(path)} by type cannot be ordered.`
  return isByType(slicing)
    ? undefined
    : `The slicing of ${quoted(path)} by type must have one discriminator, of the type 'type' and the path '$this'.`
}

function isByType(slicing: JsonObject): boolean {
  const [discriminator, ...others] = objectsAt(slicing, 'discriminator')
  return others.length === 0 && discriminator?.['type'] === 'type' && discriminator['path'] === '$this'
}

/** True for `valueQuantity` or `valueString`, of `value[x]`. */
function isNamedAfterType({ model }: Run, { node, path }: ElementCheck): boolean {
  const [stem, own] = [(path.split('.').at(-1) ?? '').slice(0, -3), textOf(node, 'sliceName') ?? '']
  const type = own.startsWith(stem) ? own.slice(stem.length) : ''
  return model.type(type) !== undefined || model.type(type.slice(0, 1).toLowerCase() + type.slice(1)) !== undefined
}

function nameProblem({ node }: ElementCheck, path: string): string | undefined {
  const [type] = isObject(node.value) ? objectsAt(node.value, 'type') : []
  const code = stringAt(type, 'code') ?? ''
  const name = choiceName((path.split('.').at(-1) ?? '').slice(0, -3), code)
  const own = textOf(node, 'sliceName') ?? ''
  return own === name ? undefined : `The slice of ${quoted(path)} must be named ${quoted(name)}, not ${quoted(own)}.`
}

/** Checks that a short path such as `Observation.valueQuantity` has the type that it names, and that a required slice by type has no others beside it. */
function choiceProblem(applied: Applied): string | undefined {
  const { run, node, path, place } = applied
  const [slot] = place?.slots ?? []
  if (slot?.isChoice === true && path.endsWith(`.${slot.jsonName}`)) {
    const [code, ...others] = childrenOf(run, node, 'type').flatMap((type) => textOf(type, 'code') ?? [])
    if (others.length > 0) return `The slice for the type ${quoted(slot.type)} at ${quoted(path)} has more than one type.`
    if (code !== undefined && code !== slot.type)
      return `The slice for the type ${quoted(slot.type)} at ${quoted(path)} has the wrong type ${quoted(code)}.`
  }
  if (!isObject(node.value) || node.value['min'] !== 1 || applied.beside < 2) return undefined
  return `There is more than one slice by type at ${quoted(path)}, but ${quoted(typeSlice(applied)?.name ?? '')} has min = 1, so the other slices cannot exist.`
}

function mayOccur({ node }: ElementCheck): boolean {
  return isObject(node.value) && node.value['max'] !== '0'
}

/** Reports types and targets that the base does not allow. */
function typeProblem({ run, node, path, place }: Applied, base: JsonObject): string | undefined {
  const allowed = objectsAt(base, 'type')
  const slots = place?.slots.filter(({ type }) => type.includes('.')) ?? []
  for (const type of childrenOf(run, node, 'type')) {
    const code = textOf(type, 'code')
    if (code !== undefined && slots.some((slot) => !isOfType(run, code, slot.type)))
      return `${quoted(path)} cannot be of type ${quoted(code)}: it has elements of its own.`
    if (allowed.length === 0) continue
    if (code === undefined) return `A type of ${quoted(path)} has no code.`
    const match = allowed.filter((one) => isAllowed(run, code, stringAt(one, 'code') ?? ''))
    if (match.length === 0) return `${quoted(path)} cannot be of type ${quoted(code)}: the base does not allow this type.`
    const target = childrenOf(run, type, 'targetProfile').find((one) => isRefused(run, one, match))
    if (target !== undefined)
      return `${quoted(path)} cannot refer to ${quoted(shownJson(target.value))}: the base does not allow this target.`
    const stray = childrenOf(run, type, 'profile').find((one) => isOther(run, one, code))
    if (stray !== undefined)
      return `${quoted(path)} is of type ${quoted(code)}, so ${quoted(shownJson(stray.value))} is not a profile for it.`
  }
  return undefined
}

/** Whether a type fits an element. An element with elements of its own, such as Patient.contact, is of the type that these extend. */
export function isOfType(run: Run, code: string, allowed: string): boolean {
  return allowed.includes('.') ? code === run.model.type(allowed)?.base : isAllowed(run, code, allowed)
}

/** Whether a type fits an allowed one: it is the same, or derives from it if that is abstract. */
function isAllowed({ model }: Run, code: string, allowed: string): boolean {
  const type = model.type(code)
  if (allowed === code || allowed === 'Any' || allowed === '*') return true
  // Types of logical models are named by URLs.
  if (type === undefined) return isAbsoluteUri(code)
  return (ABSTRACT_TYPES.has(allowed) && isSubtype(model, type, allowed)) || (type.kind === 'primitive' && allowed.startsWith(SYSTEM_TYPES))
}

/** Whether a target is not allowed; an unknown one may be. A base may pin the versions of its targets; a profile need not repeat these. */
function isRefused(run: Run, { value }: FhirNode, types: readonly JsonObject[]): boolean {
  const targets = types.map((type) => textsAt(type, 'targetProfile'))
  if (typeof value !== 'string' || targets.some((list) => list.length === 0)) return false
  const allowed = targets.flat().map(withoutVersion)
  if (allowed.includes(withoutVersion(value)) || allowed.includes(`${TYPE_URL}Resource`)) return false
  const seen = new Set<string>()
  for (let next: string | undefined = value; next !== undefined && !seen.has(next);) {
    seen.add(next)
    const found = run.definitions.definition('StructureDefinition', next)
    if (found === PENDING || found === undefined) return false
    if (allowed.includes(stringAt(found, 'url') ?? '') || allowed.includes(TYPE_URL + shownJson(found['type']))) return false
    next = stringAt(found, 'baseDefinition')
  }
  return true
}

/** True for a profile on a type that is not related to the element's type. */
function isOther({ model, definitions }: Run, { value }: FhirNode, code: string): boolean {
  const found = typeof value === 'string' ? definitions.definition('StructureDefinition', value) : undefined
  const [theirs, own] = [found === undefined || found === PENDING ? undefined : stringAt(found, 'type'), model.type(code)]
  const type = theirs === undefined ? undefined : model.type(theirs)
  return type !== undefined && own !== undefined && !isSubtype(model, type, code) && !isSubtype(model, own, type.name)
}

function slicingProblem(own: JsonObject, base: JsonObject, path: string): string | undefined {
  const [stated, inherited] = [objectAt(own, 'slicing'), objectAt(base, 'slicing')]
  if (stated === undefined || inherited === undefined || path.endsWith('xtension')) return undefined
  if (typeof stated['ordered'] === 'boolean' && typeof inherited['ordered'] === 'boolean' && stated['ordered'] !== inherited['ordered'])
    return `The slices of ${quoted(path)} are ${inherited['ordered'] ? '' : 'not '}ordered in the base.`
  if (!isKept(objectsAt(stated, 'discriminator'), objectsAt(inherited, 'discriminator')))
    return `${quoted(path)} is sliced by other discriminators than in the base.`
  const [rules, theirs] = [stringAt(stated, 'rules'), stringAt(inherited, 'rules')]
  const fits =
    rules === undefined || theirs === undefined || rules === theirs || theirs === 'open' || (theirs === 'openAtEnd' && rules === 'closed')
  return fits ? undefined : `The slicing of ${quoted(path)} is ${shownJson(theirs)} in the base, so it cannot be ${String(rules)}.`
}

/** Whether the discriminators of the base are kept. A profile may add others after them. */
function isKept(stated: readonly JsonObject[], inherited: readonly JsonObject[]): boolean {
  return (
    stated.length === 0 || inherited.every(({ type, path }, index) => stated[index]?.['type'] === type && stated[index]?.['path'] === path)
  )
}

function closedProblem({ run, node, path, base }: Applied, found: JsonObject): string | undefined {
  const name = textOf(node, 'sliceName')
  const sliced = name === undefined ? undefined : baseElement(run, base, { id: undefined, path })
  if (name === undefined || sliced === undefined || sliced === PENDING) return undefined
  if (stringAt(objectAt(sliced, 'slicing'), 'rules') !== 'closed' || found['sliceName'] === name) return undefined
  return `The slicing of ${quoted(path)} is closed in the base, so the slice ${quoted(name)} cannot be added.`
}

/** Checks that an element repeats if there are several elements for it, as these are its slices. */
function repetitionProblem(applied: Applied, groups: ReadonlyMap<string, readonly ElementCheck[]>): string | undefined {
  const { run, node, path, base } = applied
  const id = textOf(node, 'id') ?? ''
  if (id !== unslicedId(id) || !isSeveral(groups.get(id)) || path.endsWith('xtension')) return undefined
  if (applied.place === undefined || applied.place.slots.length === 0 || applied.place.slots.some(({ isChoice }) => isChoice))
    return undefined
  const found = baseElement(run, base, { id, path })
  if (found === undefined || found === PENDING || found['slicing'] !== undefined) return undefined
  const isOne = found['max'] === undefined ? isSingle(applied) : found['max'] === '1' || found['max'] === '0'
  return isOne ? `${quoted(path)} does not repeat in the base, so it cannot be sliced.` : undefined
}

function isSeveral(elements: readonly ElementCheck[] = []): boolean {
  return elements.length > 1
}

/** Checks that an element below a sliced element is known, because it is repeated in each slice. */
function memberProblem({ node, path, place }: ElementCheck, groups: ReadonlyMap<string, readonly ElementCheck[]>): string | undefined {
  const parent = (textOf(node, 'id') ?? '').split('.').slice(0, -1).join('.')
  const isSliced = place === undefined && isSeveral(groups.get(parent))
  return isSliced ? `The sliced element ${quoted(parent)} has no element ${quoted(path.slice(path.lastIndexOf('.') + 1))}.` : undefined
}

/** Problems that are found only by generating the snapshot. */
const REPORTED: ReadonlySet<SnapshotProblemKind> = new Set(['content-reference', 'slice-order', 'type-missing', 'type-unknown'])
