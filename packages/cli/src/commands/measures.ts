import { cqlLanguage } from '@fhir-ops/cql'
import { openWorkerTranslator } from '@fhir-ops/cql/node'
import { r4TypeModel } from '@fhir-ops/r4'
import { Command, Option } from 'commander'
import {
  evaluateMeasure,
  evaluateMeasureOperation,
  measureOperations,
  toMeasureReport,
  watchMeasure,
  type EvaluateMeasureResult,
} from 'fhir-ops/evaluate'
import { readEvaluate } from 'fhir-ops/internal/evaluate'
import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Operation } from 'fhir-ops/operation'
import { openEngine } from '../engine.js'
import { Exit } from '../exit.js'
import type { Io } from '../io.js'
import { divisionOptions, evaluateDivided, type DivisionOptions } from './divided-measures.js'
import { checkFiles, clausesOptions, tellCoverage, tellExplanation, type ClausesOptions } from './clauses-output.js'
import { jsonOption, loadOption, storageOption } from './options.js'
import { idOf, operationNamed, PATIENCE_MS, printAnswer } from './run-operation.js'
import { table } from '../text.js'
import { SAMPLE_PATH } from '../sample-folder.js'

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
  const command = new Command('evaluate')
    .alias('evaluate-measure')
    .description('Count the populations of a Measure over a period. Criteria are FHIR searches, CQL or FHIRPath.')
    .argument('<measure>', 'id of the Measure')
    .requiredOption('--period-start <date>', 'YYYY, YYYY-MM, YYYY-MM-DD or a dateTime')
    .requiredOption('--period-end <date>', 'YYYY, YYYY-MM, YYYY-MM-DD or a dateTime')
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
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(jsonOption())
    .addHelpText('after', `\nExample:\n  fhir-ops evaluate heart-rate-count --period-start 2026 --period-end 2026 --load ${SAMPLE_PATH}`)
    .action((measure: string, options: EvaluateOptions) => evaluate(measure, options, io))
  for (const option of divisionOptions()) command.addOption(option)
  return command
}

async function evaluate(measure: string, options: EvaluateOptions, io: Io): Promise<void> {
  const { periodStart, periodEnd, subject, practitioner, reportType } = options
  if (options.watch) return await watch(measure, options, io)
  if (options.threads !== undefined || options.part !== undefined || options.merge !== undefined)
    return await printDivided(measure, options, io)
  checkFiles(options)
  const translator = openWorkerTranslator({ model: r4TypeModel(), timeoutMs: PATIENCE_MS })
  const languages = [cqlLanguage({ translator })]
  const told: { result?: EvaluateMeasureResult } = {}
  const run: Operation['run'] = async (ctx, request) => {
    const asked = { explain: options.explain !== undefined, coverage: options.coverage !== undefined }
    told.result = await evaluateMeasure(ctx, { ...readEvaluate(request), ...asked }, { languages })
    return { status: 200, resource: { ...toMeasureReport(told.result) } }
  }
  const call = {
    operation: { ...evaluateMeasureOperation({ languages }), run },
    type: 'Measure',
    id: idOf('Measure', measure),
    values: { periodStart, periodEnd, subject, practitioner, reportType },
  }
  const { json, storage, load } = options
  try {
    await printAnswer(call, { ...(json && { json }), storage, load }, io, (report) => {
      printCounts(report, io)
    })
    await tellExplanation(told.result?.explanation, options, io)
    await tellCoverage(told.result?.coverage, options, io)
    if (told.result?.failures !== undefined) throw new Exit(1)
  } finally {
    await translator.close()
  }
}

/** Prints the report of several threads or of merged parts; a part is printed as it is. */
async function printDivided(measure: string, options: EvaluateOptions, io: Io): Promise<void> {
  const { periodStart, periodEnd, subject, practitioner, reportType, storage, load } = options
  const input = { measure: idOf('Measure', measure), periodStart, periodEnd, subject, practitioner, reportType }
  const result = await evaluateDivided({ input, storage, load, operationTimeoutMs: PATIENCE_MS }, options, io)
  if (result === undefined) return
  const report: JsonObject = { ...toMeasureReport(result) }
  if (options.json) io.out(JSON.stringify(report, null, 2))
  else printCounts(report, io)
  if (result.failures !== undefined) throw new Exit(1)
}

