import type { KeptResults, SubjectResult } from 'fhir-ops/internal/evaluate'
import type { Contribution, MeasureWork, TimedContribution } from './contribution.js'

/** A subject with its contribution. */
export type KeptSubject = readonly [id: string, contribution: Contribution]

/** The contributions of subjects in their latest evaluation. */
interface KeptSubjects {
  /** Subjects that must always be evaluated again: those whose evaluation failed, and those whose results depend on the time. */
  readonly unsettled: Set<string>
  /** @yields Each subject with its contribution. */
  all(): Iterable<KeptSubject>
  /** @yields Each contribution that is shared because it names nothing but the subject itself, with the number of its subjects. */
  alike(): Iterable<readonly [contribution: Contribution, subjects: number]>
  /** @yields Each other subject. */
  others(): Iterable<KeptSubject>
  keep(id: string, timed: TimedContribution): void
  /** Removes some subjects, or all, that are evaluated next. Until `complete` is called, the kept subjects are incomplete. */
  begin(ids: ReadonlySet<string> | 'all'): void
  complete(): void
  /** Number of kept subjects; 0 while they are incomplete. */
  size(): number
}

/** The kept subjects of an evaluation, and the ids of those that must be evaluated. */
export interface Refresh {
  readonly kept: KeptSubjects
  readonly ids: ReadonlySet<string> | 'all'
  readonly done: () => void
}

/** If one in this many kept subjects is affected by changes, reading all subjects is faster than reading some. */
const MANY = 4

/** Finds the subjects that must be evaluated; `undefined` if nothing is kept. */
export async function refreshOf({ scope, prepared }: MeasureWork, keptSubjects: KeptSubjectsOf): Promise<Refresh | undefined> {
  if (scope.kept === undefined || scope.individual === true || scope.subject?.type === scope.subjectType) return undefined
  const kept = keptSubjects(scope.kept, scope.subjectType)
  const isOwn = (type: string): boolean => prepared.links.paramsOf(type).length > 0
  const requests = prepared.requests()
  const common = requests.filter(({ type, unfiltered, context }) => unfiltered || context !== undefined || !isOwn(type))
  const { subjects, done } = await scope.kept.changes.touched({
    subjectType: scope.subjectType,
    types: requests.map(({ type }) => type),
    common: common.map(({ type }) => type).filter((type) => type !== scope.subjectType),
  })
  const ids = subjects === 'all' ? 'all' : new Set([...subjects, ...kept.unsettled])
  const asked = ids === 'all' || kept.size() === 0 || ids.size * MANY > kept.size() + MANY ? 'all' : ids
  kept.begin(asked)
  return { kept, ids: asked, done }
}

/** Returns the subjects that are kept under an object. */
export type KeptSubjectsOf = (under: KeptResults, subjectType: string) => KeptSubjects

/** Creates the store of kept subjects. Subjects are kept as long as their `KeptResults` object is referenced. */
export function createKeptSubjects(): KeptSubjectsOf {
  const known = new WeakMap<KeptResults, KeptSubjects>()
  return (under, subjectType) => {
    const own = known.get(under) ?? createKept(under.maxBytes, subjectType)
    known.set(under, own)
    return own
  }
}

/** Bytes of an entry of the map, without its key. */
const ENTRY_BYTES = 64
const CHARACTER_BYTES = 2
/** Maximum number of different contributions that are shared as one object. */
const MAX_SHARED = 10_000

