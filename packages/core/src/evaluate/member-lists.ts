import type { List, Reference } from 'fhir/r4.js'
import type { Tally } from './tally.js'

/** The Lists of a report that say who belongs to each of its populations. */
export interface MemberLists {
  /** The Lists so far, to be contained in the report. */
  readonly contained: readonly List[]
  /** What a population says of its members: nothing when they were not asked for. */
  resultsOf(tally: Tally | undefined): { subjectResults?: Reference }
}

/** Begins the Lists of one report. */
export function memberLists(): MemberLists {
  const contained: List[] = []
  return {
    contained,
    resultsOf(tally) {
      if (tally?.members === undefined) return {}
      const id = `members-${contained.length + 1}`
      const entry = tally.members.map((reference) => ({ item: { reference } }))
      contained.push({ resourceType: 'List', id, status: 'current', mode: 'snapshot', ...(entry.length > 0 && { entry }) })
      return { subjectResults: { reference: `#${id}` } }
    },
  }
}
