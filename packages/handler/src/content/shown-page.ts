import { createPace, type Pace } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'

interface Page<T> {
  readonly items: readonly T[]
  readonly next?: string
}

/** Which items are looked at. */
export interface Part {
  readonly limit: number
  /** As of `SearchQuery`. */
  readonly maxBytes?: number
  readonly after?: string
}

/** Where pages come from, and which of their items are shown. */
interface ShownPages<T> {
  readonly ctx: Pick<OperationContext, 'signal' | 'deadline' | 'scheduler' | 'threadUse' | 'limits'>
  readonly pageOf: (part: Part) => Promise<Page<T>>
  /** Absent where all are. */
  readonly shows: Shows<T> | undefined
  /** How long an item is. */
  readonly lengthOf: (item: T) => number
}

type Shows<T> = (item: T) => boolean | Promise<boolean>

/** Most items that are looked at in one go. */
const MAX_PART = 1_000

/** A page is short where an answer with it could become too long. Resources that come beside the matches have room, too. */
const PART_OF_ANSWER = 1 / 4

/** `maxBytes` of a page of matches. */
export function pageBytes({ limits }: Pick<OperationContext, 'limits'>): number {
  return Math.floor(limits.maxAnswerBytes * PART_OF_ANSWER)
}

/**
 * A page as if there were nothing but what is shown: full where there is enough, with a next one where there is more. A cursor names the item
 * that it comes after, so it is that of an item that is shown.
 */
export async function shownPage<T>({ ctx, pageOf, shows, lengthOf }: ShownPages<T>, { limit, after }: Part): Promise<Page<T>> {
  const maxBytes = pageBytes(ctx)
  if (shows === undefined) return pageOf({ limit, maxBytes, ...(after !== undefined && { after }) })
  const pace = createPace(ctx)
  const shown: T[] = []
  const isFull = (): boolean => shown.length === limit || bytes > maxBytes
  let bytes = 0
  let end: string | undefined
  let part: Part | undefined = { limit, maxBytes, ...(after !== undefined && { after }) }
  while (part !== undefined) {
    pace.check()
    const { items, next }: Page<T> = await pageOf(part)
    const places = await placesOf(items, shows, pace)
    let last: number | undefined
    for (const at of places) {
      if (isFull()) break
      shown.push(...items.slice(at, at + 1))
      bytes += items.slice(at, at + 1).reduce((sum, item) => sum + lengthOf(item), 0)
      last = at
    }
    if (last !== undefined) end = last === items.length - 1 ? next : (await pageOf({ ...part, limit: last + 1 })).next
    if (places.some((at) => at > (last ?? -1))) return { items: shown, ...(end !== undefined && { next: end }) }
    part = next === undefined ? undefined : { limit: Math.min(2 * part.limit, Math.max(limit, MAX_PART)), maxBytes, after: next }
  }
  return { items: shown }
}

/** To look at an item takes a part of a millisecond, and all may be looked at before one is shown. */
async function placesOf<T>(items: readonly T[], shows: Shows<T>, pace: Pace): Promise<readonly number[]> {
  const places: number[] = []
  for (const [at, item] of items.entries()) {
    await pace.step()
    if (await shows(item)) places.push(at)
  }
  return places
}
