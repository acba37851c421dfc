import type { Command } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { type Io, counted, table } from '../io.js'
import { operationCommand, parameterAt, printAnswer, type OperationOptions } from './run-operation.js'
import { closureOperation, compareOperation, expandOperation } from 'fhir-ops/internal/operations'

interface ExpandOptions extends OperationOptions {
  readonly filter?: string
  readonly count?: string
  readonly offset?: string
  readonly displayLanguage?: string
  readonly activeOnly?: true
}

/** `fhir-ops expand`. */
export function expandCommand(io: Io): Command {
  return operationCommand('expand', 'http://example.org/fhir/ValueSet/visit-priority --filter urg')
    .description('List the codes of a value set.')
    .argument('<url>', 'canonical of the value set')
    .option('--filter <text>', 'keep the codes whose words start with these')
    .option('--count <n>', 'maximum number of codes to print')
    .option('--offset <n>', 'codes to leave out at the start')
    .option('--display-language <tags>', 'language of the displays, as in Accept-Language')
    .option('--active-only', 'leave out inactive codes')
    .action(async (url: string, options: ExpandOptions) => {
      const { filter, count, offset, displayLanguage } = options
      const values = { url, filter, count, offset, displayLanguage, activeOnly: options.activeOnly && 'true' }
      await printAnswer({ operation: expandOperation, type: 'ValueSet', values }, options, io, (answer) => {
        printExpansion(objectAt(answer, 'expansion'), io)
      })
    })
}

function printExpansion(expansion: JsonObject | undefined, io: Io): void {
  for (const line of table(codeCells(expansion, 0))) io.out(line)
  const total = expansion?.['total']
  io.err(typeof total === 'number' ? `${counted(total, 'code')} in all` : 'the number of codes is unknown')
}

function codeCells(parent: JsonObject | undefined, depth: number): readonly (readonly string[])[] {
  return objectsAt(parent, 'contains').flatMap((code) => [
    [`${'  '.repeat(depth)}${stringAt(code, 'code') ?? ''}`, stringAt(code, 'display') ?? '', stringAt(code, 'system') ?? ''],
    ...codeCells(code, depth + 1),
  ])
}

/** `fhir-ops compare`. */
export function compareCommand(io: Io): Command {
  return operationCommand('compare', 'http://hl7.org/fhir/ValueSet/resource-types http://hl7.org/fhir/ValueSet/all-types')
    .description('Print how the codes of two value sets relate: same, subset, superset, overlapping, disjoint, empty or indeterminate.')
    .argument('<url>', 'canonical of the first value set')
    .argument('<other>', 'canonical of the second')
    .option('--codes', 'also print the shared codes and the codes of each set alone, where codes were compared one by one')
    .action(async (thisUrl: string, otherUrl: string, options: OperationOptions & { readonly codes?: true }) => {
      const values = { thisUrl, otherUrl, diagnostics: options.codes && 'true' }
      await printAnswer({ operation: compareOperation, type: 'ValueSet', values }, options, io, (answer) => {
        for (const line of table(comparisonRows(answer))) io.out(line)
        io.err(stringAt(parameterAt(answer, 'message'), 'valueString') ?? '')
      })
    })
}

function comparisonRows(answer: JsonObject): readonly (readonly string[])[] {
  const texts = ['common-codes', 'missing-codes', 'extra-codes'].flatMap((name) => {
    const text = stringAt(parameterAt(answer, name), 'valueString')
    return text === undefined ? [] : [[name, text]]
  })
  return [[stringAt(parameterAt(answer, 'result'), 'valueCode') ?? ''], ...texts]
}

interface ClosureOptions extends OperationOptions {
  readonly system?: string
  readonly since?: string
}

/** `fhir-ops closure`. */
export function closureCommand(io: Io): Command {
  return operationCommand('closure', 'visits --storage sqlite:content.db')
    .description('Create a closure table, or add codes to it; prints each new pair: a code, and one that subsumes it.')
    .argument('<name>', 'name of the table; without codes it is created, or emptied')
    .argument('[codes...]', 'codes to add')
    .option('--system <uri>', 'code system of the codes')
    .option('--since <version>', 'print again what was added after this version of the table')
    .action(async (name: string, codes: readonly string[], options: ClosureOptions) => {
      const { system, since: version } = options
      if (codes.length > 0 && system === undefined)
        throw new OperationError('parameter-value', '--system is missing: codes to add need their code system.')
      if (options.storage === 'memory' && io.engine === undefined)
        throw new OperationError('parameter-value', 'A closure table in memory is lost when the command ends: name another --storage.')
      const concept = codes.map((code) => ({ system, code }))
      await printAnswer({ operation: closureOperation, values: { name, version }, codings: { concept } }, options, io, (answer) => {
        for (const line of table(pairRows(answer))) io.out(line)
        io.err(`version ${stringAt(answer, 'version') ?? ''}`)
      })
    })
}

function pairRows(map: JsonObject): readonly (readonly string[])[] {
  return objectsAt(map, 'group').flatMap((group) =>
    objectsAt(group, 'element').flatMap((element) =>
      objectsAt(element, 'target').map((target) => [
        stringAt(element, 'code') ?? '',
        stringAt(target, 'code') ?? '',
        stringAt(group, 'source') ?? '',
      ]),
    ),
  )
}
