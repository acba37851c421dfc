import { cqlLanguage } from '@fhir-ops/cql'
import { openWorkerTranslator } from '@fhir-ops/cql/node'
import type { CqlTranslator } from '@fhir-ops/cql/translator'
import { r4TypeModel } from '@fhir-ops/r4'
import { Command } from 'commander'
import type { CriteriaLanguage } from 'fhir-ops/evaluate'
import { SAMPLE_PATH } from '../own-files.js'
import { jsonOption, loadOption, storageOption } from './options.js'
import { PATIENCE_MS } from './run-operation.js'

/** What `--period-start` and `--period-end` take. */
export const PERIOD_DATE = 'YYYY, YYYY-MM, YYYY-MM-DD or a dateTime'

/** Arguments of a command about a Measure, with the sample content. */
export const SAMPLE_MEASURE: string = `heart-rate-count --period-start 2026 --period-end 2026 --load ${SAMPLE_PATH}`

/** A command about a Measure over a period, to which options of its own are added. */
export function measureCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<measure>', 'id of the Measure')
    .requiredOption('--period-start <date>', PERIOD_DATE)
    .requiredOption('--period-end <date>', PERIOD_DATE)
    .addHelpText('after', `\nExample:\n  fhir-ops ${name} ${SAMPLE_MEASURE}`)
}

/** Adds what every command over stored content has. */
export function withContentOptions(command: Command): Command {
  return command.addOption(storageOption()).addOption(loadOption()).addOption(jsonOption())
}

/** Works with the languages of criteria, CQL among them, whose translator is closed afterwards. */
export async function withLanguages<T>(
  work: (languages: readonly CriteriaLanguage[], translator: CqlTranslator) => Promise<T>,
): Promise<T> {
  const translator = openWorkerTranslator({ model: r4TypeModel(), timeoutMs: PATIENCE_MS })
  try {
    return await work([cqlLanguage({ translator })], translator)
  } finally {
    await translator.close()
  }
}
