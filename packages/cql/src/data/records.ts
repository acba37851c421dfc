import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { createPace } from 'fhir-ops/internal/context'
import { quoted } from 'fhir-ops/internal/errors'
import { addReferences, subjectLinks } from 'fhir-ops/internal/evaluate'
import { isHidden } from 'fhir-ops/internal/operation'
import { parseSearch } from 'fhir-ops/search'
import { allMatches } from 'fhir-ops/storage'
import type { Evaluation, RetrieveRequest } from '../compile/compiler.js'
import { resourceElement } from '../model/fhir-types.js'
import { memberOf } from '../model/property.js'
import type { FhirElement } from '../values/value.js'
import { selected, type RetrieverOptions } from './retrieve.js'

/** The subject of an evaluation: `Patient/p1`. */
export interface SubjectReference {
  readonly type: string
  readonly id: string
}

/** The resources that retrieves read: those of one subject and those of no subject. */
export interface Records {
  /** Returns the resources of a retrieve. @throws {MissingRecords} if they were not read yet. */
  readonly retrieve: (request: RetrieveRequest) => readonly FhirElement[]
  /** As in `Evaluation`; absent if no results of conditions are known in advance. */
  readonly sift?: Evaluation['sift']
  readonly keptValues?: Evaluation['keptValues']
  /**
   * Evaluates. Resources are read when a retrieve needs them, so nothing is read that is not needed. Definitions that were already evaluated are not
   * evaluated again.
   *
   * @throws {OperationError} `too-costly` for more than `limits.maxExpansion` resources of a type; errors of `ctx.authorize` for a type that
   *   the caller may not search.
   */
  evaluate<T>(evaluation: () => T): Promise<T> | T
}

/** Thrown by a retrieve whose resources must be read first. */
class MissingRecords extends Error {
  readonly type: string
  /** The resource to which they belong; if absent, all resources of the type are missing. */
  readonly holder: SubjectReference | undefined

  constructor(type: string, holder: SubjectReference | undefined) {
    super(`The resources of type ${type} were not read.`)
    this.type = type
    this.holder = holder
  }
}

type Known = Map<string, readonly FhirElement[]>

const PAGE = 500

/** Returns the resources of a retrieve among those of a subject that were read; `undefined` if those of its type were not. */
export type FindRead = (request: RetrieveRequest) => readonly FhirElement[] | undefined

/** Returns a function that creates the records of the next subject. Resources that belong to no subject are read once. */
export function storedRecords(
  ctx: OperationContext,
  options: RetrieverOptions,
): (subject: FhirElement | undefined, findRead?: FindRead) => Records {
  const common: Known = new Map()
  return (subject, findRead) => {
    let further: FurtherRecords | undefined
    const others = (): FurtherRecords => (further ??= furtherRecords(ctx, options, { subject, common }))
    return {
      retrieve: (request) => {
        const found = request.context === undefined && !request.unfiltered ? findRead?.(request) : undefined
        return found ?? selected(others().find(request), request, options)
      },
      evaluate: (evaluation) => {
        try {
          return evaluation()
        } catch (missing) {
          if (!(missing instanceof MissingRecords)) throw missing
          return evaluatedWith(ctx, evaluation, { missing, read: others().read })
        }
      },
    }
  }
}

/** Resources that were not read together with a subject. */
interface FurtherRecords {
  /** Returns those of the type of a retrieve. @throws {MissingRecords} if they were not read yet. */
  find(request: RetrieveRequest): readonly FhirElement[]
  readonly read: (missing: MissingRecords) => Promise<void>
}

function furtherRecords(
  ctx: OperationContext,
  options: RetrieverOptions,
  { subject, common }: { readonly subject: FhirElement | undefined; readonly common: Known },
): FurtherRecords {
  const own: Known = new Map()
  const reference = subject === undefined ? undefined : referenceOf(subject)
  const placeOf = (type: string, holder: SubjectReference | undefined): { readonly known: Known; readonly key: string } =>
    holder === undefined ? { known: common, key: type } : { known: own, key: `${holder.type}/${holder.id} ${type}` }
  return {
    find: (request) => {
      if (request.context === null) return []
      const holder = holderOf(request, reference, options)
      const { known, key } = placeOf(request.type, holder)
      const resources = known.get(key)
      if (resources === undefined) throw new MissingRecords(request.type, holder)
      return resources
    },
    read: async ({ type, holder }) => {
      const { known, key } = placeOf(type, holder)
      known.set(key, await readType(ctx, options, { type, holder, subject }))
    },
  }
}

