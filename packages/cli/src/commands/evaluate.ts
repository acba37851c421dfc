import { Option, type Command, InvalidArgumentError } from 'commander'
import {
  evaluateMeasure,
  evaluateMeasureOperation,
  toMeasureReport,
  watchMeasure,
  type EvaluateMeasureInput,
  type EvaluateMeasureResult,
  evaluateMeasurePart,
  mergeMeasureParts,
  type CriteriaLanguage,
  type MeasurePart,
} from 'fhir-ops/evaluate'
import { readEvaluate, type SubjectsPart } from 'fhir-ops/internal/evaluate'
import { objectAt, objectsAt, stringAt, type JsonObject, isObject } from 'fhir-ops/internal/json'
import type { Operation } from 'fhir-ops/operation'
import { evaluateInThreads } from '@fhir-ops/cql/node'
import { forRequest, type OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { withEngine, openEngine } from '../engine.js'
import { Exit, type Io, table } from '../io.js'
import { checkJson } from '../json-fault.js'
import type { MeasureThreadData } from '../measure-thread.js'
import { progressOn } from '../progress.js'
import { inputName, inputText } from '../files.js'
import { parameterOption, parametersResource } from './cql.js'
import {
  checkFiles,
  clausesOptions,
  measureCommand,
  printCoverage,
  printExplanation,
  withContentOptions,
  withLanguages,
  withTranslator,
  type ClausesOptions,
  type MeasureOptions,
} from './measure-command.js'
import { idOf, PATIENCE_MS, printAnswer } from './run-operation.js'

interface EvaluateOptions extends MeasureOptions, ClausesOptions, DivisionOptions {
  readonly reportType?: 'subject' | 'subject-list' | 'population'
  readonly continue?: true
  readonly parameter?: readonly string[]
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
    .option('--continue', 'leave out patients whose evaluation fails, and say how many, instead of counting nobody')
    .addOption(parameterOption())
    .addOption(explain)
    .addOption(coverage)
    .addOption(
      new Option('--watch', 'print the counts again whenever they change, until the command is ended').conflicts(['explain', 'coverage']),
    )
    .action((measure: string, options: EvaluateOptions) =>
      withTranslator(io, (translator) => evaluate(measure, options, { ...io, translator })),
    )
  withContentOptions(command)
  for (const option of divisionOptions()) command.addOption(option)
  return command
}

async function evaluate(measure: string, options: EvaluateOptions, io: Io): Promise<void> {
  const { periodStart, periodEnd, subject, practitioner, reportType, manifest } = options
  const values = { periodStart, periodEnd, subject, practitioner, reportType, manifest }
  const id = idOf('Measure', measure)
  const more = { continue: options.continue === true, parameters: await parametersResource(options.parameter, io) }
  if (options.watch) return await watch({ measure: id, ...values, ...more }, options, io)
  if (options.threads !== undefined || options.part !== undefined || options.merge !== undefined)
    return await printDivided({ measure: id, ...values, ...more }, options, io)
  checkFiles(options)
  await withLanguages(io, async (languages) => {
    const outcome: { result?: EvaluateMeasureResult } = {}
    const run: Operation['run'] = async (ctx, request) => {
      const asked = { explain: options.explain !== undefined, coverage: options.coverage !== undefined }
      outcome.result = await evaluateMeasure(ctx, { ...readEvaluate(request), ...more, ...asked }, { languages })
      return { status: 200, resource: { ...toMeasureReport(outcome.result) } }
    }
    const operation = { ...evaluateMeasureOperation({ languages }), run }
    const { json, storage, load } = options
    await printAnswer({ operation, type: 'Measure', id, values }, { ...(json && { json }), storage, load }, io, (report) =>
      printCounts(report, io),
    )
    await printExplanation(outcome.result?.explanation, options, io)
    await printCoverage(outcome.result?.coverage, options, io)
    checkWhole(outcome.result)
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
  checkWhole(result)
}

/** @throws {Exit} if nothing was counted because subjects could not be evaluated. */
function checkWhole(result: EvaluateMeasureResult | undefined): void {
  if (result?.failures !== undefined && result.failed === undefined) throw new Exit(1)
}

/** Prints a report whenever its counts have changed; with `json`, each in one line. */
async function watch(input: EvaluateMeasureInput, { json, storage, load }: EvaluateOptions, io: Io): Promise<void> {
  await withEngine({ storage, load, limits: { operationTimeoutMs: PATIENCE_MS } }, io, ({ ctx }) =>
    withLanguages(io, async (languages) => {
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
  const severity = report['status'] === 'error' ? 'error' : 'warning'
  for (const text of failuresIn(report)) io.err(`${severity}: ${text}`)
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

/** How `fhir-ops evaluate` divides the subjects; all members are absent for a single run. */
interface DivisionOptions {
  readonly threads?: number
  readonly part?: SubjectsPart
  readonly merge?: readonly string[]
}

const OTHERS = ['explain', 'coverage', 'watch']

/** `--threads`, `--part` and `--merge`. */
function divisionOptions(): readonly Option[] {
  return [
    new Option('--threads <count>', 'divide the patients among this many threads; over sqlite:FILE or postgres:URL')
      .argParser(threadsIn)
      .conflicts([...OTHERS, 'part', 'merge']),
    new Option('--part <part>', 'evaluate one part of the patients (2/4: the second of four), and print it for --merge')
      .argParser(partIn)
      .conflicts([...OTHERS, 'threads', 'merge', 'json']),
    new Option('--merge <file...>', 'report on all parts, from files with what --part printed').conflicts([...OTHERS, 'threads', 'part']),
  ]
}

const MAX_THREADS = 64

function threadsIn(text: string): number {
  const count = Number(text)
  if (/^\d{1,2}$/.test(text) && count >= 1 && count <= MAX_THREADS) return count
  throw new InvalidArgumentError(`It must be a number from 1 to ${MAX_THREADS}.`)
}

function partIn(text: string): SubjectsPart {
  const [, part, of] = /^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []
  if (part === undefined || of === undefined) throw new InvalidArgumentError('It must be two numbers, such as 2/4.')
  return { part: Number(part), of: Number(of) }
}

/** The evaluation, and its storage. */
interface DividedCall {
  readonly input: EvaluateMeasureInput
  readonly storage: string
  readonly load: readonly string[]
}

/**
 * Evaluates in threads, evaluates one part, or merges parts. A part is printed.
 *
 * @returns The result of all parts; `undefined` for a single part.
 * @throws {OperationError} `parameter-value` for threads over a storage in memory.
 */
async function evaluateDivided(call: DividedCall, division: DivisionOptions, io: Io): Promise<EvaluateMeasureResult | undefined> {
  const { storage, load } = call
  if (division.threads !== undefined && storage === 'memory')
    throw new OperationError(
      'parameter-value',
      '--threads needs a storage that each thread can open, such as sqlite:FILE or postgres:URL: one in memory belongs to one thread.',
    )
  const engine = await openEngine({ storage, load, limits: { operationTimeoutMs: PATIENCE_MS } }, io)
  const progress = progressOn(io)
  const ctx = forRequest(engine.ctx, {
    onProgress: ({ done, total }) => {
      progress.show({ doing: 'evaluating', done, thing: 'patient', share: total === undefined || total === 0 ? undefined : done / total })
    },
  })
  try {
    return await withLanguages(io, async (languages, translator) => {
      if (division.threads === undefined) return await partOrWhole(ctx, { input: call.input, division, languages }, io)
      const data: MeasureThreadData = { storage, operationTimeoutMs: PATIENCE_MS }
      return await evaluateInThreads(ctx, call.input, { threads: division.threads, module: threadModule(), data, languages, translator })
    })
  } finally {
    progress.end()
    await engine.close()
  }
}

interface Asked {
  readonly input: EvaluateMeasureInput
  readonly division: DivisionOptions
  readonly languages: readonly CriteriaLanguage[]
}

async function partOrWhole(
  ctx: OperationContext,
  { input, division, languages }: Asked,
  io: Io,
): Promise<EvaluateMeasureResult | undefined> {
  const { part, merge = [] } = division
  if (part !== undefined) {
    io.out(JSON.stringify(await evaluateMeasurePart(ctx, input, part, { languages })))
    return undefined
  }
  const parts: MeasurePart[] = []
  for (const file of merge) parts.push(await partAt(file, io))
  return await mergeMeasureParts(ctx, input, parts, { languages }).catch((error: unknown) => {
    throw ofOption(error)
  })
}

/** Reports an error in the parts as an error of `--merge`. */
function ofOption(error: unknown): unknown {
  if (!(error instanceof OperationError) || error.expression[0] !== 'parts') return error
  return new OperationError(error.code, error.message, { ...error.detail, expression: ['merge'], cause: error })
}

/** Reads a part. Which measure it belongs to is checked when it is merged. */
async function partAt(file: string, io: Io): Promise<MeasurePart> {
  const text = await inputText(file, io)
  checkJson(text, inputName(file), ', as `fhir-ops evaluate --part` prints it')
  const part: MeasurePart = JSON.parse(text)
  if (isObject(part) && part.format === 'measure-part') return part
  throw new OperationError('body-invalid', `${inputName(file)} is not what \`fhir-ops evaluate --part\` prints.`)
}

/** The thread's file next to the program; tests run the sources but use the built thread. */
function threadModule(): string {
  return new URL(import.meta.url.endsWith('.ts') ? '../../dist/measure-thread.js' : './measure-thread.js', import.meta.url).href
}
