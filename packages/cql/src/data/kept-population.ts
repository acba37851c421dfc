import type { OperationContext } from 'fhir-ops/context'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { createPace } from 'fhir-ops/internal/context'
import { scanResources, type SearchQuery, type StoredResource } from 'fhir-ops/storage'
import { addReferences } from 'fhir-ops/internal/evaluate'
import { sourceOf, type ChangedAddress } from 'fhir-ops/internal/storage'
import { resourceElement } from '../model/fhir-types.js'
import { bytesOfJson } from '../values/json-text.js'
import type { FhirElement } from '../values/value.js'
import { memberOf } from '../model/property.js'
import { createKeptViews, type KeptSubject, type KeptViews } from './kept-views.js'
import { partsOf, referringOf, retrievePlans, searchFor, type Population, type TypePlan } from './population.js'
import type { RetrieverOptions } from './retrieve.js'
import { bothNames, includesNames, trimmedElement, type ReadNames } from './trimmed.js'

/** The requested population, which has no conditions. */
export interface KeptAsked extends Pick<Population, 'requests' | 'type'> {
  /** Names of the elements that may be read. */
  readonly names: ReadNames
}

/** All subjects of a population, in the order of the storage. */
export interface KeptPopulation {
  readonly subjects: readonly KeptSubject[]
  /** Index of each type in `resources`. */
  readonly places: ReadonlyMap<string, number>
  readonly views: KeptViews
}

/** Keeps populations of storages from one evaluation to the next. */
export interface KeptPopulations {
  /**
   * Returns a population in its current state; only changed resources are read. `undefined` if it is not kept: it needs too much memory, the storage
   * does not report changes, or another evaluation is reading it.
   *
   * @throws {OperationError} errors of `ctx.authorize` for a type that the caller may not search, and of the storage.
   */
  current(ctx: OperationContext, options: RetrieverOptions, asked: KeptAsked): Promise<KeptPopulation | undefined>
}

/** A type that is kept. */
interface KeptType extends TypePlan {
  readonly names: ReadNames
}

/** The kept population of one storage and one type of subjects. */
interface Shelf {
  /** The kept types. The first is that of the subjects, which has no searches. */
  types: readonly KeptType[]
  subjects: readonly KeptSubject[]
  /** Position up to which changes were read; absent while nothing is kept. */
  mark: string | undefined
  bytes: number
  /** The results of retrieves for the subjects. */
  views: KeptViews
  isFilling: boolean
  /** Keys of the requests that needed too much memory. */
  tooMuch: ReadonlySet<string>
  turn: Promise<unknown>
}

/**
 * @param maxBytes Maximum memory of all populations together, estimated; the least recently used are dropped first.
 */
export function createKeptPopulations(maxBytes: number): KeptPopulations {
  const shelves = new WeakMap<OperationContext['storage'], WeakMap<TypeModel, Map<string, Shelf>>>()
  const used = new Set<Shelf>()
  const shelfOf = (storage: OperationContext['storage'], model: TypeModel, type: string): Shelf => {
    const ofStorage = shelves.get(storage) ?? new WeakMap<TypeModel, Map<string, Shelf>>()
    shelves.set(storage, ofStorage)
    const own = ofStorage.get(model) ?? new Map<string, Shelf>()
    ofStorage.set(model, own)
    const shelf = own.get(type) ?? emptyShelf()
    own.set(type, shelf)
    used.delete(shelf)
    used.add(shelf)
    return shelf
  }
  const makeRoom = (shelf: Shelf, bytes: number): boolean => {
    let sum = bytes
    for (const one of used) if (one !== shelf) sum += one.bytes + one.views.bytes()
    for (const drop of [forgetViews, empty])
      for (const one of used) {
        if (sum <= maxBytes) break
        if (one === shelf || one.isFilling) continue
        sum -= one.bytes + one.views.bytes()
        drop(one)
        sum += one.bytes + one.views.bytes()
      }
    if (shelf.views.bytes() > maxBytes - sum) forgetViews(shelf)
    shelf.views.limit(maxBytes - sum)
    return sum <= maxBytes
  }
  return {
    async current(ctx, options, asked) {
      const { storage, search } = ctx
      if (storage.changes === undefined || search === undefined || maxBytes === 0) return undefined
      const plans = await retrievePlans(ctx, search, { ...options, ...asked })
      const { query } = await searchFor(ctx, { type: asked.type, conditions: [] })
      const shelf = shelfOf(sourceOf(storage), options.model, asked.type)
      if (shelf.isFilling || shelf.tooMuch.has(keyOf(asked, plans))) return undefined
      const own = plans.map((plan): KeptType => ({ ...plan, names: asked.names }))
      const wanted = [{ type: asked.type, params: [], searches: new Map<string, SearchQuery>(), names: asked.names }, ...own]
      const bring = shelf.turn.then(() => broughtUpToDate(ctx, shelf, { options, query, wanted, makeRoom }))
      shelf.turn = bring.catch(() => undefined)
      if (await bring) return populationOn(shelf)
      shelf.tooMuch = new Set([...shelf.tooMuch, keyOf(asked, plans)].slice(-MOST_KEYS))
      return undefined
    },
  }
}

