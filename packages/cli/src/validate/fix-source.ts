import { readFile, writeFile } from 'node:fs/promises'
import type { Finding, JsonPatch } from 'fhir-ops/validate'
import { OperationError } from 'fhir-ops/errors'
import { isJson } from '../json-fault.js'
import type { Source } from '../load/sources.js'
import { fixText } from './json-text.js'
import type { ResourceResult } from './report.js'

/** Maximum number of rounds, because fixes may reveal what others can fix. */
const MAX_ROUNDS = 5

/** A text after all fixes, with the changes and the remaining findings. */
export interface Fixed {
  readonly text: string
  readonly diffs: readonly string[]
  readonly result: ResourceResult
}

/** Applies the fixes of findings, the last first so that list positions stay valid, and validates again, until there are none left. */
export async function fixAll(text: string, validated: (text: string) => Promise<ResourceResult>): Promise<Fixed> {
  const diffs: string[] = []
  let current = text
  let result = await validated(current)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const fixes = fixesIn(result.findings)
    // Invalid JSON has no fix, and prevents others.
    if (fixes.length === 0 || !isJson(current)) break
    for (const fix of fixes) {
      const next = fixText(current, fix)
      diffs.push(diffOf(current, next))
      current = next
    }
    result = await validated(current)
  }
  return { text: current, diffs, result }
}

/** Returns one fix per place. */
function fixesIn(findings: readonly Finding[]): readonly JsonPatch[] {
  const fixes = new Map(findings.flatMap(({ fix }) => (fix === undefined ? [] : [[JSON.stringify(fix[0]), fix] as const])))
  return [...fixes.values()].toReversed()
}

const CONTEXT = 1
const MAX_LINE = 160

/** Returns the differing lines, with one line before and after. */
function diffOf(before: string, after: string): string {
  const [a, b] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const lines = [
    ...a.slice(Math.max(0, start - CONTEXT), start).map((line) => `  ${line}`),
    ...a.slice(start, a.length - end).map((line) => `- ${line}`),
    ...b.slice(start, b.length - end).map((line) => `+ ${line}`),
    ...a.slice(a.length - end, a.length - end + CONTEXT).map((line) => `  ${line}`),
  ]
  return [`@@ -${start + 1} +${start + 1} @@`, ...lines.map((line) => line.slice(0, MAX_LINE))].join('\n')
}

/**
 * Writes fixed texts to their files: the whole of a `.json` file, or lines of an `.ndjson` file.
 *
 * @throws {OperationError} `parameter-value` for texts that do not come from a plain file.
 */
export async function writeFixed(fixed: readonly { readonly source: Source; readonly text: string }[]): Promise<void> {
  const byFile = Map.groupBy(fixed, ({ source }) => source.file)
  for (const [file, changes] of byFile) {
    if (file === 'stdin' || !/\.(nd)?json$/.test(file) || changes.some(({ source }) => source.origin !== undefined))
      throw new OperationError('parameter-value', `${file} is not a .json or .ndjson file, so its fixes cannot be written.`)
    if (file.endsWith('.ndjson')) await writeLines(file, new Map(changes.map(({ source, text }) => [source.line, text])))
    else for (const { text } of changes) await writeFile(file, text)
  }
}

async function writeLines(file: string, texts: ReadonlyMap<number, string>): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  await writeFile(file, lines.map((line, index) => texts.get(index + 1) ?? line).join('\n'))
}
