import { Command } from 'commander'
import { forRequest, type OperationContext, type Progress } from 'fhir-ops/context'
import { OperationError, quoted } from 'fhir-ops/internal/errors'
import { EXPLANATION } from 'fhir-ops/internal/explain'
import { extensionAt, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Operation, OperationRequest, Parameter } from 'fhir-ops/operation'
import { parametersFromQuery, parametersOf } from 'fhir-ops/internal/parameters'
import { isResourceId } from 'fhir-ops/storage'
import { openEngine, type EngineOptions } from '../engine.js'
import { Exit, type Io } from '../io.js'
import { hintAbout, withHint } from '../known-names.js'
import { withProgress, type ReportProgress } from '../progress.js'
import { explainOption, jsonOption, loadOption, storageOption } from './options.js'
import { SAMPLE_PATH } from '../files.js'

/** Options of every command that runs an operation. */
export interface OperationOptions extends EngineOptions {
  readonly load: readonly string[]
  readonly explain?: true
  readonly json?: true
}

/** Makes a command that runs an operation. @param example Arguments for the help text; the sample content is loaded for them. */
export function operationCommand(name: string, example: string): Command {
  return new Command(name)
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(explainOption())
    .addOption(jsonOption())
    .addHelpText('after', `\nExample:\n  fhir-ops ${name} ${example} --load ${SAMPLE_PATH}`)
}

/** Time limit of an operation in a command, in milliseconds: nobody else waits, and the user can interrupt it. */
export const PATIENCE_MS = 86_400_000

/** A call of an operation from the command line. */
export interface OperationCall {
  readonly operation: Operation
  /** Absent for an operation at the system level. */
  readonly type?: string
  readonly id?: string | undefined
  /** Values by parameter name; `undefined` ones are omitted. */
  readonly values: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Codings by parameter name. */
  readonly codings?: Readonly<Record<string, readonly { readonly system: string | undefined; readonly code: string }[]>>
  /** Prints JSON as the operation writes it, in one line, so that numbers keep their digits. */
  readonly exactNumbers?: boolean
  /** If true, the command exits with status 1 when `result` of the answer is false. */
  readonly exits?: boolean
}

/**
 * Runs an operation over a storage that is opened for this call, with the same steps as over HTTP, and prints the answer: as JSON if
 * requested, otherwise with `print`. The explanation goes to standard error.
 *
 * @throws {Exit} after printing a negative answer to a call that `exits`.
 */
export async function printAnswer(
  call: OperationCall,
  options: OperationOptions,
  io: Io,
  print: (answer: JsonObject) => void,
): Promise<void> {
  const { values, ...others } = call
  const own = { ...others, values: { ...values, _explain: options.explain && 'true' } }
  const { run, write } = call.operation
  if (options.json && call.exactNumbers && write !== undefined) {
    const { text } = await answerQuestion(own, options, io, write)
    return io.out([...text].join(''))
  }
  const { resource: answer } = await answerQuestion(own, options, io, run)
  if (options.json) io.out(JSON.stringify(answer, null, 2))
  else {
    for (const line of explanationLines(answer)) io.err(line)
    print(answer)
  }
  if (call.exits && parameterAt(answer, 'result')?.['valueBoolean'] !== true) throw new Exit(1)
}

/** Opens the storage and runs the operation. If something was not found, the error suggests similar names. */
async function answerQuestion<T>(
  call: OperationCall,
  options: EngineOptions,
  io: Io,
  run: (ctx: OperationContext, request: OperationRequest) => Promise<T>,
): Promise<T> {
  const engine = await openEngine({ limits: { operationTimeoutMs: PATIENCE_MS }, ...options }, io)
  const { type = '', id } = call
  const request: OperationRequest = { type, id, method: 'GET', parameters: parametersOfCall(call), strict: true }
  try {
    return await withProgress(io, call.operation.name.slice(1), (report) =>
      run(forRequest(engine.ctx, { onProgress: (progress) => report(stateOf(progress)) }), request),
    )
  } catch (error) {
    if (call.values['_explain'] !== undefined) for (const line of reasonsIn(error)) io.err(line)
    const explained = await explainedError(error, () =>
      run(forRequest(engine.ctx, {}), { ...request, parameters: [...request.parameters, ...EXPLAINED] }),
    )
    throw withHint(error, await hintAbout(explained, engine.ctx))
  } finally {
    await engine.close()
  }
}

