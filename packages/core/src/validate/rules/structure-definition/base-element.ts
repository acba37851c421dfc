import { OperationError, quoted } from '../../../errors/index.js'
import { type FhirNode, PENDING, type Pending, type TypeDefinition, type TypeModel } from '../../../fhirpath/index.js'
import { type JsonObject, objectAt, objectsAt, stringAt } from '../../../json/index.js'
import { buildSnapshot, type BuiltSnapshot, type SnapshotSource } from '../../../snapshot/index.js'
import { TYPE_URL } from '../../../text/index.js'
import { elementAtPath, type ElementAtPath, stepInto } from '../../profile/element-at-path.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import type { ElementIndex } from '../../run/indexes.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { expressionProblem } from '../expression/expression-problem.js'

/** The data for checking a differential. */
export interface DifferentialCheck {
  readonly run: Run
  readonly definition: FhirNode
  readonly differential: FhirNode
  /** True for a profile, which cannot add elements. */
  readonly isConstraint: boolean
  /** The snapshot that the differential results in; `undefined` when it cannot be applied, or not yet. */
  readonly built: BuiltSnapshot | undefined
}

/** An ElementDefinition of a differential. */
export interface ElementCheck {
  readonly run: Run
  readonly node: FhirNode
  readonly path: string
  /** `undefined` when the types do not have the element. */
  readonly place: ElementAtPath | undefined
}

/** The id of an ElementDefinition, or its path when it has none. */
export function idOf({ node, path }: Pick<ElementCheck, 'node' | 'path'>): string {
  return textOf(node, 'id') ?? path
}

/** A slice of a choice for one of its types. */
interface TypeSlice {
  /** Such as `valueQuantity`. */
  readonly name: string
  /** Id of the sliced element. */
  readonly choice: string
}

/** The slice for a type of a choice, by its name or by the short path `Observation.valueQuantity`. */
export function typeSlice(element: ElementCheck): TypeSlice | undefined {
  const { run, node, path, place } = element
  const [id, slot] = [idOf(element), place?.slots[0]]
  if (slot?.isChoice === true && path.endsWith(`.${slot.jsonName}`))
    return { name: slot.jsonName, choice: `${id.slice(0, id.lastIndexOf('.'))}.${slot.name}[x]` }
  const name = textOf(node, 'sliceName')
  const stem = path.endsWith('[x]') ? path.slice(path.lastIndexOf('.') + 1, -3) : undefined
  if (name === undefined || stem === undefined || !name.startsWith(stem)) return undefined
  const rest = name.slice(stem.length)
  const isType = [rest, rest.charAt(0).toLowerCase() + rest.slice(1)].some(
    (type) => /^[A-Z]/.test(rest) && run.model.type(type) !== undefined,
  )
  return isType ? { name, choice: id.replace(/:[^:.]*$/, '') } : undefined
}

/** Abstract types: every value is of a type that derives from them. */
export const ABSTRACT_TYPES: ReadonlySet<string> = new Set(['Resource', 'DomainResource', 'Element', 'BackboneElement'])

/** Slicing of an element that cannot be sliced, or by a discriminator that leads to nothing. */
export const DEFINITION_SLICING: FindingDefinition = defineFinding(
  'definition-slicing',
  'error',
  'invalid',
  'Slice a repeating element, by discriminators that lead to an element.',
)

/** Whether an element neither repeats nor has a choice of types, wherever it is used. */
export function isSingle({ path, place }: Pick<ElementCheck, 'path' | 'place'>): boolean {
  return place !== undefined && path.includes('.') && place.slots.every(({ isCollection, isChoice }) => !isCollection && !isChoice)
}

/**
 * The elements of a profile's differential that the base does not have at their position: unknown paths, and elements before others that come earlier in
 * the base. Elements that the types of the release do not have at all, such as those of a logical model, are not checked.
 */
export function misplacedElements(run: Run, elements: readonly ElementCheck[]): readonly ElementCheck[] {
  const misplaced: ElementCheck[] = []
  /** By path of a parent that is still open, from the end: the first position in the base of the elements that follow in it. */
  const first = new Map<string, number>()
  for (const element of elements.toReversed()) {
    run.scheduler.step()
    const { path, place } = element
    for (const parent of first.keys()) if (!path.startsWith(`${parent}.`)) first.delete(parent)
    if (run.model.type(path.split('.', 1)[0] ?? '') === undefined) continue
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('.')))
    const position = positionIn(run, parent, path.slice(parent.length + 1))
    const following = first.get(parent) ?? Number.POSITIVE_INFINITY
    if (place === undefined || following < position) misplaced.push(element)
    first.set(parent, Math.min(position, following))
  }
  return misplaced.toReversed()
}

/** The position of an element within its parent in the base. Unknown names come last, because their order is not known. */
function positionIn({ model }: Run, parent: string, step: string): number {
  const [type] = (parent === '' ? undefined : elementAtPath(model, parent))?.types ?? []
  if (type === undefined) return Number.POSITIVE_INFINITY
  const bare = step.endsWith('[x]') ? step.slice(0, -3) : step
  const name = type.elements.has(bare) ? bare : (type.members.get(bare)?.name ?? '')
  const position = [...type.elements.keys()].indexOf(name)
  return position < 0 ? Number.POSITIVE_INFINITY : position
}

/** Checks that the discriminators of a slicing lead to elements of the sliced element. */
export function checkDiscriminators({ run, node, path, place }: ElementCheck): void {
  for (const discriminator of discriminatorsOf(run, node)) {
    const steps = textOf(discriminator, 'path')
    const text = place === undefined || steps === undefined ? undefined : discriminatorProblem(run, steps, { path, types: place.types })
    if (text !== undefined) run.findings.report(DEFINITION_SLICING, discriminator, { text })
    if (textOf(discriminator, 'type') === 'pattern') {
      run.findings.report(DEFINITION_SLICING, discriminator, {
        text: 'The discriminator type pattern is deprecated; use value.',
        severity: 'information',
        code: 'business-rule',
      })
    }
  }
}

function discriminatorProblem(
  { model }: Run,
  steps: string,
  { path, types }: { readonly path: string; readonly types: readonly TypeDefinition[] },
): string | undefined {
  const problem = expressionProblem(steps, { model, focus: types })
  if (problem?.isError === true) return `The discriminator ${quoted(steps)} of ${quoted(path)} is invalid: ${problem.text}`
  return leadsSomewhere(model, types, steps)
    ? undefined
    : `The discriminator ${quoted(steps)} does not lead to an element of ${quoted(path)}.`
}

function discriminatorsOf(run: Run, node: FhirNode): readonly FhirNode[] {
  return childrenOf(run, node, 'slicing').flatMap((slicing) => childrenOf(run, slicing, 'discriminator'))
}

/** Whether a path leads to an element. It is not followed after a function, or into a resource of any type. */
function leadsSomewhere(model: TypeModel, start: readonly TypeDefinition[], path: string): boolean {
  let types = start
  for (const step of path.split('.')) {
    if (step === '$this') continue
    if (step.includes('(') || types.some(({ name }) => name === 'Resource' || name === 'Any')) return true
    const next = stepInto(model, types, step)
    if (next === undefined) return false
    types = next.types
  }
  return true
}

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

/** The texts in a list of an object, such as the profiles of a type. */
export function textsAt(object: JsonObject, name: string): readonly string[] {
  const list = object[name]
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : []
}