const MOST_KEYS = 100

function emptyShelf(): Shelf {
  const views = createKeptViews()
  return { types: [], subjects: [], mark: undefined, bytes: 0, views, isFilling: false, tooMuch: new Set(), turn: Promise.resolve() }
}

function populationOn({ subjects, types, views }: Shelf): KeptPopulation {
  return { subjects, places: new Map(types.slice(1).map(({ type }, place) => [type, place])), views }
}

/** Drops results of retrieves and computed values, which can be computed again. Running evaluations continue with their own. */
function forgetViews(shelf: Shelf): void {
  shelf.subjects = shelf.subjects.map(({ subject, resources, ...kept }) => ({
    ...kept,
    subject: withoutValues(subject),
    resources: resources.map((all) => all.map(withoutValues)),
    views: [],
  }))
  shelf.views = createKeptViews()
}

function withoutValues(element: FhirElement): FhirElement {
  return { ...element, values: [] }
}

function empty(shelf: Shelf): void {
  Object.assign(shelf, { ...emptyShelf(), turn: shelf.turn, tooMuch: shelf.tooMuch })
}

function keyOf({ type }: KeptAsked, plans: readonly TypePlan[]): string {
  return JSON.stringify([type, ...plans.map((plan) => [plan.type, ...plan.searches.keys()])])
}

interface Bringing {
  readonly options: RetrieverOptions
  /** Finds the population. */
  readonly query: SearchQuery
  readonly wanted: readonly KeptType[]
  /** Whether the shelf may use this many bytes; other shelves are emptied for it. */
  readonly makeRoom: (shelf: Shelf, bytes: number) => boolean
}

/** If one in this many kept subjects has changed, reading all is faster than reading some. */
const MANY = 4

/** @returns Whether everything that is wanted is now kept in its current state. */
async function broughtUpToDate(ctx: OperationContext, shelf: Shelf, bringing: Bringing): Promise<boolean> {
  const changes = await ctx.storage.changes?.(shelf.mark)
  if (changes === undefined) return false
  const { mark, changed } = changes
  const { subjects } = shelf
  const types = withWanted(shelf.types, bringing.wanted)
  const touched = changed === 'unknown' || types !== shelf.types ? 'all' : await touchedSubjects(ctx, shelf, changed)
  if (touched === 'all' || touched.size * MANY > subjects.length + MANY) return await filled(ctx, shelf, { ...bringing, types, mark })
  if (touched.size > 0) {
    const read = new Map<string, KeptSubject>()
    for await (const one of readSubjects(ctx, { ...bringing, types, ids: touched })) read.set(one.id, one)
    // Another population may have taken its memory in the meantime.
    if (shelf.subjects !== subjects) return await filled(ctx, shelf, { ...bringing, types, mark })
    shelf.subjects = replaced(subjects, touched, read)
    shelf.bytes = bytesOf(shelf.subjects)
  }
  shelf.mark = mark
  if (bringing.makeRoom(shelf, shelf.bytes)) return true
  empty(shelf)
  return false
}

/** Adds wanted types to the kept ones; returns the same list if it already has them. */
function withWanted(types: readonly KeptType[], wanted: readonly KeptType[]): readonly KeptType[] {
  const isKept = wanted.every(({ type, searches, names }) => {
    const own = types.find((one) => one.type === type)
    return own !== undefined && includesNames(own.names, names) && [...searches.keys()].every((key) => own.searches.has(key))
  })
  if (isKept) return types
  const all = new Map(wanted.map((one) => [one.type, one]))
  for (const { type, params, searches, names } of types) {
    const own = all.get(type)
    all.set(type, {
      type,
      params,
      searches: new Map([...searches, ...(own?.searches ?? [])]),
      names: own === undefined ? names : bothNames(names, own.names),
    })
  }
  return [...all.values()]
}

interface Filling extends Bringing, Pick<Shelf, 'types'> {
  readonly mark: string
}