const EXPLAINED = parametersFromQuery([['_explain', 'true']])

/** Returns the error for an unknown code, with similar codes: these are searched only for an explanation, so the call is repeated with one. */
async function explainedError(error: unknown, again: () => Promise<unknown>): Promise<unknown> {
  if (!(error instanceof OperationError) || error.detail.missing?.kind !== 'code' || error.detail.explanation !== undefined) return error
  return again().then(
    () => error,
    (cause: unknown) => cause,
  )
}

/** Returns the explanation of what was decided before an operation failed. */
function reasonsIn(error: unknown): readonly string[] {
  return error instanceof OperationError ? (error.detail.explanation?.steps.map(({ text }) => text) ?? []) : []
}

function stateOf({ done, total, of }: Progress): Parameters<ReportProgress>[0] {
  return { done, thing: of.replace(/s$/, ''), share: total === undefined ? undefined : done / total }
}

function parametersOfCall({ values, codings = {} }: OperationCall): readonly Parameter[] {
  const pairs = Object.entries(values).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]))
  const parameter = Object.entries(codings).flatMap(([name, all]) => all.map((valueCoding) => ({ name, valueCoding })))
  return [...parametersFromQuery(pairs), ...parametersOf({ resourceType: 'Parameters', parameter })]
}

/** Returns the operation with a name; with `type`, the one for this type, as several may share the name. */
export function operationNamed(name: string, operations: readonly Operation[], type?: string): Operation {
  const found = operations.find((operation) => operation.name === name && (type === undefined || operation.types.includes(type)))
  if (found === undefined) throw new OperationError('not-supported', `${type ?? 'Nothing'} has no ${name}.`)
  return found
}

/** Returns the id in `Type/id` or in a plain id. */
export function idOf(type: string, reference: string): string {
  const id = reference.startsWith(`${type}/`) ? reference.slice(type.length + 1) : reference
  if (!isResourceId(id)) throw new OperationError('parameter-value', `${quoted(reference)} is not a ${type} id.`)
  return id
}

/** Returns the parameters with a name in an answer. */
export function parametersAt(answer: JsonObject, name: string): readonly JsonObject[] {
  return objectsAt(answer, 'parameter').filter((parameter) => stringAt(parameter, 'name') === name)
}

/** Returns the first parameter with a name in an answer. */
export function parameterAt(answer: JsonObject, name: string): JsonObject | undefined {
  return parametersAt(answer, name)[0]
}

/** Returns the sentences of the explanation in an answer, with suggested codes; empty if there is none. */
function explanationLines(answer: JsonObject): readonly string[] {
  const parameter = parameterAt(answer, 'explanation')
  const extension = extensionAt(objectAt(answer, 'expansion'), EXPLANATION)
  return itemsIn(parameter ?? extension).flatMap(lineOf)
}

/** Returns the parts of a parameter or the extensions of an extension; both have the same names. */
function itemsIn(element: JsonObject | undefined): readonly JsonObject[] {
  return [...objectsAt(element, 'part'), ...objectsAt(element, 'extension')]
}

function named(element: JsonObject, name: string): JsonObject | undefined {
  return itemsIn(element).find((item) => (stringAt(item, 'name') ?? stringAt(item, 'url')) === name)
}

function lineOf(item: JsonObject): readonly string[] {
  const text = stringAt(named(item, 'text'), 'valueString')
  if (text !== undefined) return [text]
  const code = stringAt(objectAt(named(item, 'coding'), 'valueCoding'), 'code')
  return code === undefined ? [] : [`Near: ${code}`]
}
