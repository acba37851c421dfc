import type { Issue } from './issue.js'

/** The oracle's answers to a case and its changes, with the marks of these cases. */
export interface OriginFacts {
  readonly name: string
  readonly mark: string
  readonly base: readonly Issue[]
  readonly runs: readonly RunFacts[]
}

/** The issues that a change adds to those of the original resource, and those that it removes. */
export interface RunFacts {
  readonly change: string
  readonly number: number
  readonly mark: string
  readonly added: readonly Issue[]
  readonly removed: readonly Issue[]
}

/** The issues of one list that are not in another. */
export function without(issues: readonly Issue[], others: readonly Issue[]): readonly Issue[] {
  const known = new Set(others.map(keyOf))
  return issues.filter((issue) => !known.has(keyOf(issue)))
}

function keyOf({ severity, place, rule }: Issue): string {
  return `${severity}|${place}|${rule}`
}

const SEVERITIES = ['error', 'warning', 'information'] as const

type PackedRun = readonly [change: string, number: number, mark: string, added: readonly string[], removed: readonly string[]]

/** Writes one line for each origin, after a line with the rules, to which the lines refer by index. */
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

/** Reads the output of {@link writeFacts}. */
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
