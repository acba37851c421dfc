import { readdir } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { evaluateCql, literalText, toParameters, type EvaluateCqlInput, type EvaluateCqlResult, type Value } from '@fhir-ops/cql'
import type { CqlTranslator } from '@fhir-ops/cql/translator'
import { Command, Option } from 'commander'
import { forRequest, type OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { objectAt, objectsAt, type JsonObject } from 'fhir-ops/internal/json'
import { openEngine } from '../engine.js'
import { Exit, type Io, table } from '../io.js'
import { fileText, inputName, STANDARD_INPUT, SAMPLE_PATH } from '../files.js'
import { readResource, readResources } from '../read-resource.js'
import {
  checkFiles,
  clausesOptions,
  manifestOption,
  printCoverage,
  printExplanation,
  withTranslator,
  type ClausesOptions,
} from './measure-command.js'
import { jsonOption, loadOption, repeated, storageOption } from './options.js'
import { withProgress } from '../progress.js'
import { PATIENCE_MS } from './run-operation.js'

interface CqlOptions extends ClausesOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly expression?: string
  readonly define?: readonly string[]
  readonly subject?: string
  readonly parameter?: readonly string[]
  readonly manifest?: string
  readonly data?: string
  readonly json?: true
}

/** Base of the urls of libraries read from files, for each other's `include`. */
const FOLDER = 'urn:fhir-ops:folder'

const EXAMPLES = `
Example:
  fhir-ops cql --expression "Interval[1, 5] overlaps Interval[4, 9]"
  fhir-ops cql measure.cql --load ${SAMPLE_PATH} --subject Patient/example --parameter "Factor=3"`

/** `fhir-ops cql`. */
export function cqlCommand(io: Io): Command {
  const { explain, coverage } = clausesOptions()
  return new Command('cql')
    .description('Evaluate a CQL library, or an expression, over data that is loaded or stored.')
    .argument('[file]', 'file with CQL or with a Library resource; other .cql files of its folder can be included; - for standard input')
    .option('--expression <cql>', 'an expression; with a file it may use the library of the file by its name')
    .option('--define <name>', 'definition to evaluate; repeatable (default: all that are public)', repeated)
    .option('--subject <reference>', 'Patient/<id>, the subject of the context')
    .addOption(parameterOption())
    .addOption(manifestOption())
    .option('--data <file>', 'Bundle, resource or NDJSON file to evaluate over, instead of what is stored; - for standard input')
    .addOption(explain)
    .addOption(coverage)
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action((file: string | undefined, options: CqlOptions) => runCql(file, options, io))
}

/** `--parameter`. */
export function parameterOption(): Option {
  return new Option('--parameter <name=cql>', "value of a parameter, written in CQL (Factor=3, Name='x'); repeatable").argParser(repeated)
}

async function runCql(file: string | undefined, options: CqlOptions, io: Io): Promise<void> {
  if (file === undefined && options.expression === undefined)
    throw new OperationError('parameter-required', 'Name a file, or give --expression.')
  if (options.define !== undefined && options.expression !== undefined)
    throw new OperationError('parameter-invalid', 'Either definitions of the file are evaluated, or an expression.', {
      expression: ['define', 'expression'],
    })
  checkFiles(options)
  const engine = await openEngine({ ...options, limits: { operationTimeoutMs: PATIENCE_MS } }, io)
  try {
    const result = await withProgress(io, 'cql', () =>
      withTranslator(io, (translator) => evaluateFile(engine.ctx, file, { options, translator, io })),
    )
    for (const { severity, code, message } of result.messages) io.err(`${severity}: ${[code, message].filter(Boolean).join(' ')}`)
    await printExplanation(result.explanation, options, io)
    await printCoverage(result.explanation?.source, options, io)
    print(result, options, { ...io, types: engine.ctx.types })
  } finally {
    await engine.close()
  }
}

interface CqlCall {
  readonly options: CqlOptions
  readonly translator: CqlTranslator
  readonly io: Io
}

async function evaluateFile(ctx: OperationContext, file: string | undefined, call: CqlCall): Promise<EvaluateCqlResult> {
  const { expression, define, subject, data, manifest } = call.options
  const files = file === undefined ? { library: undefined, resources: [] } : await librariesAt(file, call.io)
  const own = forRequest(ctx, { resources: files.resources })
  const input: EvaluateCqlInput = {
    expression,
    library: files.library,
    definitions: define,
    subject,
    manifest,
    parameters: await parameterValues(ctx, call.options.parameter, call.translator),
    data: data === undefined ? undefined : (await readResources(data, call.io)).flatMap(resourcesIn),
    explain: call.options.explain !== undefined || call.options.coverage !== undefined,
  }
  const options = { parameters: 'parameter', ...(define !== undefined && { expression: 'define' }) }
  return await evaluateCql(own, input, { translator: call.translator }).catch(namingOptions(options))
}

/** Reports an error in an input of `evaluateCql` as one in the option of another name that it comes from. */
function namingOptions(options: Readonly<Record<string, string>>): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof OperationError)) throw error
    const expression = error.expression.map((input) => options[input] ?? input)
    throw new OperationError(error.code, error.message, { ...error.detail, expression, cause: error })
  }
}

