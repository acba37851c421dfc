import { Command } from 'commander'
import { forRequest } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/json'
import { parametersFromQuery } from 'fhir-ops/parameters'
import { validateOperation } from 'fhir-ops/validate'
import { openEngine, type Engine } from '../engine.js'
import { Exit } from '../exit.js'
import type { Io } from '../io.js'
import { sourcesIn, type Source } from '../load/sources.js'
import { jsonOption, loadOption, repeated, storageOption } from './options.js'

interface ValidateOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly profile?: readonly string[]
  readonly json?: true
}

/** `fhir-ops validate`. */
export function validateCommand(io: Io): Command {
  return new Command('validate')
    .description('Validate resources. Exit status 1 when one of them has an error.')
    .argument('[paths...]', 'JSON or NDJSON files or folders of them; standard input when there is none')
    .option('--profile <canonical>', 'profile to validate against, repeatable', repeated)
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExample:\n  fhir-ops validate packages/cli/sample/patients.json\n  curl -s https://example.org/fhir/Patient/1 | fhir-ops validate --json',
    )
    .action((paths: readonly string[], options: ValidateOptions) => validateAll(paths, options, io))
}

async function validateAll(paths: readonly string[], options: ValidateOptions, io: Io): Promise<void> {
  const engine = await openEngine(options, io)
  let invalid = 0
  try {
    for await (const source of inputs(paths, io)) {
      const outcome = await outcomeOf(source, engine, options)
      for (const line of options.json ? [JSON.stringify(outcome)] : lines(source.place, outcome)) io.out(line)
      invalid += Number(hasError(outcome))
    }
  } finally {
    await engine.close()
  }
  if (invalid > 0) throw new Exit(1)
}

async function* inputs(paths: readonly string[], io: Io): AsyncGenerator<Source> {
  if (paths.length === 0) yield { text: await io.stdin(), place: 'stdin' }
  for (const path of paths) yield* sourcesIn(path)
}

async function outcomeOf(source: Source, engine: Engine, { profile = [] }: ValidateOptions): Promise<JsonObject> {
  const { resource } = await validateOperation.run(forRequest(engine.ctx, {}), {
    type: typeOf(source),
    method: 'POST',
    parameters: parametersFromQuery(profile.map((canonical): [string, string] => ['profile', canonical])),
    bodyText: source.text,
    strict: true,
  })
  return resource
}

/** The type that the text claims; the validator itself says what is wrong with a text that is no JSON. */
function typeOf({ text, place }: Source): string {
  const type = /"resourceType"\s*:\s*"([A-Za-z]{1,64})"/.exec(text)?.[1]
  if (type === undefined) throw new OperationError('resource-invalid', `${place} is no FHIR resource: it has no resourceType.`)
  return type
}

function lines(place: string, outcome: JsonObject): readonly string[] {
  return objectsAt(outcome, 'issue').map((issue) => {
    const { expression } = issue
    const at = Array.isArray(expression) ? ` at ${expression.join(', ')}` : ''
    return `${place}: ${stringAt(issue, 'severity') ?? ''} (${stringAt(issue, 'code') ?? ''}): ${stringAt(objectAt(issue, 'details'), 'text') ?? ''}${at}`
  })
}

function hasError(outcome: JsonObject): boolean {
  return objectsAt(outcome, 'issue').some((issue) => isObject(issue) && /^(error|fatal)$/.test(stringAt(issue, 'severity') ?? ''))
}
