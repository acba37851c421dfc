import { cqlLanguage } from '@fhir-ops/cql'
import { openWorkerTranslator, type WorkerTranslator } from '@fhir-ops/cql/node'
import type { CqlTranslator } from '@fhir-ops/cql/translator'
import { r4TypeModel } from '@fhir-ops/r4'
import { Command, Option } from 'commander'
import type { CriteriaLanguage } from 'fhir-ops/evaluate'
import { SAMPLE_PATH } from '../files.js'
import type { Io } from '../io.js'
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