interface Missing extends Pick<FurtherRecords, 'read'> {
  readonly missing: MissingRecords
}

/** Reads the missing resources and evaluates again, until nothing is missing. */
async function evaluatedWith<T>(ctx: OperationContext, evaluation: () => T, { missing, read }: Missing): Promise<T> {
  const pace = createPace(ctx)
  for (let next = missing; ;) {
    await read(next)
    await pace.step()
    try {
      return evaluation()
    } catch (error) {
      if (!(error instanceof MissingRecords)) throw error
      next = error
    }
  }
}

/** The resource whose resources are retrieved: the one that the retrieve names, or the subject; `undefined` for all. */
function holderOf(
  { type, unfiltered, context }: RetrieveRequest,
  subject: SubjectReference | undefined,
  { links, model }: RetrieverOptions,
): SubjectReference | undefined {
  if (context !== undefined && context !== null) return referenceOf(context)
  if (unfiltered || subject === undefined) return undefined
  const isOwn = type === subject.type || links.paramsOf(type).length > 0 || (type === 'Patient' && isAboutPatient(model, subject))
  return isOwn ? subject : undefined
}

/** Whether resources of a type refer to the patient that they are about. */
function isAboutPatient(model: RetrieverOptions['model'], { type }: SubjectReference): boolean {
  const elements = model.type(type)?.elements
  return elements !== undefined && PATIENT_ELEMENTS.some((name) => elements.has(name))
}

const PATIENT_ELEMENTS = ['subject', 'patient'] as const

/**
 * Creates the records for resources that are part of a call. With a subject, resources that are another subject, or refer to another one (a patient as
 * `subject` or `patient`), are found only by retrieves of all subjects' resources; resources that refer to none belong to the subject.
 */
export function givenRecords(resources: readonly FhirElement[], subject: FhirElement | undefined, options: RetrieverOptions): Records {
  const byType = Map.groupBy(resources, ({ type }) => type.name)
  const reference = subject === undefined ? undefined : referenceOf(subject)
  const found = ({ type, unfiltered, context }: RetrieveRequest): readonly FhirElement[] => {
    const all = byType.get(type) ?? []
    if (context === null) return []
    if (context === undefined) {
      return reference === undefined || unfiltered ? all : all.filter((resource) => !isOfAnother(resource, reference))
    }
    const holder = referenceOf(context)
    return all.filter(({ json }) => idsIn(json, holder.type).has(holder.id))
  }
  return {
    retrieve: (request) => selected(found(request), request, options),
    evaluate: (evaluation) => evaluation(),
  }
}

/** Combines the resources of a call with those in the storage; a resource of the call replaces the stored one. */
export function joinedRecords(stored: Records, given: { readonly resources: readonly FhirElement[]; readonly records: Records }): Records {
  const keyOf = (resource: FhirElement): string => `${resource.type.name}/${String(memberOf(resource.json, 'id'))}`
  const replaced = new Set(given.resources.map(keyOf))
  return {
    retrieve: (request) => [
      ...given.records.retrieve(request),
      ...stored.retrieve(request).filter((resource) => !replaced.has(keyOf(resource))),
    ],
    evaluate: (evaluation) => stored.evaluate(evaluation),
  }
}

/** True if a resource is another subject of the same type, is about another patient, or refers only to other subjects of that type. */
function isOfAnother(resource: FhirElement, subject: SubjectReference): boolean {
  const own = referenceOf(resource)
  if (own.type === subject.type) return own.id !== subject.id
  const named = subject.type === 'Patient' ? PATIENT_ELEMENTS.map((name) => memberOf(resource.json, name)) : resource.json
  const sameType = idsIn(named, subject.type)
  return sameType.size > 0 && !sameType.has(subject.id)
}

