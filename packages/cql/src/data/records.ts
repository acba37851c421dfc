import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { createPace } from 'fhir-ops/internal/context'
import { quoted } from 'fhir-ops/internal/errors'
import { parseSearch } from 'fhir-ops/search'
import { allMatches } from 'fhir-ops/storage'
import type { RetrieveRequest } from '../compile/compiler.js'
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
  /** What a retrieve finds. @throws {MissingRecords} when its resources were not read yet. */
  readonly retrieve: (request: RetrieveRequest) => readonly FhirElement[]
  /**
   * Evaluates. What is needed is read when a retrieve asks for it, so an evaluation that needs no more ends early; definitions that were
   * already evaluated are not evaluated again.
   *
   * @throws {OperationError} `too-costly` for more than `limits.maxExpansion` resources of a type; what `ctx.authorize` throws for a type that
   *   the caller may not search.
   */
  evaluate<T>(evaluation: () => T): Promise<T> | T
}

/** Thrown by a retrieve whose resources must be read first. */
class MissingRecords extends Error {
  readonly type: string
  /** Whose resources; all when absent. */
  readonly holder: SubjectReference | undefined

  constructor(type: string, holder: SubjectReference | undefined) {
    super(`The resources of type ${type} were not read.`)
    this.type = type
    this.holder = holder
  }
}

type Known = Map<string, readonly FhirElement[]>

const PAGE = 500

/** Resources of a subject that were read already: all that a retrieve can find of a type; `undefined` for types that were not read. */
export type ReadResources = (type: string) => readonly FhirElement[] | undefined

/** Begins the records of one subject after the other. Resources that belong to no subject are read once. */
export function storedRecords(
  ctx: OperationContext,
  options: RetrieverOptions,
): (subject: FhirElement | undefined, read?: ReadResources) => Records {
  const common: Known = new Map()
  return (subject, read) => {
    let further: FurtherRecords | undefined
    const others = (): FurtherRecords => (further ??= furtherRecords(ctx, options, { subject, common }))
    return {
      retrieve: (request) => {
        const { type, context, unfiltered } = request
        const ready = context === undefined && !unfiltered ? read?.(type) : undefined
        return selected(ready ?? others().find(request), request, options)
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

/** Resources that did not come with a subject. */
interface FurtherRecords {
  /** Those of the type of a retrieve. @throws {MissingRecords} when they were not read yet. */
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
      const holder = holderOf(ctx, request, reference)
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

/** Evaluates again when what was missing is read. */
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

/** Whose resources a retrieve is about: those of the resource that it names, or of the subject; `undefined` for all. */
function holderOf(
  { search }: OperationContext,
  { type, unfiltered, context }: RetrieveRequest,
  subject: SubjectReference | undefined,
): SubjectReference | undefined {
  const holder = context === undefined || context === null ? (unfiltered ? undefined : subject) : referenceOf(context)
  if (holder === undefined) return undefined
  if (type === holder.type || type === 'Patient') return holder
  return search !== undefined && subjectParameter(search, type, holder.type) === undefined ? undefined : holder
}

/**
 * Records over resources that come with a call. With a subject, what is another one, or names another one as its `subject` or `patient`, is
 * retrieved only by what asks for the resources of all; what names none belongs to it.
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
    const { type: holderType, id } = referenceOf(context)
    return all.filter((resource) => refersTo(resource, `${holderType}/${id}`))
  }
  return {
    retrieve: (request) => selected(found(request), request, options),
    evaluate: (evaluation) => evaluation(),
  }
}

const RESOURCE_REFERENCE = /(?:^|\/)([A-Z]\w{0,63})\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/[^/]{1,64})?$/

/** True of a resource that is, or says that it is about, another subject of the same type. */
function isOfAnother(resource: FhirElement, subject: SubjectReference): boolean {
  const own = referenceOf(resource)
  if (own.type === subject.type) return own.id !== subject.id
  const named = ['subject', 'patient'].flatMap((name) => memberOf(resource.json, name) ?? []).flatMap((item) => targetOf(item) ?? [])
  const sameType = named.filter(({ type }) => type === subject.type)
  return sameType.length > 0 && sameType.every(({ id }) => id !== subject.id)
}

function targetOf(reference: unknown): SubjectReference | undefined {
  const text = memberOf(reference, 'reference')
  const [, type, id] = (typeof text === 'string' && text.length <= 2_000 ? RESOURCE_REFERENCE.exec(text) : null) ?? []
  return type === undefined || id === undefined ? undefined : { type, id }
}

function refersTo({ json }: FhirElement, reference: string): boolean {
  if (typeof json !== 'object' || json === null) return false
  return Object.values(json).some((member) =>
    (Array.isArray(member) ? member : [member]).some((item) => memberOf(item, 'reference') === reference),
  )
}

/**
 * The subject of an evaluation.
 *
 * @throws {OperationError} `content-not-found` when there is no such subject; what `ctx.authorize` throws.
 */
export async function readSubject(ctx: OperationContext, { model }: RetrieverOptions, subject: SubjectReference): Promise<FhirElement> {
  ctx.authorize?.('read', subject.type, subject.id)
  const stored = await ctx.storage.read(subject.type, subject.id)
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
  const own = subject !== undefined && isSame(referenceOf(subject), holder) ? subject : await readSubject(ctx, options, holder)
  if (type === holder.type) return [own]
  if (type === 'Patient') return await patientOf(ctx, options, own)
  const name = ctx.search === undefined ? undefined : subjectParameter(ctx.search, type, holder.type)
  return await searched(ctx, options, { type, parameters: name === undefined ? [] : [[name, `${holder.type}/${holder.id}`]] })
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
  ctx.authorize?.('read', 'Patient', id)
  const element = resourceElement(options.model, (await ctx.storage.read('Patient', id))?.resource)
  return element === undefined ? [] : [element]
}

/** The search parameter by which resources of a type refer to the subject; `undefined` for types that do not belong to one. */
export function subjectParameter(search: NonNullable<OperationContext['search']>, type: string, subjectType: string): string | undefined {
  return [subjectType.toLowerCase(), 'subject'].find((code) => {
    const parameter = search.parameters.find(type, code)
    return parameter?.type === 'reference' && (parameter.targets.length === 0 || parameter.targets.includes(subjectType))
  })
}

function referenceOf({ type, json }: FhirElement): SubjectReference {
  const id = memberOf(json, 'id')
  return { type: type.name, id: typeof id === 'string' ? id : '' }
}

function isSame(one: SubjectReference, other: SubjectReference): boolean {
  return one.type === other.type && one.id === other.id
}
