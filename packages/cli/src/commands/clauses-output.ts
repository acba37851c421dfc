import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { Option } from 'commander'
import type { Coverage, Explanation } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { coverageHtml, coverageLcov, explanationHtml } from 'fhir-ops/evaluate'
import { type Io, table } from '../io.js'

/** Output requested besides the result; true without a file. */
export interface ClausesOptions {
  readonly explain?: true | string
  readonly coverage?: true | string
}

/** `--explain [file]` and `--coverage [file]`. */
export function clausesOptions(): Readonly<Record<'coverage' | 'explain', Option>> {
  return {
    explain: new Option(
      '--explain [file.html]',
      'explain on standard error why, for one subject; with a file also as HTML, with the source marked',
    ),
    coverage: new Option(
      '--coverage [file]',
      'which clauses of the CQL were evaluated, and how; with a file as HTML (.html) or lcov (.info)',
    ),
  }
}

/** @throws {OperationError} `parameter-value` for an unsupported file extension, before anything is evaluated. */
export function checkFiles({ explain, coverage }: ClausesOptions): void {
  checkFile('--explain', explain, ['.html'])
  checkFile('--coverage', coverage, ['.html', '.info'])
}

function checkFile(option: string, file: true | string | undefined, kinds: readonly string[]): void {
  if (typeof file !== 'string' || kinds.includes(extname(file))) return
  throw new OperationError('parameter-value', `${option} ${file}: the file must end in ${kinds.join(' or ')}.`)
}

/** Prints the reasons, and the nearest candidates, on standard error, and writes the page. */
export async function printExplanation(explanation: Explanation | undefined, { explain }: ClausesOptions, io: Io): Promise<void> {
  if (explanation === undefined || explain === undefined) return
  for (const { reason, nearest } of explanation.criteria ?? []) {
    io.err(reason)
    for (const { text } of nearest) io.err(`  Near: ${text}`)
  }
  if (explanation.criteria === undefined) for (const { text } of explanation.steps) io.err(text)
  if (typeof explain === 'string') await writeFile(explain, explanationHtml(explanation))
}

/** Prints how many clauses of each definition were evaluated, or writes the file. */
export async function printCoverage(measured: Coverage | undefined, { coverage }: ClausesOptions, io: Io): Promise<void> {
  if (measured === undefined || coverage === undefined) return
  if (typeof coverage === 'string')
    return await writeFile(coverage, extname(coverage) === '.info' ? coverageLcov(measured) : coverageHtml(measured))
  const rows = measured.libraries.flatMap(({ library, definitions }) =>
    definitions.map(({ name, clauses, counts }) => {
      const reached = clauses.filter((clause) => clause.counts.notEvaluated < measured.subjects).length
      return [
        library,
        name,
        `${reached} of ${clauses.length} clauses`,
        `true ${counts.true}`,
        `false ${counts.false}`,
        `null ${counts.null}`,
      ]
    }),
  )
  for (const line of table(rows)) io.err(line)
}
