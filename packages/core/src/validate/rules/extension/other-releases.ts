import type { TypeModel } from '../../../fhirpath/index.js'
import type { Run } from '../../run/run.js'
import { OTHER_RELEASES } from './release-elements.js'

/** An element of a release that another one has as an extension. */
export interface OtherReleaseElement {
  /** `5.0` */
  readonly release: string
  /** `Appointment` */
  readonly type: string
  /** `Appointment.status` */
  readonly path: string
}

const URL_FORM = /^http:\/\/hl7\.org\/fhir\/(\d+\.\d+)\/StructureDefinition\/extension-(([A-Za-z][A-Za-z0-9]*)(?:\.[A-Za-z0-9[\]]+)+)$/

/**
 * The element that the url of an extension means; `undefined` for other urls.
 *
 * @see https://hl7.org/fhir/R4/versions.html#extensions
 */
export function otherReleaseElement(url: string): OtherReleaseElement | undefined {
  const [whole, release = '', path = '', type = ''] = URL_FORM.exec(url) ?? []
  return whole === undefined ? undefined : { release, type, path }
}

/** Numbers of releases and of their drafts. */
const RELEASES = /^(?:1\.[0-8]|3\.[0-6]|4\.[0-6]|5\.0|6\.0)$/

/** What is wrong with an element of another release, as the end of a sentence. */
export function elementProblem({ model }: Run, { release, type, path }: OtherReleaseElement): string | undefined {
  if (!RELEASES.test(release)) return `there is no release ${release}`
  const own = model.type(type)
  if (own === undefined) return isTypeOf(type) ? undefined : `no release has a type ${type}`
  const listed = OTHER_RELEASES[release]
  return listed === undefined || hasElement(model, path, listed.elements) ? undefined : `FHIR ${release} has no element ${path}`
}

function isTypeOf(type: string): boolean {
  return Object.values(OTHER_RELEASES).some(({ types }) => ` ${types} `.includes(` ${type} `))
}

/** Follows a path through the types of R4, up to an element that only the other release has. */
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

/** True where an extension for an element can be: on the element, or on what it is in. */
export function isUpTo(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}.`)
}