/** The ids of all resources of a type to which a value refers. */
function idsIn(json: unknown, type: string): ReadonlySet<string> {
  const found = new Set<string>()
  addReferences(json, type, found)
  return found
}

/**
 * Reads the subject of an evaluation.
 *
 * @throws {OperationError} `content-not-found` if the subject does not exist; errors of `ctx.authorize`.
 */
export async function readSubject(ctx: OperationContext, { model }: RetrieverOptions, subject: SubjectReference): Promise<FhirElement> {
  const stored = isHidden(ctx, subject.type, subject.id) ? undefined : await ctx.storage.read(subject.type, subject.id)
  const own = stored === undefined ? undefined : resourceElement(model, stored.resource)
  if (own !== undefined) return own
  throw new OperationError('content-not-found', `${subject.type}/${subject.id} does not exist.`, { expression: ['subject'] })
}

interface TypeToRead {
  readonly type: string
  readonly holder: SubjectReference | undefined
  readonly subject: FhirElement | undefined
}

async function readType(
  ctx: OperationContext,
  options: RetrieverOptions,
  { type, holder, subject }: TypeToRead,
): Promise<readonly FhirElement[]> {
  if (holder === undefined) return await searched(ctx, options, { type, parameters: [] })
  const isSubject = subject !== undefined && isSame(referenceOf(subject), holder)
  const own = isSubject ? subject : await readSubject(ctx, options, holder)
  if (type === holder.type) return [own]
  const { paramsOf } = isSubject ? options.links : await subjectLinks(ctx, holder.type)
  const params = paramsOf(type)
  if (params.length === 0 && type === 'Patient' && isAboutPatient(options.model, holder)) return await patientOf(ctx, options, own)
  if (params.length === 0) return await searched(ctx, options, { type, parameters: [] })
  const found = new Map<string, FhirElement>()
  for (const param of params)
    for (const element of await searched(ctx, options, { type, parameters: [[param, `${holder.type}/${holder.id}`]] }))
      found.set(referenceOf(element).id, element)
  return [...found.values()]
}

interface TypeSearch {
  readonly type: string
  readonly parameters: readonly (readonly [string, string])[]
}

async function searched(
  ctx: OperationContext,
  { model }: RetrieverOptions,
  { type, parameters }: TypeSearch,
): Promise<readonly FhirElement[]> {
  if (ctx.search === undefined) throw new OperationError('not-supported', 'Retrieves need search parameters, which are not loaded.')
  ctx.authorize?.('search', type)
  const { query } = await parseSearch(type, parameters, ctx.search)
  const found: FhirElement[] = []
  for await (const match of allMatches(ctx.storage, { ...query, limit: PAGE })) {
    const element = resourceElement(model, match.resource)
    if (element !== undefined) found.push(element)
    if (found.length > ctx.limits.maxExpansion)
      throw new OperationError('too-costly', `An evaluation reads at most ${ctx.limits.maxExpansion} resources; ${quoted(type)} has more.`)
  }
  return found
}

/** The patient that a subject of another type is about. */
async function patientOf(ctx: OperationContext, options: RetrieverOptions, { json }: FhirElement): Promise<readonly FhirElement[]> {
  const reference = memberOf(memberOf(json, 'subject') ?? memberOf(json, 'patient'), 'reference')
  const id = typeof reference === 'string' ? /^Patient\/([A-Za-z0-9\-.]{1,64})$/.exec(reference)?.[1] : undefined
  if (id === undefined) return []
  if (isHidden(ctx, 'Patient', id)) return []
  const element = resourceElement(options.model, (await ctx.storage.read('Patient', id))?.resource)
  return element === undefined ? [] : [element]
}

function referenceOf({ type, json }: FhirElement): SubjectReference {
  const id = memberOf(json, 'id')
  return { type: type.name, id: typeof id === 'string' ? id : '' }
}

function isSame(one: SubjectReference, other: SubjectReference): boolean {
  return one.type === other.type && one.id === other.id
}
