import type { Issue } from './issue.js'

/** What the oracle said of a case and its changes, with the marks of the cases that it was asked. */
export interface OriginFacts {
  readonly name: string
  readonly mark: string
  readonly base: readonly Issue[]
  readonly runs: readonly RunFacts[]
}

/** What a change adds to the issues of the resource as it was, and takes away. */
export interface RunFacts {
  readonly change: string
  readonly number: number
  readonly mark: string
  readonly added: readonly Issue[]
  readonly removed: readonly Issue[]
}

/** What of one list is not in another. */
export function without(issues: readonly Issue[], others: readonly Issue[]): readonly Issue[] {
  const known = new Set(others.map(keyOf))
  return issues.filter((issue) => !known.has(keyOf(issue)))
}

function keyOf({ severity, place, rule }: Issue): string {
  return `${severity}|${place}|${rule}`
}

const SEVERITIES = ['error', 'warning', 'information'] as const

type PackedRun = readonly [change: string, number: number, mark: string, added: readonly string[], removed: readonly string[]]

/** One line for each origin, after a line with the rules, which the lines name by their positions. */
export function writeFacts(origins: readonly OriginFacts[]): string {
  const rules: string[] = []
  const packed = ({ severity, place, rule }: Issue): string => {
    if (!rules.includes(rule)) rules.push(rule)
    return `${severity.charAt(0)}${rules.indexOf(rule)} ${place}`
  }
  const lines = origins.map(({ name, mark, base, runs }) =>
    JSON.stringify([
      name,
      mark,
      base.map(packed),
      runs.map((run): PackedRun => [run.change, run.number, run.mark, run.added.map(packed), run.removed.map(packed)]),
    ]),
  )
  return `${[JSON.stringify(rules), ...lines].join('\n')}\n`
}

/** Reads what {@link writeFacts} wrote. */
export function readFacts(text: string): readonly OriginFacts[] {
  const [head = '[]', ...lines] = text.split('\n').filter((line) => line !== '')
  const rules: readonly string[] = JSON.parse(head)
  const issue = (packed: string): Issue => {
    const end = packed.indexOf(' ')
    const severity = SEVERITIES.find((name) => name.startsWith(packed.charAt(0))) ?? 'error'
    return { severity, place: packed.slice(end + 1), rule: rules[Number(packed.slice(1, end))] ?? '' }
  }
  return lines.map((line) => {
    const [name, mark, base, runs]: [string, string, readonly string[], readonly PackedRun[]] = JSON.parse(line)
    return {
      name,
      mark,
      base: base.map(issue),
      runs: runs.map(([change, number, runMark, added, removed]) => ({
        change,
        number,
        mark: runMark,
        added: added.map(issue),
        removed: removed.map(issue),
      })),
    }
  })
}
