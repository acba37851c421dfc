import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { parseSearch } from 'fhir-ops/search'
import { allMatches } from 'fhir-ops/storage'
import { resourceElement } from '../model/fhir-types.js'
import { memberOf } from '../model/property.js'
import type { FhirElement } from '../values/value.js'

/** The subject of an evaluation: `Patient/p1`. */
export interface SubjectReference {
  readonly type: string
  readonly id: string
}

const PAGE = 500

/**
 * The subject, and the resources of these types that belong to it. Resources of types that belong to no patient (Location, Medication ...)
 * are all there are.
 *
 * @throws {OperationError} `content-not-found` when there is no such subject; `too-costly` for more than `limits.maxExpansion` resources;
 *   what `ctx.authorize` throws for a type that the caller may not search.
 */
export async function loadRecord(
  ctx: OperationContext,
  model: TypeModel,
  subject: SubjectReference,
  types: readonly string[],
): Promise<{ readonly subject: FhirElement; readonly resources: readonly FhirElement[] }> {
  ctx.authorize?.('read', subject.type, subject.id)
  const stored = await ctx.storage.read(subject.type, subject.id)
  const own = stored === undefined ? undefined : resourceElement(model, stored.resource)
  if (own === undefined)
    throw new OperationError('content-not-found', `${subject.type}/${subject.id} does not exist.`, { expression: ['subject'] })
  const resources: FhirElement[] = []
  for (const type of types) {
    if (type === subject.type) resources.push(own)
    else if (type === 'Patient') resources.push(...(await patientOf(ctx, model, own)))
    else await loadType(ctx, model, { subject, type, into: resources })
  }
  return { subject: own, resources }
}

/** The patient that a subject of another type is about. */
async function patientOf(ctx: OperationContext, model: TypeModel, { json }: FhirElement): Promise<readonly FhirElement[]> {
  const reference = memberOf(memberOf(json, 'subject') ?? memberOf(json, 'patient'), 'reference')
  const id = typeof reference === 'string' ? /^Patient\/([A-Za-z0-9\-.]{1,64})$/.exec(reference)?.[1] : undefined
  if (id === undefined) return []
  ctx.authorize?.('read', 'Patient', id)
  const element = resourceElement(model, (await ctx.storage.read('Patient', id))?.resource)
  return element === undefined ? [] : [element]
}

interface TypeToLoad {
  /** Whose resources; all when absent. */
  readonly subject: SubjectReference | undefined
  readonly type: string
  readonly into: FhirElement[]
}

async function loadType(ctx: OperationContext, model: TypeModel, { subject, type, into }: TypeToLoad): Promise<void> {
  if (ctx.search === undefined) throw new OperationError('not-supported', 'Retrieves need search parameters, which are not loaded.')
  ctx.authorize?.('search', type)
  const name = subject === undefined ? undefined : subjectParameter(ctx.search, type, subject.type)
  const { query } = await parseSearch(
    type,
    subject === undefined || name === undefined ? [] : [[name, `${subject.type}/${subject.id}`]],
    ctx.search,
  )
  for await (const match of allMatches(ctx.storage, { ...query, limit: PAGE })) {
    const element = resourceElement(model, match.resource)
    if (element !== undefined) into.push(element)
    if (into.length > ctx.limits.maxExpansion)
      throw new OperationError('too-costly', `An evaluation reads at most ${ctx.limits.maxExpansion} resources; ${quoted(type)} has more.`)
  }
}

/** The search parameter by which resources of a type refer to the subject; `undefined` for types that do not belong to one. */
function subjectParameter(search: NonNullable<OperationContext['search']>, type: string, subjectType: string): string | undefined {
  return [subjectType.toLowerCase(), 'subject'].find((code) => {
    const parameter = search.parameters.find(type, code)
    return parameter?.type === 'reference' && (parameter.targets.length === 0 || parameter.targets.includes(subjectType))
  })
}

/** What subjects of a measure have in common. */
export interface SharedRecords {
  /** Types whose resources belong to a patient, which are read for each. */
  readonly own: readonly string[]
  /** All resources of the types that belong to no patient. */
  readonly common: readonly FhirElement[]
  /** All resources of the types that are retrieved without regard to the subject. */
  readonly unfiltered: readonly FhirElement[]
}

/** Types that are retrieved. */
export interface SharedTypes {
  readonly subjectType: string
  readonly types: readonly string[]
  /** Types that are retrieved without regard to the subject. */
  readonly unfilteredTypes: readonly string[]
}

/**
 * Reads what does not depend on the subject, once for all of them.
 *
 * @throws {OperationError} as `loadRecord`.
 */
export async function loadShared(
  ctx: OperationContext,
  model: TypeModel,
  { subjectType, types, unfilteredTypes }: SharedTypes,
): Promise<SharedRecords> {
  const { search } = ctx
  if (search === undefined) throw new OperationError('not-supported', 'Retrieves need search parameters, which are not loaded.')
  const isOwn = (type: string): boolean =>
    type === subjectType || type === 'Patient' || subjectParameter(search, type, subjectType) !== undefined
  const common: FhirElement[] = []
  const unfiltered: FhirElement[] = []
  for (const type of types.filter((one) => !isOwn(one))) await loadType(ctx, model, { subject: undefined, type, into: common })
  for (const type of unfilteredTypes) await loadType(ctx, model, { subject: undefined, type, into: unfiltered })
  return { own: types.filter(isOwn), common, unfiltered }
}
