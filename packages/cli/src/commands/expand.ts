import { Command } from 'commander'
import { expandOperation } from 'fhir-ops/expand'
import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/json'
import { counted } from '../text.js'
import type { Io } from '../io.js'
import { explanationLines } from './explanation-lines.js'
import { explainOption, jsonOption, loadOption, storageOption } from './options.js'
import { asJson, runOperation } from './run-operation.js'
import { table } from '../text.js'

interface ExpandOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly filter?: string
  readonly count?: string
  readonly offset?: string
  readonly displayLanguage?: string
  readonly activeOnly?: true
  readonly explain?: true
  readonly json?: true
}

/** `fhir-ops expand`. */
export function expandCommand(io: Io): Command {
  return new Command('expand')
    .description('List the codes of a value set.')
    .argument('<url>', 'canonical of the value set')
    .option('--filter <text>', 'keep the codes whose words start with these')
    .option('--count <n>', 'most codes to print')
    .option('--offset <n>', 'codes to leave out at the start')
    .option('--display-language <tags>', 'language of the displays, as in Accept-Language')
    .option('--active-only', 'leave out inactive codes')
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(explainOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExample:\n  fhir-ops expand http://example.org/fhir/ValueSet/visit-priority --filter urg --load packages/cli/sample',
    )
    .action((url: string, options: ExpandOptions) => expand(url, options, io))
}

async function expand(url: string, options: ExpandOptions, io: Io): Promise<void> {
  const { filter, count, offset, displayLanguage } = options
  const values = {
    url,
    filter,
    count,
    offset,
    displayLanguage,
    activeOnly: options.activeOnly && 'true',
    _explain: options.explain && 'true',
  }
  const valueSet = await runOperation({ operation: expandOperation, type: 'ValueSet', values }, options, io)
  if (options.json) return io.out(asJson(valueSet))
  for (const line of explanationLines(valueSet)) io.err(line)
  const expansion = objectAt(valueSet, 'expansion')
  for (const line of table(cells(expansion, 0))) io.out(line)
  const total = expansion?.['total']
  io.err(typeof total === 'number' ? `${counted(total, 'code')} in all` : 'the codes cannot be counted')
}

function cells(parent: JsonObject | undefined, depth: number): readonly (readonly string[])[] {
  return objectsAt(parent, 'contains').flatMap((code) => [
    [`${'  '.repeat(depth)}${stringAt(code, 'code') ?? ''}`, stringAt(code, 'display') ?? '', stringAt(code, 'system') ?? ''],
    ...cells(code, depth + 1),
  ])
}