function createKept(maxBytes: number, subjectType: string): KeptSubjects {
  const subjects = new Map<string, Packed>()
  const shared = new Map<string, Packed>()
  const unsettled = new Set<string>()
  let bytes = 0
  let isFull = false
  let isWhole = false
  const clear = (): void => {
    subjects.clear()
    shared.clear()
    unsettled.clear()
    bytes = 0
  }
  const isShared = (packed: Packed): boolean => packed.key !== undefined && shared.get(packed.key) === packed
  const named = (wanted: (packed: Packed) => boolean): Iterable<KeptSubject> =>
    subjects
      .entries()
      .filter(([, packed]) => wanted(packed))
      .map(([id, packed]) => [id, unpacked(`${subjectType}/${id}`, packed)])
  return {
    unsettled,
    size: () => (isWhole ? subjects.size : 0),
    complete: () => (isWhole = true),
    all: () => named(() => true),
    alike: () => countedUses(shared.values()),
    others: () => named((packed) => !isShared(packed)),
    begin(ids) {
      isWhole = false
      if (ids === 'all') return clear()
      for (const id of ids) {
        const packed = subjects.get(id)
        if (packed !== undefined) {
          bytes -= entryBytes(id, packed)
          packed.uses--
        }
        subjects.delete(id)
        unsettled.delete(id)
      }
    },
    keep(id, { contribution, usesNow }) {
      if (isFull) return
      if (usesNow) return void unsettled.add(id)
      const packed = packedOf(`${subjectType}/${id}`, contribution)
      const known = packed.key === undefined ? packed : (shared.get(packed.key) ?? packed)
      if (packed.key !== undefined && shared.size < MAX_SHARED && known === packed) {
        shared.set(packed.key, packed)
        bytes += packed.bytes
      }
      known.uses++
      subjects.set(id, known)
      bytes += entryBytes(id, known)
      if (bytes <= maxBytes) return
      isFull = true
      clear()
    },
  }
}

function countedUses(shared: IteratorObject<Packed>): ReturnType<KeptSubjects['alike']> {
  return shared.filter(({ uses }) => uses > 0).map(({ contribution, uses }) => [contribution, uses])
}

/** Bytes of an entry; a shared contribution was already counted. */
function entryBytes(id: string, { key, bytes }: Packed): number {
  return ENTRY_BYTES + id.length * CHARACTER_BYTES + (key === undefined ? bytes : 0)
}

/** A contribution without the reference of its subject, so that many subjects can share it. */
interface Packed {
  /** Key of a shared contribution; `undefined` for one that names more than the subject. */
  readonly key?: string
  readonly bytes: number
  readonly contribution: Contribution
  /** How many subjects have it. */
  uses: number
}

/** Replaces the reference to the subject. */
const SELF = ''

function packedOf(reference: string, { results, supplements }: Contribution): Packed {
  const isPlain = results.every(
    ({ members, observations, strata, evidence }) =>
      evidence === undefined &&
      strata.length === 0 &&
      observations.every((all) => all.length === 0) &&
      members.every((all) => all.every((member) => member === reference)),
  )
  if (!isPlain) {
    const contribution = { results: results.map(detached), supplements }
    return { contribution, bytes: bytesOf(contribution), uses: 0 }
  }
  const plain = results.map((result) => ({ ...result, members: result.members.map((all) => all.map(() => SELF)) }))
  const contribution = { results: plain, supplements }
  const key = JSON.stringify([
    plain.map(({ members }) => members.map(({ length }) => length)),
    supplements.map((values) => [...values.keys()]),
  ])
  return { key, contribution, bytes: key.length * CHARACTER_BYTES + bytesOf(contribution), uses: 0 }
}

/** Copies a result so that it does not keep objects of the evaluation alive. */
function detached(result: SubjectResult): SubjectResult {
  const all = new Set(result.members.flat())
  const strata = result.strata.map(
    (divided) =>
      new Map(
        [...divided].map(([key, { values, isIn }]) => {
          const inside = new Set([...all].filter(isIn))
          return [key, { values, isIn: (member: string) => inside.has(member) }] as const
        }),
      ),
  )
  return { ...result, strata }
}

/** Estimates the memory of a contribution in bytes. */
function bytesOf({ results, supplements }: Contribution): number {
  const texts = [
    ...results.flatMap(({ members, observations, strata }) => [
      ...members.flat(),
      ...observations.flat().map(({ member }) => member),
      ...strata.flatMap((divided) => [...divided.keys(), ...divided.keys()]),
    ]),
    ...supplements.flatMap((values) => [...values.keys(), ...values.keys()]),
  ]
  return texts.reduce((sum, text) => sum + ENTRY_BYTES + text.length * CHARACTER_BYTES, results.length * ENTRY_BYTES)
}

function unpacked(reference: string, { key, contribution }: Packed): Contribution {
  if (key === undefined) return contribution
  return {
    ...contribution,
    results: contribution.results.map((result) => ({ ...result, members: result.members.map((all) => all.map(() => reference)) })),
  }
}
