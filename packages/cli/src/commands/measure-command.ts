import { cqlLanguage } from '@fhir-ops/cql'
import { openWorkerTranslator, type WorkerTranslator } from '@fhir-ops/cql/node'
import type { CqlTranslator } from '@fhir-ops/cql/translator'
import { r4TypeModel } from '@fhir-ops/r4'
import { Command, Option } from 'commander'
import type { Coverage, Explanation } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { coverageHtml, coverageLcov, explanationHtml, type CriteriaLanguage } from 'fhir-ops/evaluate'
import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { SAMPLE_PATH } from '../files.js'
import { table, type Io } from '../io.js'
import { jsonOption, loadOption, storageOption } from './options.js'
import { PATIENCE_MS } from './run-operation.js'

/** Formats that `--period-start` and `--period-end` accept. */
export const PERIOD_DATE = 'YYYY, YYYY-MM, YYYY-MM-DD or a dateTime'

/** Example arguments of a command about a Measure, using the sample content. */
export const SAMPLE_MEASURE: string = `heart-rate-count --period-start 2026 --period-end 2026 --load ${SAMPLE_PATH}`

/** Makes a command about a Measure over a period, to which the caller adds its own options. */
export function measureCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<measure>', 'id of the Measure')
    .requiredOption('--period-start <date>', PERIOD_DATE)
    .requiredOption('--period-end <date>', PERIOD_DATE)
    .addOption(manifestOption())
    .addHelpText('after', `\nExample:\n  fhir-ops ${name} ${SAMPLE_MEASURE}`)
}

/** `--manifest`. */
export function manifestOption(): Option {
  return new Option('--manifest <canonical>', 'Library with the versions of libraries, value sets and code systems that are left open')
}

/** Options of a command about a Measure over stored content. */
export interface MeasureOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly periodStart: string
  readonly periodEnd: string
  readonly subject?: string
  readonly practitioner?: string
  readonly manifest?: string
  readonly json?: true
}

/** Adds the options of every command over stored content. */
export function withContentOptions(command: Command): Command {
  return command.addOption(storageOption()).addOption(loadOption()).addOption(jsonOption())
}

/** Opens a CQL translator, whose thread starts at the first text. */
export function openTranslator(): WorkerTranslator {
  return openWorkerTranslator({ model: r4TypeModel(), timeoutMs: PATIENCE_MS })
}

/** Runs work with the CQL translator that is kept open, or else with one that is closed afterwards. */
export async function withTranslator<T>(io: Io, work: (translator: CqlTranslator) => Promise<T>): Promise<T> {
  if (io.translator !== undefined) return await work(io.translator)
  const translator = openTranslator()
  try {
    return await work(translator)
  } finally {
    await translator.close()
  }
}

/** Runs work with all languages of criteria, including CQL. */
export async function withLanguages<T>(
  io: Io,
  work: (languages: readonly CriteriaLanguage[], translator: CqlTranslator) => Promise<T>,
): Promise<T> {
  return await withTranslator(io, (translator) => work([cqlLanguage({ translator })], translator))
}

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
