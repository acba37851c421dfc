import { compartmentMembers, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { isHidden } from '../operation/index.js'
import type { SearchPair, SearchOptions } from '../search/index.js'
import { isResourceId, isResourceType } from '../storage/index.js'

/** The subject of an evaluation: one subject, or a resource that stands for several. */
export interface Subject {
  /**
   * The type of the Measure's subjects, for one of them; otherwise that of the resource that stands for several: `Group`, `Practitioner` or
   * `Organization`.
   */
  readonly type: string
  readonly id: string
  /** For a Group whose members are not the subjects themselves, but have patients: the type of the members. */
  readonly memberType?: string
}

/** Types that have patients, with the search parameter of Patient that refers to them. */
const PATIENTS_OF: ReadonlyMap<string, string> = new Map([
  ['Practitioner', 'general-practitioner'],
  ['PractitionerRole', 'general-practitioner'],
  ['Organization', 'organization'],
])

/**
 * The subject of an evaluation: the one that the request names, or else the Group that the Measure is about. `undefined` for all of the Measure's type.
 *
 * @throws {OperationError} as `namedSubject`; `not-supported` for a Measure about something other than a Group.
 */
export async function subjectOf(ctx: OperationContext, given: string | undefined, measure: JsonObject): Promise<Subject | undefined> {
  const named = given ?? groupOf(measure)
  return named === undefined ? undefined : namedSubject(ctx, named, measure)
}

/** The Group in `Measure.subjectReference`. */
function groupOf(measure: JsonObject): string | undefined {
  if (measure['subjectReference'] === undefined) return undefined
  const reference = stringAt(objectAt(measure, 'subjectReference'), 'reference')
  if (reference?.startsWith('Group/') === true) return reference
  throw new OperationError('not-supported', 'Measure.subjectReference is not a reference to a Group as Group/<id>.', {
    expression: ['Measure.subjectReference'],
  })
}

/**
 * The subject that a request names, as `<type>/<id>`, or by an id alone for the Measure's type: a subject, a Group with members of that type or, for a
 * Measure of patients, a practitioner or organization, or a Group of these, which stand for their patients.
 *
 * @throws {OperationError} `parameter-invalid` for a resource that neither is a subject of the Measure nor stands for some; `content-not-found` when there is
 *   no such resource; `not-supported` for a Group that is not a list of such members.
 */
async function namedSubject(ctx: OperationContext, given: string, measure: JsonObject): Promise<Subject> {
  const subjectType = subjectTypeOf(measure)
  const { type, id } = referenceIn(ctx, given, subjectType)
  const isOne = type === subjectType
  const hasPatients = subjectType === 'Patient' && PATIENTS_OF.has(type)
  if (!isResourceId(id) || (!isOne && !hasPatients && type !== 'Group'))
    throw notEvaluable(
      'parameter-invalid',
      `Subject ${quoted(given)} is not a reference to a ${subjectType} or to a resource that stands for several`,
    )
  const resource = await existing(ctx, { type, id }, 'subject')
  if (isOne || type !== 'Group') return { type, id }
  const memberType = checkedMembers(resource, { id, subjectType })
  return { type, id, ...(memberType !== subjectType && { memberType }) }
}

/** Type of the subjects of a Measure, by default Patient. */
export function subjectTypeOf(measure: JsonObject): string {
  const [coding] = objectsAt(objectAt(measure, 'subjectCodeableConcept'), 'coding')
  return stringAt(coding, 'code') ?? 'Patient'
}

/** The limits of the subjects of an evaluation. */
interface Limited {
  readonly subjectType: string
  readonly subject?: Subject | undefined
  readonly practitioner?: string | undefined
}

/** Parameters of a search for the subjects; empty for all of the type. */
export function subjectConditions({ subjectType, subject, practitioner }: Limited): readonly SearchPair[] {
  const own: readonly SearchPair[] = practitioner === undefined ? [] : [['general-practitioner', `Practitioner/${practitioner}`]]
  if (subject === undefined) return own
  const { type, id, memberType } = subject
  if (type === subjectType) return [...own, ['_id', id]]
  const member = '_has:Group:member:_id'
  if (type !== 'Group') return [...own, [PATIENTS_OF.get(type) ?? '_id', `${type}/${id}`]]
  return [...own, memberType === undefined ? [member, id] : [`${PATIENTS_OF.get(memberType)}:${memberType}.${member}`, id]]
}

/** The only subject of an evaluation; `undefined` when subjects are searched. */
export function singleSubject({ subjectType, subject, practitioner }: Limited): Subject | undefined {
  return subject?.type === subjectType && practitioner === undefined ? subject : undefined
}

/**
 * The type of the members of a Group.
 *
 * @throws {OperationError} `not-supported` for a Group with members that a search by membership does not find, or that it finds although their membership is
 *   limited in time.
 */
function checkedMembers(group: JsonObject, { id, subjectType }: { readonly id: string; readonly subjectType: string }): string {
  if (group['actual'] === false) throw unlisted(id, 'it describes its members and does not list them')
  const members = objectsAt(group, 'member')
  const types = members.map((member, index) => memberTypeOf(member, { group: id, index }))
  const first = types[0] ?? subjectType
  const odd = types.findIndex((type) => type !== first)
  if (odd > 0) throw unlisted(id, `Group.member[${odd}] is not a ${first} as those before it`)
  if (first === subjectType || (subjectType === 'Patient' && PATIENTS_OF.has(first))) return first
  throw unlisted(id, `Group.member[0] does not refer to a ${subjectType} as ${subjectType}/<id>`)
}

function memberTypeOf(member: JsonObject, { group, index }: { readonly group: string; readonly index: number }): string {
  if (member['inactive'] === true) throw unlisted(group, `Group.member[${index}] is inactive`)
  if (member['period'] !== undefined) throw unlisted(group, `Group.member[${index}] has a period`)
  const { type, id } = localReference(stringAt(objectAt(member, 'entity'), 'reference') ?? '', '')
  if (isResourceType(type) && isResourceId(id)) return type
  throw unlisted(group, `Group.member[${index}] does not refer to a resource as <type>/<id>`)
}

function unlisted(id: string, fault: string): OperationError {
  return notEvaluable('not-supported', `Group/${id} cannot be evaluated: ${fault}`)
}

function notEvaluable(code: 'parameter-invalid' | 'not-supported', message: string): OperationError {
  return new OperationError(code, `${message}.`, { expression: ['subject'] })
}

/**
 * The id of the practitioner that a request names: `Practitioner/<id>`, or an id alone.
 *
 * @throws {OperationError} `parameter-invalid` for a reference to something else, and for a Measure whose subjects have no general practitioner;
 *   `content-not-found` when there is no such practitioner.
 */
export async function practitionerIdOf(ctx: OperationContext, given: string, measure: JsonObject): Promise<string> {
  const subjectType = subjectTypeOf(measure)
  if (subjectType !== 'Patient')
    throw new OperationError(
      'parameter-invalid',
      `A practitioner has patients, while the subjects of the Measure are of type ${quoted(subjectType)}.`,
      {
        expression: ['practitioner'],
      },
    )
  const { type, id } = referenceIn(ctx, given, 'Practitioner')
  if (type !== 'Practitioner' || !isResourceId(id)) {
    throw new OperationError('parameter-invalid', `${quoted(given)} is not a reference to a Practitioner.`, {
      expression: ['practitioner'],
    })
  }
  await existing(ctx, { type, id }, 'practitioner')
  return id
}

interface LocalReference {
  readonly type: string
  readonly id: string
}

/** Like `localReference`, for a reference that may be an address below the server's own base. */
function referenceIn({ search }: OperationContext, given: string, defaultType: string): LocalReference {
  const own = search?.base === undefined ? '' : `${search.base}/`
  return localReference(given.startsWith(own) ? given.slice(own.length) : given, defaultType)
}

/** The type and id of `<type>/<id>`; an id alone has the default type. The id of a longer reference is not valid. */
function localReference(given: string, defaultType: string): LocalReference {
  const slash = given.indexOf('/')
  return slash < 0 ? { type: defaultType, id: given } : { type: given.slice(0, slash), id: given.slice(slash + 1) }
}

async function existing(ctx: OperationContext, { type, id }: LocalReference, parameter: string): Promise<JsonObject> {
  const stored = isHidden(ctx, type, id) ? undefined : await ctx.storage.read(type, id)
  if (stored !== undefined) return stored.resource
  throw new OperationError('content-not-found', `${type}/${id} does not exist.`, { expression: [parameter] })
}

/** How resources belong to subjects of one type. */
export interface SubjectLinks {
  /** Type of the subjects. */
  readonly subjectType: string
  /** Codes of the reference parameters that link resources of a type to a subject, any of which suffices; none for a type that belongs to no subject. */
  readonly paramsOf: (type: string) => readonly string[]
}

/**
 * How resources belong to subjects: to a patient by `patient` or `subject`; to a type with a compartment in FHIR by its CompartmentDefinition; to any other
 * type by a parameter with the name of the type (`organization`), or `subject`, or else by every reference parameter that has the type as a target.
 *
 * @see https://hl7.org/fhir/R4/compartmentdefinition.html
 */
export async function subjectLinks(ctx: OperationContext, subjectType: string): Promise<SubjectLinks> {
  const { search } = ctx
  const known = new Map<string, readonly string[]>()
  // A patient's compartment also has what the patient does for others, as an author or performer; a subject's data is only what is about the patient.
  const members = subjectType === 'Patient' ? undefined : await compartmentMembers(ctx, subjectType)
  const linksOf = (type: string): readonly string[] => {
    if (search === undefined) return []
    const inCompartment = members?.get(type)?.filter((code) => mayReferTo(search, { type, code, subjectType })) ?? []
    return members === undefined || inCompartment.length === 0 ? parametersFor(search, type, subjectType) : inCompartment
  }
  return {
    subjectType,
    paramsOf: (type) => {
      const before = known.get(type)
      if (before !== undefined) return before
      const found = linksOf(type)
      known.set(type, found)
      return found
    },
  }
}

interface Link {
  readonly type: string
  readonly code: string
  readonly subjectType: string
}

function mayReferTo({ parameters }: SearchOptions, { type, code, subjectType }: Link): boolean {
  const parameter = parameters.find(type, code)
  return parameter?.type === 'reference' && (parameter.targets.length === 0 || parameter.targets.includes(subjectType))
}

function parametersFor(search: SearchOptions, type: string, subjectType: string): readonly string[] {
  const named = [subjectType.toLowerCase(), 'subject'].find((code) => mayReferTo(search, { type, code, subjectType }))
  if (named !== undefined) return [named]
  const all = search.parameters.of(type).filter((parameter) => parameter.type === 'reference' && parameter.targets.includes(subjectType))
  return all.map(({ code }) => code)
}

/** One part of all subjects. */
export interface SubjectsPart {
  /** Its number, from 1. */
  readonly part: number
  /** The number of parts, at most 1,000. */
  readonly of: number
}

const MAX_PARTS = 1_000

/** @param input The input that the error names. @throws {OperationError} `parameter-value` for a part that does not exist. */
export function checkPart({ part, of }: SubjectsPart, input = 'part'): void {
  const isPart = Number.isInteger(part) && Number.isInteger(of) && part >= 1 && part <= of && of <= MAX_PARTS
  if (isPart) return
  throw new OperationError(
    'parameter-value',
    `There is no part ${part} of ${of}: parts are numbered from 1, and there are at most 1,000.`,
    {
      expression: [input],
    },
  )
}

/**
 * Whether a subject is in a part. Only its id decides, so that all processes that evaluate parts agree, whatever their storage and whatever is written
 * meanwhile.
 */
export function isInPart(id: string, { part, of }: SubjectsPart): boolean {
  return hashOf(id) % of === part - 1
}

/** FNV-1a with 32 bits and final mixing, so that ids that differ only in their last digits are spread, too. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
