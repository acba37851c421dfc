import type { Scope } from 'fhir-ops/evaluate'
import type { OperationContext } from 'fhir-ops/context'
import type { KeptAsked, KeptPopulation } from '../data/kept-population.js'
import type { Meets, RetrieveRequest } from '../compile/compiler.js'
import type { KeptSubject } from '../data/kept-views.js'
import type { SubjectRecords } from '../data/population.js'
import { storedRecords, type FindRead, type Records } from '../data/records.js'
import { selected, type RetrieverOptions } from '../data/retrieve.js'
import { namesRead, type ReadNames } from '../data/trimmed.js'
import { loadedLibraries } from './loaded-measure.js'
import type { FhirElement } from '../values/value.js'
import type { Prepared } from './prepare.js'
import { FHIRPATH_LANGUAGE } from './languages.js'

/** Whether a Measure is evaluated for a whole population, no trace is recorded, and no results are kept. */
export function isOfEverybody(scope: Scope): boolean {
  const { kept, individual, coverage, part, subject, practitioner } = scope
  if (kept !== undefined || individual === true || coverage === true || part !== undefined) return false
  return subject === undefined && practitioner === undefined
}

/** The resources to keep for a Measure, for any period: by the codes of its retrieves, without other conditions of queries. */
export function keptAsked({ subjectType: type, groups, supplements = [] }: Scope, prepared: Prepared): KeptAsked {
  const requests = prepared.requests().map((request) => ({ ...request, narrowing: [], listedRange: undefined }))
  const criteria = [
    ...groups.flatMap(({ populations, stratifiers }) => [...populations, ...stratifiers.flatMap((stratifier) => stratifier.criteria)]),
    ...supplements,
  ]
  // FHIRPath may read elements that it does not name, and a resource may be compared with one that was read in another way.
  const readsWhole =
    criteria.some(({ language }) => language === FHIRPATH_LANGUAGE) ||
    requests.some(({ unfiltered, context }) => unfiltered || context !== undefined)
  return { type, requests, names: readsWhole ? 'all' : namesOf(prepared, requests) }
}

function namesOf(prepared: Prepared, requests: KeptAsked['requests']): ReadNames {
  const elm = loadedLibraries(prepared).flatMap((library) => [library.elm, ...library.includes.values()])
  const names = namesRead(elm)
  const paths = requests
    .flatMap(({ codePath, datePath, ofProfile }) => [codePath, datePath, ...(ofProfile?.asked() ?? []).map(({ element }) => element)])
    .filter((path) => path !== undefined)
  return names === 'all' ? names : new Set([...names, ...paths.flatMap((path) => path.split('.'))])
}

/** Yields the subjects of a kept population with their records, which are valid until the next subject is requested. */
export function* keptRecords(
  ctx: OperationContext,
  prepared: Prepared,
  { subjects, places, views }: KeptPopulation,
): Generator<SubjectRecords, void, undefined> {
  const recordsOf = storedRecords(ctx, prepared)
  const keptValues = views.values(prepared.convert)
  const known = new WeakMap<RetrieveRequest, FindKept>()
  const finderFor = (request: RetrieveRequest): FindKept => {
    const find = known.get(request) ?? keptFinder(request, prepared, { places, views })
    known.set(request, find)
    return find
  }
  let [current] = subjects
  const found: FindRead = (request) => (current === undefined ? undefined : finderFor(request).all(current))
  const sift: Records['sift'] = (request, meets) => (current === undefined ? undefined : finderFor(request).sift?.(current, meets))
  for (const kept of subjects) {
    current = kept
    const { id, subject } = kept
    yield { id, subject, records: { ...recordsOf(subject, found), sift, keptValues } }
  }
}

/** Finds the resources of a retrieve among those that are kept of a subject. */
interface FindKept {
  readonly all: (subject: KeptSubject) => readonly FhirElement[] | undefined
  /** Absent if no results of conditions are known in advance. */
  readonly sift?: (subject: KeptSubject, meets: Meets) => readonly FhirElement[]
}

function keptFinder(request: RetrieveRequest, options: RetrieverOptions, { places, views }: Omit<KeptPopulation, 'subjects'>): FindKept {
  if (request.type === options.links.subjectType) return { all: ({ subject }) => selected([subject], request, options) }
  const place = places.get(request.type)
  if (place === undefined) return { all: () => undefined }
  const resourcesOf = ({ resources }: KeptSubject): readonly FhirElement[] => resources[place] ?? []
  const find = views.retrieve(request, options)
  if (find === undefined) return { all: (subject) => selected(resourcesOf(subject), request, options) }
  return {
    all: (subject) => find(subject, resourcesOf(subject)),
    sift: (subject, meets) => find(subject, resourcesOf(subject), meets),
  }
}
