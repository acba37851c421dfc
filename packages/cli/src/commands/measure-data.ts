import { createHandler } from '@fhir-ops/handler'
import { Command } from 'commander'
import { measureOperations } from 'fhir-ops/evaluate'
import { OperationError } from 'fhir-ops/errors'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { createSessions } from 'fhir-ops/sessions'
import { withEngine, type Engine } from '../engine.js'
import { type Io, table } from '../io.js'
import { checkJson, parsedJson } from '../json-fault.js'
import { withProgress } from '../progress.js'
import { inputName, inputText, SAMPLE_PATH } from '../files.js'
import {
  manifestOption,
  measureCommand,
  PERIOD_DATE,
  SAMPLE_MEASURE,
  withContentOptions,
  withLanguages,
  type MeasureOptions,
} from './measure-command.js'
import { checkIsKept, jsonOption, storageOption } from './options.js'
import { idOf, operationNamed, parametersAt, printAnswer } from './run-operation.js'

interface DataRequirementsOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly periodStart?: string
  readonly periodEnd?: string
  readonly manifest?: string
  readonly json?: true
}

/** `fhir-ops data-requirements`. */
export function dataRequirementsCommand(io: Io): Command {
  const command = new Command('data-requirements')
    .description('Say what data a Measure or Library looks at: types, codes, dates and elements. No data is read.')
    .argument('<resource>', 'id of a Measure, Measure/<id> or Library/<id>')
    .option('--period-start <date>', `${PERIOD_DATE}; needed for a Measure`)
    .option('--period-end <date>', `${PERIOD_DATE}; needed for a Measure`)
    .addOption(manifestOption())
    .addHelpText('after', `\nExample:\n  fhir-ops data-requirements ${SAMPLE_MEASURE}`)
    .action((resource: string, options: DataRequirementsOptions) => printRequirements(resource, options, io))
  return withContentOptions(command)
}

async function printRequirements(resource: string, options: DataRequirementsOptions, io: Io): Promise<void> {
  const type = resource.startsWith('Library/') ? 'Library' : 'Measure'
  const { periodStart, periodEnd, manifest } = options
  await withLanguages(io, async (languages) => {
    const operation = operationNamed('$data-requirements', measureOperations({ languages }), type)
    await printAnswer(
      { operation, type, id: idOf(type, resource), values: { periodStart, periodEnd, manifest } },
      options,
      io,
      (library) => {
        for (const line of table(objectsAt(library, 'dataRequirement').map(cellsOf))) io.out(line)
      },
    )
  })
}

/** Returns type, filters and elements of a requirement. */
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

interface CollectOptions extends MeasureOptions {
  readonly lastReceivedOn?: string
}

/** `fhir-ops collect-data`. */
export function collectDataCommand(io: Io): Command {
  const command = measureCommand(
    'collect-data',
    'List the resources that the evaluation of a Measure looks at; --json prints them with a report, as submit-data takes them.',
  )
    .option('--subject <reference>', 'Patient/<id> or Group/<id> (default: everybody)')
    .option('--practitioner <reference>', 'only what belongs to patients of this general practitioner')
    .option('--last-received-on <dateTime>', 'only what was stored after this time')
    .action((measure: string, options: CollectOptions) => collect(measure, options, io))
  return withContentOptions(command)
}

async function collect(measure: string, options: CollectOptions, io: Io): Promise<void> {
  const { periodStart, periodEnd, subject, practitioner, lastReceivedOn, manifest } = options
  await withLanguages(io, async (languages) => {
    const call = {
      operation: operationNamed('$collect-data', measureOperations({ languages })),
      type: 'Measure',
      id: idOf('Measure', measure),
      exactNumbers: true,
      values: { periodStart, periodEnd, subject, practitioner, lastReceivedOn, manifest },
    }
    await printAnswer(call, options, io, (collected) => {
      const resources = parametersAt(collected, 'resource').map((parameter) => objectAt(parameter, 'resource'))
      for (const one of resources) io.out(`${stringAt(one, 'resourceType') ?? ''}/${stringAt(one, 'id') ?? ''}`)
    })
  })
}

interface SubmitOptions {
  readonly storage: string
  readonly measure?: string
  readonly json?: true
}

/** `fhir-ops submit-data`. */
export function submitDataCommand(io: Io): Command {
  return new Command('submit-data')
    .description('Store collected data, a report and its resources, in one transaction: all or none. Prints what became of each.')
    .argument('<file>', 'Parameters, as `collect-data --json` prints them; - for standard input')
    .option('--measure <id>', 'refuse a report of another Measure')
    .addOption(storageOption().makeOptionMandatory())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `\nExample:
  fhir-ops collect-data heart-rate-count --period-start 2026 --period-end 2026 --load ${SAMPLE_PATH} --json > data.json
  fhir-ops submit-data data.json --storage sqlite:content.db`,
    )
    .action((file: string, options: SubmitOptions) => submit(file, options, io))
}

async function submit(file: string, options: SubmitOptions, io: Io): Promise<void> {
  const { storage, measure } = options
  checkIsKept(storage)
  const text = await inputText(file, io)
  const source = inputName(file)
  checkJson(text, source)
  const body = parsedJson(text)
  if (!isObject(body) || body['resourceType'] !== 'Parameters')
    throw new OperationError('body-invalid', `${source} must be a Parameters resource, as \`fhir-ops collect-data --json\` prints it.`)
  const path = measure === undefined ? 'Measure' : `Measure/${idOf('Measure', measure)}`
  await withEngine({ storage, create: true }, io, async (engine) => {
    const answer = await withProgress(io, 'submit-data', () => post(engine, `${path}/$submit-data`, text))
    if (options.json) io.out(JSON.stringify(answer, null, 2))
    else for (const line of table(objectsAt(answer, 'entry').map(outcomeCells))) io.out(line)
  })
}

const BASE = 'http://127.0.0.1'

/** Posts to an in-process handler, so that all checks of a server apply, in one transaction. @throws {OperationError} `body-invalid` with what was refused. */
async function post({ ctx, indexer, sessionStore }: Engine, path: string, body: string): Promise<JsonObject> {
  const sessions = createSessions({ store: sessionStore })
  const handler = createHandler({ context: ctx, indexer, sessions, baseUrl: BASE, auth: 'off', defaultPolicy: 'deny' })
  try {
    const headers = { 'content-type': 'application/fhir+json' }
    const response = await handler(new Request(`${BASE}/fhir/R4/${path}`, { method: 'POST', headers, body }))
    const answer: unknown = await response.json()
    if (response.ok && isObject(answer)) return answer
    throw new OperationError('body-invalid', issueTexts(answer).join(' '))
  } finally {
    await handler.close()
    await sessions.close()
  }
}

function issueTexts(outcome: unknown): readonly string[] {
  return (isObject(outcome) ? objectsAt(outcome, 'issue') : []).flatMap(
    (issue) => stringAt(objectAt(issue, 'details'), 'text') ?? stringAt(issue, 'diagnostics') ?? [],
  )
}

function outcomeCells(entry: JsonObject): readonly string[] {
  const response = objectAt(entry, 'response')
  return [stringAt(response, 'status') ?? '', (stringAt(response, 'location') ?? '').replace(`${BASE}/fhir/R4/`, '')]
}
