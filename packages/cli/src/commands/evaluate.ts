import { Command } from 'commander'
import { evaluateMeasureOperation } from 'fhir-ops/evaluate'
import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Io } from '../io.js'
import { jsonOption, loadOption, storageOption } from './options.js'
import { idOf, printAnswer } from './run-operation.js'
import { table } from '../text.js'

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
    .description('Count the populations of a Measure over a period.')
    .argument('<measure>', 'id of the Measure')
    .requiredOption('--period-start <date>', 'YYYY, YYYY-MM or YYYY-MM-DD')
    .requiredOption('--period-end <date>', 'YYYY, YYYY-MM or YYYY-MM-DD')
    .option('--subject <reference>', 'report on one patient (Patient/<id>), or count for the members of a Group (Group/<id>)')
    .option('--practitioner <reference>', 'count for the patients of this general practitioner')
    .option('--report-type <code>', 'subject, subject-list or population; the lists are in the report that --json prints')
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExample:\n  fhir-ops evaluate heart-rate-count --period-start 2026 --period-end 2026 --load packages/cli/sample',
    )
    .action((measure: string, options: EvaluateOptions) => evaluate(measure, options, io))
}

async function evaluate(measure: string, options: EvaluateOptions, io: Io): Promise<void> {
  const { periodStart, periodEnd, subject, practitioner, reportType } = options
  const call = {
    operation: evaluateMeasureOperation(),
    type: 'Measure',
    id: idOf('Measure', measure),
    values: { periodStart, periodEnd, subject, practitioner, reportType },
  }
  await printAnswer(call, options, io, (report) => {
    for (const line of table(objectsAt(report, 'group').flatMap(groupCells))) io.out(line)
  })
}

function groupCells(group: JsonObject, index: number): readonly (readonly string[])[] {
  return objectsAt(group, 'population').map((population) => {
    const code = objectsAt(objectAt(population, 'code'), 'coding').map((coding) => stringAt(coding, 'code') ?? '')
    return [`group ${index + 1}`, code.join(' '), String(population['count'])]
  })
}
