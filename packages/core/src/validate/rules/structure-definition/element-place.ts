import { quoted } from '../../../errors/index.js'
import type { FhirNode, TypeDefinition, TypeModel } from '../../../fhirpath/index.js'
import type { BuiltSnapshot } from '../../../snapshot/index.js'
import { elementAtPath, stepInto, type ElementAtPath } from '../../profile/element-at-path.js'
import { expressionProblem } from '../expression/expression-problem.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'

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
