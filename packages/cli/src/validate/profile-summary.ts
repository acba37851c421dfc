import { isObject, stringAt } from 'fhir-ops/internal/json'
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
    add: ({ source, result: { valid, findings } }) => {
      for (const name of profilesOf(source.text)) {
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

function profilesOf(text: string): readonly string[] {
  const resource = parsed(text)
  const meta = isObject(resource) ? resource['meta'] : undefined
  const claimed = isObject(meta) && Array.isArray(meta['profile']) ? meta['profile'].filter((one) => typeof one === 'string') : []
  if (claimed.length > 0) return claimed
  return [(isObject(resource) ? stringAt(resource, 'resourceType') : undefined) ?? 'unreadable']
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
