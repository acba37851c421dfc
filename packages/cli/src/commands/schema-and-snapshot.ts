import { Command } from 'commander'
import { jsonSchema } from 'fhir-ops/schema'
import { generateSnapshot } from 'fhir-ops/snapshot'
import { withEngine } from '../engine.js'
import { Exit, type Io, counted, table } from '../io.js'
import { hintAbout, withHint } from '../known-names.js'
import { readResource } from '../read-resource.js'
import { loadOption, storageOption, wholeNumber } from './options.js'

interface SchemaOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly whole?: true
  readonly maxCodes?: number
  readonly unexpressed?: true
}

/** `fhir-ops schema`. */
export function schemaCommand(io: Io): Command {
  return new Command('schema')
    .description('Print the JSON Schema (draft 2020-12) of a type or profile. What a schema cannot express is counted on standard error.')
    .argument('<url>', 'name of a type, or canonical of a StructureDefinition')
    .option('--whole', 'check resources inside the resource too (contained, entries of a Bundle)')
    .option('--max-codes <n>', 'codes of the largest value set that is written into the schema (default: 500)', wholeNumber(0))
    .option('--unexpressed', 'print what the schema does not express, instead of the schema')
    .addOption(storageOption())
    .addOption(loadOption())
    .addHelpText('after', '\nExample:\n  fhir-ops schema Patient > patient.schema.json')
    .action((url: string, options: SchemaOptions) => printSchema(url, options, io))
}

async function printSchema(url: string, options: SchemaOptions, io: Io): Promise<void> {
  const limit = options.maxCodes !== undefined && { maxCodes: options.maxCodes }
  await withEngine(options, io, async ({ ctx }) => {
    const input = { url, resources: options.whole ? 'whole' : 'named', ...limit } as const
    const { schema, unexpressed } = await jsonSchema(ctx, input).catch(async (error: unknown) => {
      // For names of types, the operation itself suggests similar names.
      throw url.includes(':') ? withHint(error, await hintAbout(error, ctx)) : error
    })
    if (options.unexpressed) for (const line of table(unexpressed.map(({ kind, element, text }) => [kind, element, text]))) io.out(line)
    else {
      io.out(JSON.stringify(schema, null, 2))
      io.err(`${counted(unexpressed.length, 'demand')} of the definitions cannot be expressed; --unexpressed lists them`)
    }
  })
}

interface SnapshotOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly url?: true
}

/** `fhir-ops snapshot`. */
export function snapshotCommand(io: Io): Command {
  return new Command('snapshot')
    .description(
      'Print a StructureDefinition with the snapshot that its differential makes of its base. What cannot be applied goes to standard error.',
    )
    .argument('<file>', 'JSON file with a StructureDefinition; - for standard input')
    .option('--url', 'the argument is the canonical of a definition that is stored or loaded')
    .addOption(storageOption())
    .addOption(loadOption())
    .addHelpText('after', '\nExample:\n  fhir-ops snapshot --url http://hl7.org/fhir/StructureDefinition/bp')
    .action((file: string, options: SnapshotOptions) => printSnapshot(file, options, io))
}

async function printSnapshot(file: string, options: SnapshotOptions, io: Io): Promise<void> {
  const given = options.url ? { url: file } : { definition: await readResource(file, io) }
  await withEngine(options, io, async ({ ctx }) => {
    const { definition, problems } = await generateSnapshot(ctx, given).catch(async (error: unknown) => {
      throw withHint(error, await hintAbout(error, ctx))
    })
    io.out(JSON.stringify(definition, null, 2))
    for (const { severity, text, expression } of problems) io.err(`${severity}: ${expression}: ${text}`)
    if (problems.some(({ severity }) => severity === 'error')) throw new Exit(1)
  })
}
