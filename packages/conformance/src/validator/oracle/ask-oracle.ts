import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { isObject, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Case } from './case.js'
import { placeOf, severityOf, type Issue } from './issue.js'

/** The oracle as a running program. */
export interface Oracle {
  readonly ask: (id: string, asked: Case) => Promise<readonly Issue[]>
  readonly close: () => void
}

/** Starts the oracle with a shell command, which reads requests and writes answers, one line each. */
export function openOracle(command: string): Oracle {
  const program = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting: ((line: string) => void)[] = []
  createInterface({ input: program.stdout }).on('line', (line) => waiting.shift()?.(line))
  return {
    ask: async (id, { text, profile }) => {
      const request = { id, text, ...(profile !== undefined && { profiles: [profile['url']], definitions: [profile] }) }
      const line = await new Promise<string>((resolve) => {
        waiting.push(resolve)
        program.stdin.write(`${JSON.stringify(request)}\n`)
      })
      return issuesIn(JSON.parse(line))
    },
    close: () => program.stdin.end(),
  }
}

/** Reads the issues of an answer. Those of severity information are not compared. An exception in the validator counts as an error without a place. */
function issuesIn(answer: unknown): readonly Issue[] {
  if (!isObject(answer)) throw new TypeError('The oracle gave no object.')
  if (answer['failure'] !== undefined) return [{ severity: 'error', place: '', rule: 'exception' }]
  const issues = objectsAt(answer, 'issues').filter(({ severity }) => severity !== 'information')
  return issues.map((issue) => ({
    severity: severityOf(stringAt(issue, 'severity') ?? ''),
    place: placeOf(stringAt(issue, 'expression') ?? ''),
    rule: stringAt(issue, 'id') ?? withoutId(issue),
  }))
}

/** The rule of a finding of the JSON parser, which has no message id: its text without quoted parts. */
function withoutId(issue: JsonObject): string {
  const text = (stringAt(issue, 'text') ?? '').replaceAll(/'[^']*'/g, "''")
  return `json: ${text.slice(0, 40)}`
}
