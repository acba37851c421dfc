import { cqlLanguage } from '@fhir-ops/cql'
import { openWorkerTranslator } from '@fhir-ops/cql/node'
import { r4TypeModel } from '@fhir-ops/r4'
import { Command } from 'commander'
import { evaluateMeasureOperation } from 'fhir-ops/evaluate'
import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { Exit } from '../exit.js'
import type { Io } from '../io.js'
import { jsonOption, loadOption, storageOption } from './options.js'
import { idOf, printAnswer } from './run-operation.js'
import { table } from '../text.js'
import { SAMPLE_PATH } from '../sample-folder.js'

interface EvaluateOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly periodStart: string
  readonly periodEnd: string
  readonly subject?: string
  readonly practitioner?: string
  readonly reportType?: string
  readonly json?: true
}

/** `fhir-ops evaluate`. */
export function evaluateCommand(io: Io): Command {
  return new Command('evaluate')
    .description('Count the populations of a Measure over a period. Criteria are FHIR searches, CQL or FHIRPath.')
    .argument('<measure>', 'id of the Measure')
    .requiredOption('--period-start <date>', 'YYYY, YYYY-MM or YYYY-MM-DD')
    .requiredOption('--period-end <date>', 'YYYY, YYYY-MM or YYYY-MM-DD')
    .option('--subject <reference>', 'report on one patient (Patient/<id>), or count for the members of a Group (Group/<id>)')
    .option('--practitioner <reference>', 'count for the patients of this general practitioner')
    .option('--report-type <code>', 'subject, subject-list or population; the lists are in the report that --json prints')
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(jsonOption())
    .addHelpText('after', `\nExample:\n  fhir-ops evaluate heart-rate-count --period-start 2026 --period-end 2026 --load ${SAMPLE_PATH}`)
    .action((measure: string, options: EvaluateOptions) => evaluate(measure, options, io))
}

/** Nobody else waits: who called it may end it. */
const PATIENCE_MS = 86_400_000

async function evaluate(measure: string, options: EvaluateOptions, io: Io): Promise<void> {
  const { periodStart, periodEnd, subject, practitioner, reportType } = options
  const translator = openWorkerTranslator({ model: r4TypeModel(), timeoutMs: PATIENCE_MS })
  const call = {
    operation: evaluateMeasureOperation({ languages: [cqlLanguage({ translator })] }),
    type: 'Measure',
    id: idOf('Measure', measure),
    values: { periodStart, periodEnd, subject, practitioner, reportType },
  }
  try {
    await printAnswer(call, { ...options, limits: { operationTimeoutMs: PATIENCE_MS } }, io, (report) => {
      for (const line of table(objectsAt(report, 'group').flatMap(groupCells))) io.out(line)
      for (const text of failuresIn(report)) io.err(`error: ${text}`)
      if (report['status'] === 'error') throw new Exit(1)
    })
  } finally {
    await translator.close()
  }
}

/** What a report says of subjects that could not be evaluated. */
function failuresIn(report: JsonObject): readonly string[] {
  return objectsAt(report, 'contained').flatMap((contained) =>
    objectsAt(contained, 'issue').flatMap((issue) => stringAt(objectAt(issue, 'details'), 'text') ?? []),
  )
}

function groupCells(group: JsonObject, index: number): readonly (readonly string[])[] {
  const name = `group ${index + 1}`
  const strata = objectsAt(group, 'stratifier').flatMap((stratifier) =>
    objectsAt(stratifier, 'stratum').flatMap((stratum) => partCells(stratum, `${name}, ${stratumText(stratum)}`)),
  )
  return [...partCells(group, name), ...strata]
}

/** The counts and the score of a group or stratum. */
function partCells(part: JsonObject, name: string): readonly (readonly string[])[] {
  const score = objectAt(part, 'measureScore')?.['value']
  return [
    ...objectsAt(part, 'population').map((population) => [name, codeText(objectAt(population, 'code')), String(population['count'])]),
    ...(typeof score === 'number' ? [[name, 'score', String(score)]] : []),
  ]
}

function stratumText(stratum: JsonObject): string {
  const components = objectsAt(stratum, 'component')
  const values = components.length > 0 ? components.map((component) => objectAt(component, 'value')) : [objectAt(stratum, 'value')]
  return values.map((value) => stringAt(value, 'text') ?? (codeText(value) || 'stratum')).join(', ')
}

function codeText(concept: JsonObject | undefined): string {
  return objectsAt(concept, 'coding')
    .map((coding) => stringAt(coding, 'code') ?? '')
    .join(' ')
}