function printCounts(report: JsonObject, io: Io): void {
  for (const line of table(objectsAt(report, 'group').flatMap(groupCells))) io.out(line)
  for (const text of failuresIn(report)) io.err(`error: ${text}`)
}

/** Prints each report when its counts have become different; with `json` each in one line. */
async function watch(measure: string, options: EvaluateOptions, io: Io): Promise<void> {
  const { periodStart, periodEnd, subject, practitioner, reportType, json, storage, load } = options
  const engine = await openEngine({ storage, load, limits: { operationTimeoutMs: PATIENCE_MS } }, io)
  const translator = openWorkerTranslator({ model: r4TypeModel(), timeoutMs: PATIENCE_MS })
  const input = { measure: idOf('Measure', measure), periodStart, periodEnd, subject, practitioner, reportType }
  try {
    for await (const result of watchMeasure(engine.ctx, input, { languages: [cqlLanguage({ translator })] })) {
      const report: JsonObject = { ...toMeasureReport(result) }
      if (json) io.out(JSON.stringify(report))
      else {
        io.out(result.date)
        printCounts(report, io)
      }
    }
  } finally {
    await engine.close()
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

interface DataRequirementsOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly periodStart?: string
  readonly periodEnd?: string
  readonly json?: true
}

/** `fhir-ops data-requirements`. */
export function dataRequirementsCommand(io: Io): Command {
  return new Command('data-requirements')
    .description('Say what data a Measure or Library looks at: types, codes, dates and elements. No data is read.')
    .argument('<resource>', 'id of a Measure, Measure/<id> or Library/<id>')
    .option('--period-start <date>', 'YYYY, YYYY-MM, YYYY-MM-DD or a dateTime; needed for a Measure')
    .option('--period-end <date>', 'YYYY, YYYY-MM, YYYY-MM-DD or a dateTime; needed for a Measure')
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `\nExample:\n  fhir-ops data-requirements heart-rate-count --period-start 2026 --period-end 2026 --load ${SAMPLE_PATH}`,
    )
    .action((resource: string, options: DataRequirementsOptions) => printRequirements(resource, options, io))
}

async function printRequirements(resource: string, options: DataRequirementsOptions, io: Io): Promise<void> {
  const type = resource.startsWith('Library/') ? 'Library' : 'Measure'
  const { periodStart, periodEnd } = options
  const translator = openWorkerTranslator({ model: r4TypeModel(), timeoutMs: PATIENCE_MS })
  const call = {
    operation: operationNamed('$data-requirements', measureOperations({ languages: [cqlLanguage({ translator })] }), type),
    type,
    id: idOf(type, resource),
    values: { periodStart, periodEnd },
  }
  try {
    await printAnswer(call, options, io, (library) => {
      for (const line of table(objectsAt(library, 'dataRequirement').map(cellsOf))) io.out(line)
    })
  } finally {
    await translator.close()
  }
}

/** Type, filters and elements of a requirement. */
function cellsOf(requirement: JsonObject): readonly string[] {
  const filters = [...objectsAt(requirement, 'codeFilter').map(codesText), ...objectsAt(requirement, 'dateFilter').map(datesText)]
  const elements = requirement['mustSupport']
  return [stringAt(requirement, 'type') ?? '', filters.join('; '), Array.isArray(elements) ? elements.join(', ') : '']
}

function codesText(filter: JsonObject): string {
  const codes = objectsAt(filter, 'code').map((coding) =>
    [stringAt(coding, 'system'), stringAt(coding, 'code')].filter((part) => part !== undefined).join('|'),
  )
  return `${pathText(filter)} in ${stringAt(filter, 'valueSet') ?? codes.join(', ')}`
}

function datesText(filter: JsonObject): string {
  const period = objectAt(filter, 'valuePeriod')
  return period === undefined
    ? pathText(filter)
    : `${pathText(filter)} ${stringAt(period, 'start') ?? ''}..${stringAt(period, 'end') ?? ''}`
}

function pathText(filter: JsonObject): string {
  return stringAt(filter, 'path') ?? stringAt(filter, 'searchParam') ?? ''
}
