import { table } from '../text.js'
import type { Checked } from './report.js'

interface Tally {
  resources: number
  invalid: number
  errors: number
  warnings: number
}

/** Counts by profile: those that resources claim, and the types of those that claim none. */
export interface ProfileSummary {
  readonly add: (checked: Checked) => void
  /** A table, by name; empty when there is only one profile or resource. */
  readonly lines: () => readonly string[]
}

/** Makes an empty summary. */
export function profileSummary(): ProfileSummary {
  const tallies = new Map<string, Tally>()
  return {
    add: ({ result: { valid, findings, profiles } }) => {
      for (const name of profiles) {
        const tally = tallies.get(name) ?? { resources: 0, invalid: 0, errors: 0, warnings: 0 }
        tally.resources++
        tally.invalid += Number(!valid)
        tally.errors += findings.filter(({ severity }) => severity === 'error' || severity === 'fatal').length
        tally.warnings += findings.filter(({ severity }) => severity === 'warning').length
        tallies.set(name, tally)
      }
    },
    lines: () => {
      if (tallies.size < 2) return []
      const rows = [...tallies].toSorted(([a], [b]) => (a < b ? -1 : 1))
      return table([
        ['profile', 'resources', 'invalid', 'errors', 'warnings'],
        ...rows.map(([name, { resources, invalid, errors, warnings }]) => [name, ...[resources, invalid, errors, warnings].map(String)]),
      ])
    },
  }
}
