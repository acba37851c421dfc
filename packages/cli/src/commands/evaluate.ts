import { Option, type Command } from 'commander'
import {
  evaluateMeasure,
  evaluateMeasureOperation,
  toMeasureReport,
  watchMeasure,
  type EvaluateMeasureInput,
  type EvaluateMeasureResult,
} from 'fhir-ops/evaluate'
import { readEvaluate } from 'fhir-ops/internal/evaluate'
import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Operation } from 'fhir-ops/operation'
import { withEngine } from '../engine.js'
import { Exit } from '../exit.js'
import type { Io } from '../io.js'
import { table } from '../text.js'
import { checkFiles, clausesOptions, printCoverage, printExplanation, type ClausesOptions } from './clauses-output.js'
import { divisionOptions, evaluateDivided, type DivisionOptions } from './divided-measures.js'
import { measureCommand, withContentOptions, withLanguages } from './measure-command.js'
import { idOf, PATIENCE_MS, printAnswer } from './run-operation.js'

interface EvaluateOptions extends ClausesOptions, DivisionOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly periodStart: string
  readonly periodEnd: string
  readonly subject?: string
  readonly practitioner?: string
  readonly reportType?: 'subject' | 'subject-list' | 'population'
  readonly json?: true
  readonly watch?: true
}

/** `fhir-ops evaluate`. */
export function evaluateCommand(io: Io): Command {
  const { explain, coverage } = clausesOptions()
  const command = measureCommand(
    'evaluate',
    'Count the populations of a Measure over a period. Criteria are FHIR searches, CQL or FHIRPath.',
  )
    .alias('evaluate-measure')
    .option('--subject <reference>', 'report on one patient (Patient/<id>), or count for the members of a Group (Group/<id>)')
    .option('--practitioner <reference>', 'count for the patients of this general practitioner')
    .addOption(
      new Option('--report-type <code>', 'the lists are in the report that --json prints').choices([
        'subject',
        'subject-list',
        'population',
      ]),
    )
    .addOption(explain)
    .addOption(coverage)
    .addOption(
      new Option('--watch', 'print the counts again whenever they change, until the command is ended').conflicts(['explain', 'coverage']),
    )
    .action((measure: string, options: EvaluateOptions) => evaluate(measure, options, io))
  withContentOptions(command)
  for (const option of divisionOptions()) command.addOption(option)
  return command
}

async function evaluate(measure: string, options: EvaluateOptions, io: Io): Promise<void> {
  const { periodStart, periodEnd, subject, practitioner, reportType } = options
  const values = { periodStart, periodEnd, subject, practitioner, reportType }
  const id = idOf('Measure', measure)
  if (options.watch) return await watch({ measure: id, ...values }, options, io)
  if (options.threads !== undefined || options.part !== undefined || options.merge !== undefined)
    return await printDivided({ measure: id, ...values }, options, io)
  checkFiles(options)
  await withLanguages(async (languages) => {
    const outcome: { result?: EvaluateMeasureResult } = {}
    const run: Operation['run'] = async (ctx, request) => {
      const asked = { explain: options.explain !== undefined, coverage: options.coverage !== undefined }
      outcome.result = await evaluateMeasure(ctx, { ...readEvaluate(request), ...asked }, { languages })
      return { status: 200, resource: { ...toMeasureReport(outcome.result) } }
    }
    const operation = { ...evaluateMeasureOperation({ languages }), run }
    const { json, storage, load } = options
    await printAnswer({ operation, type: 'Measure', id, values }, { ...(json && { json }), storage, load }, io, (report) =>
      printCounts(report, io),
    )
    await printExplanation(outcome.result?.explanation, options, io)
    await printCoverage(outcome.result?.coverage, options, io)
    if (outcome.result?.failures !== undefined) throw new Exit(1)
  })
}

/** Prints the report of several threads or of merged parts; prints a single part unchanged. */
async function printDivided(input: EvaluateMeasureInput, options: EvaluateOptions, io: Io): Promise<void> {
  const { storage, load, json } = options
  const result = await evaluateDivided({ input, storage, load }, options, io)
  if (result === undefined) return
  const report: JsonObject = { ...toMeasureReport(result) }
  if (json) io.out(JSON.stringify(report, null, 2))
  else printCounts(report, io)
  if (result.failures !== undefined) throw new Exit(1)
}

/** Prints a report whenever its counts have changed; with `json`, each in one line. */
async function watch(input: EvaluateMeasureInput, { json, storage, load }: EvaluateOptions, io: Io): Promise<void> {
  await withEngine({ storage, load, limits: { operationTimeoutMs: PATIENCE_MS } }, io, ({ ctx }) =>
    withLanguages(async (languages) => {
      for await (const result of watchMeasure(ctx, input, { languages })) {
        const report: JsonObject = { ...toMeasureReport(result) }
        if (json) io.out(JSON.stringify(report))
        else {
          io.out(result.date)
          printCounts(report, io)
        }
      }
    }),
  )
}

function printCounts(report: JsonObject, io: Io): void {
  for (const line of table(objectsAt(report, 'group').flatMap(groupCells))) io.out(line)
  for (const text of failuresIn(report)) io.err(`error: ${text}`)
}

/** Returns the messages in a report about subjects that could not be evaluated. */
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

/** Returns the counts and the score of a group or stratum. */
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
