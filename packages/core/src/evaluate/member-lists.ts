import type { List, Reference } from 'fhir/r4.js'
import type { Tally } from './tally.js'

/** The contained Lists of a report, with the members of each of its populations. */
export interface MemberLists {
  /** The Lists so far, to be contained in the report. */
  readonly contained: readonly List[]
  /** The reference of a population to the List of its members: nothing when the tally has no members. */
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
