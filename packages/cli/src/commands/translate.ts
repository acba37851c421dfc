import { Command } from 'commander'
import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/json'
import { translateOperation } from 'fhir-ops/translate'
import type { Io } from '../io.js'
import { Exit } from '../exit.js'
import { explanationLines } from './explanation-lines.js'
import { explainOption, jsonOption, loadOption, storageOption } from './options.js'
import { asJson, idOf, runOperation } from './run-operation.js'
import { table } from '../text.js'

interface TranslateOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly system: string
  readonly url?: string
  readonly source?: string
  readonly map?: string
  readonly targetSystem?: string
  readonly reverse?: true
  readonly explain?: true
  readonly json?: true
}

/** `fhir-ops translate`. */
export function translateCommand(io: Io): Command {
  return new Command('translate')
    .description('Translate a code with a ConceptMap. Exit status 1 when nothing matches.')
    .argument('<code>', 'code to translate')
    .requiredOption('--system <uri>', 'code system of the code')
    .option('--url <canonical>', 'canonical of the ConceptMap')
    .option('--map <id>', 'id of the ConceptMap')
    .option('--source <canonical>', 'canonical of the source value set; every map from it is used')
    .option('--target-system <uri>', 'keep only matches into this code system')
    .option('--reverse', 'go from target to source')
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(explainOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Example:
  fhir-ops translate urgent --system http://example.org/fhir/CodeSystem/visit-priority \\
    --url http://example.org/fhir/ConceptMap/visit-priority-to-act-priority --load packages/cli/sample`,
    )
    .action((code: string, options: TranslateOptions) => translate(code, options, io))
}

async function translate(code: string, options: TranslateOptions, io: Io): Promise<void> {
  const { system, url, source, targetSystem } = options
  const values = {
    code,
    system,
    url,
    source,
    targetsystem: targetSystem,
    reverse: options.reverse && 'true',
    _explain: options.explain && 'true',
  }
  const id = options.map === undefined ? undefined : idOf('ConceptMap', options.map)
  const answer = await runOperation({ operation: translateOperation, type: 'ConceptMap', id, values }, options, io)
  if (!options.json) for (const line of explanationLines(answer)) io.err(line)
  for (const line of options.json ? [asJson(answer)] : lines(answer)) io.out(line)
  const result = objectsAt(answer, 'parameter').find((parameter) => stringAt(parameter, 'name') === 'result')
  if (result?.['valueBoolean'] !== true) throw new Exit(1)
}

function lines(answer: JsonObject): readonly string[] {
  const parameters = objectsAt(answer, 'parameter')
  const matches = parameters.filter((parameter) => stringAt(parameter, 'name') === 'match')
  const message = parameters.find((parameter) => stringAt(parameter, 'name') === 'message')
  return [...table(matches.map(matchCells)), ...[stringAt(message, 'valueString') ?? []].flat()]
}

function matchCells(match: JsonObject): readonly string[] {
  const part = (name: string): JsonObject | undefined => objectsAt(match, 'part').find((one) => stringAt(one, 'name') === name)
  const concept = objectAt(part('concept'), 'valueCoding')
  return [
    stringAt(part('equivalence'), 'valueCode') ?? '-',
    `${stringAt(concept, 'system') ?? ''}|${stringAt(concept, 'code') ?? ''}`,
    stringAt(concept, 'display') ?? '',
  ]
}
