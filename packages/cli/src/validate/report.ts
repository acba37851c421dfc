import type { ValidateResult } from 'fhir-ops/validate'
import type { Source } from '../load/sources.js'
import { table } from '../io.js'

/** The result of validating a resource; lines are those of the file. */
export interface ResourceResult extends ValidateResult {
  /** Profiles that the resource claims; its type if it claims none, `unreadable` if it has no type. */
  readonly profiles: readonly string[]
}

/** A resource with its result. */
export interface Checked {
  readonly source: Source
  readonly result: ResourceResult
}

/** Prints results of validation. */
export interface Report {
  readonly add: (checked: Checked) => void
  /** Called after the last resource. */
  readonly end: () => void
}

const WIDTH = 100
const BEFORE = 50

/** Returns the line of the text at a place in its file, and a line with a caret below the place. Of a long line, only the part around the place. */
export function sourceLines({ text, line: first }: Source, { line, column }: { line: number; column: number }): readonly string[] {
  const whole = text.split('\n', line - first + 1)[line - first]
  if (whole === undefined) return []
  const start = whole.length <= WIDTH ? 0 : Math.max(0, column - 1 - BEFORE)
  const part = `${start > 0 ? '…' : ''}${whole.slice(start, start + WIDTH)}${whole.length > start + WIDTH ? '…' : ''}`
  const number = String(line).padStart(5)
  const caret = column - 1 - start + (start > 0 ? 1 : 0)
  return [`${number} | ${part}`, `${' '.repeat(number.length)} | ${' '.repeat(caret)}^`]
}

interface Tally {
  resources: number
  invalid: number
  errors: number
  warnings: number
}

/** Counts by profile: the profiles that resources claim, and the types of resources without any. */
interface ProfileSummary {
  readonly add: (checked: Checked) => void
  /** Returns a table by name; empty if there is only one profile or resource. */
  readonly lines: () => readonly string[]
}

/** Creates an empty summary. */
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