/** Reads everything. The kept subjects are dropped first, because both together may need too much memory. */
async function filled(ctx: OperationContext, shelf: Shelf, filling: Filling): Promise<boolean> {
  empty(shelf)
  shelf.isFilling = true
  try {
    const subjects: KeptSubject[] = []
    let bytes = 0
    for await (const one of readSubjects(ctx, { ...filling, ids: 'all' })) {
      subjects.push(one)
      bytes += one.bytes
      if (!filling.makeRoom(shelf, bytes)) return false
    }
    Object.assign(shelf, { types: filling.types, subjects, bytes, mark: filling.mark })
    return true
  } finally {
    shelf.isFilling = false
  }
}

interface Reading extends Pick<Filling, 'options' | 'query' | 'types'> {
  readonly ids: Population['ids']
}

async function* readSubjects(ctx: OperationContext, { options, query, types, ids }: Reading): AsyncGenerator<KeptSubject> {
  const [own, ...others] = types
  if (own === undefined) return
  const referring = others.map(referringOf)
  const pace = createPace(ctx)
  for (const part of partsOf(query, ids))
    for await (const { stored, referring: found } of scanResources(ctx.storage, { ...part, referring })) {
      pace.check()
      const turn = pace.step()
      if (turn !== undefined) await turn
      const subject = resourceElement(options.model, stored.resource)
      if (subject === undefined) continue
      const resources = trimmedByType(options, others, found)
      yield keptSubject(stored.id, trimmedElement(subject, own.names), resources)
    }
}

/** The resources that were found, by type. */
function trimmedByType(
  { model }: RetrieverOptions,
  types: readonly KeptType[],
  found: readonly StoredResource[],
): readonly (readonly FhirElement[])[] {
  const byType = Map.groupBy(found, ({ type }) => type)
  return types.map(({ type, names }) =>
    (byType.get(type) ?? []).flatMap(({ resource }) => {
      const element = resourceElement(model, resource)
      return element === undefined ? [] : [trimmedElement(element, names)]
    }),
  )
}

/** Bytes of the objects around a subject and around an element. */
const SUBJECT_BYTES = 160
const ELEMENT_BYTES = 48

function keptSubject(id: string, subject: FhirElement, resources: readonly (readonly FhirElement[])[]): KeptSubject {
  let bytes = SUBJECT_BYTES + id.length + bytesOfJson(subject.json)
  for (const all of resources) for (const { json } of all) bytes += ELEMENT_BYTES + bytesOfJson(json)
  return { id, subject, resources, bytes, views: [] }
}

/** Replaces subjects in the order of ids, which is the order of storages that report changes. */
function replaced(
  subjects: readonly KeptSubject[],
  touched: ReadonlySet<string>,
  read: ReadonlyMap<string, KeptSubject>,
): readonly KeptSubject[] {
  const known = new Set<string>()
  const all = subjects.flatMap((one) => {
    if (!touched.has(one.id)) return [one]
    known.add(one.id)
    return read.get(one.id) ?? []
  })
  const added = [...read.values()].filter(({ id }) => !known.has(id))
  return added.length === 0 ? all : [...all, ...added].toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

function bytesOf(subjects: readonly KeptSubject[]): number {
  return subjects.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The kept subjects and the types of their resources, that of the subjects first. */
interface Kept {
  readonly subjects: readonly KeptSubject[]
  readonly types: readonly { readonly type: string }[]
}

/** The ids of the subjects affected by changes: those that had a changed resource, those to which one refers now, and those that changed themselves. */
async function touchedSubjects(
  ctx: OperationContext,
  { subjects, types }: Kept,
  changed: readonly ChangedAddress[],
): Promise<ReadonlySet<string>> {
  const [own, ...others] = types
  const byType = Map.groupBy(changed, ({ type }) => type)
  const idsOf = (type = ''): ReadonlySet<string> => new Set((byType.get(type) ?? []).map(({ id }) => id))
  const touched = new Set(idsOf(own?.type))
  const pace = createPace(ctx)
  for (const [place, { type }] of others.entries()) {
    const ids = idsOf(type)
    if (ids.size === 0) continue
    for (const subject of subjects) {
      const turn = pace.step()
      if (turn !== undefined) await turn
      if (holds(subject, place, ids)) touched.add(subject.id)
    }
    for (const id of ids) {
      const stored = await ctx.storage.read(type, id)
      pace.check()
      if (stored !== undefined) addReferences(stored.resource, own?.type ?? '', touched)
    }
  }
  return touched
}

function holds({ resources }: KeptSubject, place: number, ids: ReadonlySet<string>): boolean {
  return resources[place]?.some(({ json }) => ids.has(String(memberOf(json, 'id')))) === true
}
