import { createPace, type Pace } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'

interface Page<T> {
  readonly items: readonly T[]
  readonly next?: string
}

/** Which items are looked at. */
export interface Part {
  readonly limit: number
  readonly after?: string
}

/** Where pages come from, and which of their items are shown. */
interface ShownPages<T> {
  readonly ctx: Pick<OperationContext, 'signal' | 'deadline' | 'scheduler' | 'threadUse'>
  readonly pageOf: (part: Part) => Promise<Page<T>>
  /** Absent where all are. */
  readonly shows: Shows<T> | undefined
}

type Shows<T> = (item: T) => boolean | Promise<boolean>

/** Most items that are looked at in one go. */
const MAX_PART = 1_000

/**
 * A page as if there were nothing but what is shown: full where there is enough, with a next one where there is more. A cursor names the item
 * that it comes after, so it is that of an item that is shown.
 */
export async function shownPage<T>({ ctx, pageOf, shows }: ShownPages<T>, { limit, after }: Part): Promise<Page<T>> {
  if (shows === undefined) return pageOf({ limit, ...(after !== undefined && { after }) })
  const pace = createPace(ctx)
  const shown: T[] = []
  let end: string | undefined
  let part: Part | undefined = { limit, ...(after !== undefined && { after }) }
  while (part !== undefined) {
    pace.check()
    const { items, next }: Page<T> = await pageOf(part)
    const places = await placesOf(items, shows, pace)
    const taken = places.slice(0, limit - shown.length)
    const last = taken.at(-1)
    shown.push(...taken.flatMap((at) => items.slice(at, at + 1)))
    if (last !== undefined) end = last === items.length - 1 ? next : (await pageOf({ ...part, limit: last + 1 })).next
    if (places.length > taken.length) return { items: shown, ...(end !== undefined && { next: end }) }
    part = next === undefined ? undefined : { limit: Math.min(2 * part.limit, Math.max(limit, MAX_PART)), after: next }
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