/**
 * Returns the library in a file, and those in the other CQL files of its folder. Others that cannot be read are reported and left out, because the
 * library may not need them: macOS leaves `._measure.cql`, which is not text, next to a copied `measure.cql`.
 */
async function librariesAt(file: string, io: Io): Promise<{ readonly library: JsonObject; readonly resources: readonly JsonObject[] }> {
  if (extname(file) === '.json') return { library: await libraryIn(file, io), resources: [] }
  if (file === STANDARD_INPUT) return libraryOfInput(io)
  const library = libraryOf(await fileText(file), file)
  const folder = dirname(file)
  const resources = [library]
  for (const name of (await readdir(folder)).filter((one) => extname(one) === '.cql' && one !== basename(file))) {
    try {
      resources.push(libraryOf(await fileText(join(folder, name)), name))
    } catch (error) {
      if (!(error instanceof OperationError)) throw error
      io.err(`not available to include: ${error.message}`)
    }
  }
  return { library, resources }
}

/** The library in standard input, which includes no other files. */
async function libraryOfInput(io: Io): Promise<{ readonly library: JsonObject; readonly resources: readonly JsonObject[] }> {
  const text = await io.stdin()
  if (text.trim() === '') throw new OperationError('body-invalid', 'stdin is empty: CQL or a Library resource is expected.')
  if (text.trimStart().startsWith('{')) return { library: await libraryIn(STANDARD_INPUT, { stdin: async () => text }), resources: [] }
  const library = libraryOf(text, 'stdin')
  return { library, resources: [library] }
}

async function libraryIn(file: string, io: Pick<Io, 'stdin'>): Promise<JsonObject> {
  const resource = await readResource(file, io)
  if (resource['resourceType'] === 'Library') return resource
  throw new OperationError('body-invalid', `${inputName(file)} must be a Library resource, or CQL in a file whose name ends in .cql.`)
}

const DECLARATION = /^library {1,9}(?:"([^"]{1,200})"|([\w.]{1,200}))(?: {1,9}version {1,9}'([^']{0,100})')?/

/** Makes a Library resource from CQL, with the name and version that it declares. */
function libraryOf(text: string, file: string): JsonObject {
  const declaration = text.split('\n').find((line) => line.trimStart().startsWith('library '))
  const [, quoted, plain, version] = DECLARATION.exec(declaration?.trimStart() ?? '') ?? []
  const name = (quoted ?? plain ?? basename(file, '.cql')).split('.').at(-1) ?? ''
  return {
    resourceType: 'Library',
    id: name.replaceAll(/[^A-Za-z0-9\-.]/g, '-').slice(0, 64),
    url: `${FOLDER}/${name}`,
    name,
    ...(version !== undefined && { version }),
    status: 'active',
    content: [{ contentType: 'text/cql', data: Buffer.from(text).toString('base64') }],
  }
}

/** The values of `--parameter`; `undefined` if there are none. */
async function parameterValues(
  ctx: OperationContext,
  parameter: readonly string[] = [],
  translator: CqlTranslator,
): Promise<ReadonlyMap<string, Value> | undefined> {
  const values = new Map<string, Value>()
  for (const text of parameter) {
    const [, name, expression] = /^([^=]+)=(.*\S.*)$/s.exec(text) ?? []
    if (name === undefined || expression === undefined)
      throw new OperationError('parameter-value', `--parameter ${text} must be a name, = and a value in CQL.`)
    const { values: found, failures } = await evaluateCql(ctx, { expression }, { translator }).catch(
      namingOptions({ expression: 'parameter' }),
    )
    const [cause] = failures.values()
    if (cause !== undefined) throw new OperationError(cause.code, cause.message, { expression: ['parameter'], cause })
    values.set(name.trim(), found.get('return') ?? null)
  }
  return values.size === 0 ? undefined : values
}

/** The values of `--parameter` as a Parameters resource; `undefined` if there are none. */
export async function parametersResource(parameter: readonly string[] | undefined, io: Io): Promise<object | undefined> {
  if (parameter === undefined) return undefined
  const { ctx, close } = await openEngine({ storage: 'memory', load: [] }, io)
  try {
    const values = await withTranslator(io, (translator) => parameterValues(ctx, parameter, translator))
    return values === undefined ? undefined : toParameters(values, ctx.types)
  } finally {
    await close()
  }
}

function resourcesIn(resource: JsonObject): readonly JsonObject[] {
  if (resource['resourceType'] !== 'Bundle') return [resource]
  return objectsAt(resource, 'entry')
    .map((entry) => objectAt(entry, 'resource'))
    .filter((entry) => entry !== undefined)
}

/** @throws {Exit} if a definition failed. */
function print(
  { values, failures }: EvaluateCqlResult,
  { json }: CqlOptions,
  { types, ...io }: Io & Pick<OperationContext, 'types'>,
): void {
  if (json) io.out(JSON.stringify(toParameters(values, types), null, 2))
  else for (const line of table([...values].map(([name, value]) => [name, literalText(value)]))) io.out(line)
  if (values.size + failures.size === 0) io.err('there is no public definition')
  for (const [name, error] of failures) io.err(`error: ${name}: ${error.message}`)
  if (failures.size > 0) throw new Exit(1)
}
