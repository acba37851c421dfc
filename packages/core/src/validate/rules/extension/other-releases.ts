import type { ExtensionElement, OtherElement } from '../../../cross-version/index.js'
import type { ElementSlot, TypeModel } from '../../../fhirpath/index.js'
import type { Run } from '../../run/run.js'
import { OTHER_RELEASES } from './other-release-tables.js'

/** Numbers of releases and of their drafts. */
const RELEASES = /^(?:1\.[0-8]|3\.[0-6]|4\.[0-6]|5\.0|6\.0)$/

/** The problem with an element of another release, as the end of a sentence. */
export function elementProblem({ model, definitions }: Run, { release, type, path }: ExtensionElement): string | undefined {
  if (!RELEASES.test(release)) return `there is no release ${release}`
  if (release === '4.0') return `FHIR ${release} is the release of the resource: use the element itself`
  const other = definitions.otherRelease(release)
  if (other !== undefined) return other.element(path) === undefined ? `FHIR ${release} has no element ${path}` : undefined
  const own = model.type(type)
  if (own === undefined) return isTypeOf(type) ? undefined : `no release has a type ${type}`
  const listed = OTHER_RELEASES[release]
  return listed === undefined || hasElement(model, path, listed.elements) ? undefined : `FHIR ${release} has no element ${path}`
}

function isTypeOf(type: string): boolean {
  return Object.values(OTHER_RELEASES).some(({ types }) => ` ${types} `.includes(` ${type} `))
}

/** Follows a path through the types of R4, to an element that only the other release has. */
function hasElement(model: TypeModel, path: string, listed: string): boolean {
  const [first = '', ...steps] = path.split('.')
  let type = first
  for (const step of steps) {
    const name = step.replace('[x]', '')
    const here = model.type(type)
    const elements = here === undefined ? undefined : (here.elements.get(name) ?? here.members.get(name))
    if (elements === undefined) return here === undefined || membersAt(type, listed).some((one) => one === name || isChoiceOf(one, name))
    const slot = 'length' in elements ? elements[0] : elements
    type = slot?.type ?? ''
  }
  return true
}

function membersAt(type: string, listed: string): readonly string[] {
  const found = listed.split(' ').find((row) => row.startsWith(`${type}:`))
  return found === undefined ? [] : found.slice(type.length + 1).split(',')
}

function isChoiceOf(name: string, stem: string): boolean {
  return name.startsWith(stem) && /^[A-Z]/.test(name.slice(stem.length))
}

/**
 * Whether R4 has the element with all its types, so that the value belongs there. An extension is right for codes of another value set and for references to
 * other types.
 */
export function isUnchanged({ model, definitions }: Run, { release, path }: ExtensionElement): boolean {
  const element = definitions.otherRelease(release)?.element(path)
  const slots = slotsAt(model, path)
  if (element?.types === undefined || element.codes !== undefined || slots.length === 0) return false
  return (
    isRepeatable(element) === slots.some(({ isCollection }) => isCollection) &&
    element.types.every((type) => slots.some((slot) => slot.type === type))
  )
}

function isRepeatable({ max = '1' }: OtherElement): boolean {
  return max !== '1'
}

function slotsAt(model: TypeModel, path: string): readonly ElementSlot[] {
  const [first = '', ...steps] = path.replaceAll('[x]', '').split('.')
  let [type, slots]: [string, readonly ElementSlot[]] = [first, []]
  for (const step of steps) {
    slots = model.type(type)?.elements.get(step) ?? []
    type = slots[0]?.type ?? ''
  }
  return slots
}

/** True if an extension for the element at `path` can be on the element `name`: that element, or one that contains it. */
export function isUpTo(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}.`)
}
