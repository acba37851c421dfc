import type { KeptResults, SubjectResult } from 'fhir-ops/internal/evaluate'
import type { Contribution, MeasureWork, TimedContribution } from './contribution.js'

/** A subject with what it contributes. */
export type KeptSubject = readonly [id: string, contribution: Contribution]

/** What subjects contributed when they were evaluated last. */
export interface KeptSubjects {
  /** Who must be evaluated again whatever has changed: who could not be, and whose results depend on the time. */
  readonly unsettled: Set<string>
  /** @yields Each subject with what it contributes. */
  all(): Iterable<KeptSubject>
  /** @yields What many contribute alike, of whom nothing is named but themselves, with how many they are. */
  alike(): Iterable<readonly [contribution: Contribution, subjects: number]>
  /** @yields Each subject that is not among those. */
  others(): Iterable<KeptSubject>
  keep(id: string, timed: TimedContribution): void
  /** Forgets some subjects, or all, who are going to be evaluated. Until `complete`, the rest are not whole. */
  begin(ids: ReadonlySet<string> | 'all'): void
  complete(): void
  /** How many are kept; 0 where they are not whole. */
  size(): number
}

/** The kept subjects of an evaluation and who of them must be evaluated. */
export interface Refresh {
  readonly kept: KeptSubjects
  readonly ids: ReadonlySet<string> | 'all'
  readonly done: () => void
}

/** When one of this many kept subjects is touched, reading all is faster than reading some. */
const MANY = 4

/** Finds out who must be evaluated; `undefined` where nothing is kept. */
export async function refreshOf({ scope, prepared }: MeasureWork, keptFor: KeptFor): Promise<Refresh | undefined> {
  if (scope.kept === undefined || scope.individual === true || scope.subject?.type === scope.subjectType) return undefined
  const kept = keptFor(scope.kept, scope.subjectType)
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

type KeptFor = (kept: KeptResults, subjectType: string) => KeptSubjects

/** Where subjects are kept: as long as somebody holds on to what they are kept under. */
export function keptSubjects(): KeptFor {
  const known = new WeakMap<KeptResults, KeptSubjects>()
  return (kept, subjectType) => {
    const own = known.get(kept) ?? createKept(kept.maxBytes, subjectType)
    known.set(kept, own)
    return own
  }
}

/** Bytes of an entry of the map besides its key. */
const ENTRY_BYTES = 64
const CHARACTER_BYTES = 2
/** Equal contributions are one object; this many are remembered. */
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
  const named = function* (wanted: (packed: Packed) => boolean): Generator<KeptSubject> {
    for (const [id, packed] of subjects) if (wanted(packed)) yield [id, unpacked(`${subjectType}/${id}`, packed)]
  }
  return {
    unsettled,
    size: () => (isWhole ? subjects.size : 0),
    complete: () => (isWhole = true),
    all: () => named(() => true),
    *alike() {
      for (const { contribution, uses } of shared.values()) if (uses > 0) yield [contribution, uses]
    },
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

/** What is shared was counted once. */
function entryBytes(id: string, { key, bytes }: Packed): number {
  return ENTRY_BYTES + id.length * CHARACTER_BYTES + (key === undefined ? bytes : 0)
}

/** A contribution in which the subject itself is named by nothing, so that many have the same. */
interface Packed {
  /** What it is known by; `undefined` for one that names more than the subject. */
  readonly key?: string
  readonly bytes: number
  readonly contribution: Contribution
  /** How many subjects have it. */
  uses: number
}

/** Instead of the reference to the subject. */
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

/** A result that holds on to nothing of the evaluation. */
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

/** About how much memory it takes. */
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
