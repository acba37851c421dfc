import type { Command } from 'commander'
import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { escapeControls } from 'fhir-ops/internal/errors'
import { type Io, table } from '../io.js'
import { notBlank, repeated } from './options.js'
import {
  idOf,
  operationCommand,
  parameterAt,
  parametersAt,
  printAnswer,
  type OperationCall,
  type OperationOptions,
} from './run-operation.js'
import {
  lookupOperation,
  subsumesOperation,
  translateOperation,
  codeSystemValidateCodeOperation,
  valueSetValidateCodeOperation,
} from 'fhir-ops/internal/operations'

const PRIORITY = 'http://example.org/fhir/CodeSystem/visit-priority'

interface CodeOptions extends OperationOptions {
  readonly system: string
  readonly version?: string
}

/** A command about a code in `--system`. */
function codeCommand(name: string, example: string): Command {
  return operationCommand(name, `${example} --system ${PRIORITY}`)
    .requiredOption('--system <uri>', 'code system of the code', notBlank)
    .option('--version <version>', 'version of the code system', notBlank)
}

interface LookupOptions extends CodeOptions {
  readonly property?: readonly string[]
  readonly displayLanguage?: string
}

/** `fhir-ops lookup`. */
export function lookupCommand(io: Io): Command {
  return codeCommand('lookup', 'urgent')
    .description('Print what a code system says about a code: display, definition, designations, properties.')
    .argument('<code>', 'code to look up')
    .option('--property <code>', 'only this property, or * for all; repeatable', repeated)
    .option('--display-language <tags>', 'language of the display, as in Accept-Language')
    .action(async (code: string, options: LookupOptions) => {
      const { system, version, property, displayLanguage } = options
      const values = { code, system, version, property: property ?? '*', displayLanguage }
      await printAnswer({ operation: lookupOperation, type: 'CodeSystem', values }, options, io, (answer) => {
        for (const line of table(lookupRows(answer))) io.out(line)
      })
    })
}

function lookupRows(answer: JsonObject): readonly (readonly string[])[] {
  const single = ['display', 'definition', 'name', 'version'].flatMap((name) => {
    const value = stringAt(parameterAt(answer, name), 'valueString')
    return value === undefined ? [] : [[name, value]]
  })
  const designations = parametersAt(answer, 'designation').map((one) => ['designation', valueOf(one, 'value'), valueOf(one, 'language')])
  const properties = parametersAt(answer, 'property').map((one) => [
    valueOf(one, 'code'),
    valueOf(one, 'value'),
    valueOf(one, 'description'),
  ])
  return [...single, ...designations, ...properties]
}

/** Returns the value of a part as text. */
function valueOf(parameter: JsonObject, name: string): string {
  const part = objectsAt(parameter, 'part').find((one) => stringAt(one, 'name') === name) ?? {}
  const value = Object.entries(part).find(([key]) => key.startsWith('value'))?.[1]
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

interface ValidateCodeOptions extends CodeOptions {
  readonly display?: string
  readonly valueSet?: string
}

/** `fhir-ops validate-code`. */
export function validateCodeCommand(io: Io): Command {
  return codeCommand('validate-code', 'urgent')
    .description('Check a code, and its display if given, against its code system or a value set. Exit status 1 when it is not valid.')
    .argument('<code>', 'code to validate')
    .option('--display <text>', 'display to check', notBlank)
    .option('--value-set <canonical>', 'value set that the code must be in', notBlank)
    .action(async (code: string, options: ValidateCodeOptions) => {
      await printAnswer(validateCodeCall(code, options), options, io, (answer) => {
        for (const line of validationLines(answer)) io.out(line)
      })
    })
}

function validateCodeCall(code: string, { system, version, display, valueSet }: ValidateCodeOptions): OperationCall {
  if (valueSet === undefined)
    return { operation: codeSystemValidateCodeOperation, type: 'CodeSystem', values: { code, url: system, version, display }, exits: true }
  const values = { code, system, systemVersion: version, display, url: valueSet }
  return { operation: valueSetValidateCodeOperation, type: 'ValueSet', values, exits: true }
}

/** Describes the result: whether the code is valid, with its display; then each issue. */
function validationLines(answer: JsonObject): readonly string[] {
  const isValid = parameterAt(answer, 'result')?.['valueBoolean'] === true
  const display = stringAt(parameterAt(answer, 'display'), 'valueString')
  const issues = objectsAt(objectAt(parameterAt(answer, 'issues'), 'resource'), 'issue')
  return [
    `${isValid ? 'valid' : 'not valid'}${display === undefined ? '' : `: ${escapeControls(display)}`}`,
    ...issues.map((issue) => `${stringAt(issue, 'severity') ?? ''}: ${stringAt(objectAt(issue, 'details'), 'text') ?? ''}`),
  ]
}

/** `fhir-ops subsumes`. */
export function subsumesCommand(io: Io): Command {
  return codeCommand('subsumes', 'unplanned urgent')
    .description('Print how two codes of a code system relate: equivalent, subsumes, subsumed-by or not-subsumed.')
    .argument('<code-a>', 'first code')
    .argument('<code-b>', 'second code')
    .action(async (codeA: string, codeB: string, options: CodeOptions) => {
      const { system, version } = options
      await printAnswer(
        { operation: subsumesOperation, type: 'CodeSystem', values: { codeA, codeB, system, version } },
        options,
        io,
        (answer) => {
          io.out(stringAt(parameterAt(answer, 'outcome'), 'valueCode') ?? '')
        },
      )
    })
}

interface TranslateOptions extends OperationOptions {
  readonly system: string
  readonly url?: string
  readonly source?: string
  readonly map?: string
  readonly targetSystem?: string
  readonly reverse?: true
}

/** `fhir-ops translate`. */
export function translateCommand(io: Io): Command {
  const example = `urgent --system ${PRIORITY} \\\n    --url http://example.org/fhir/ConceptMap/visit-priority-to-act-priority`
  return operationCommand('translate', example)
    .description('Translate a code with a ConceptMap. Exit status 1 when nothing matches.')
    .argument('<code>', 'code to translate')
    .requiredOption('--system <uri>', 'code system of the code', notBlank)
    .option('--url <canonical>', 'canonical of the ConceptMap')
    .option('--map <id>', 'id of the ConceptMap')
    .option('--source <canonical>', 'canonical of the source value set; every map from it is used', notBlank)
    .option('--target-system <uri>', 'keep only matches in this code system', notBlank)
    .option('--reverse', 'translate from target to source')
    .action(async (code: string, options: TranslateOptions) => {
      const { system, url, source, targetSystem, map } = options
      const values = { code, system, url, source, targetsystem: targetSystem, reverse: options.reverse && 'true' }
      const id = map === undefined ? undefined : idOf('ConceptMap', map)
      await printAnswer({ operation: translateOperation, type: 'ConceptMap', id, values, exits: true }, options, io, (answer) => {
        for (const line of matchLines(answer)) io.out(line)
      })
    })
}

function matchLines(answer: JsonObject): readonly string[] {
  const message = stringAt(parameterAt(answer, 'message'), 'valueString')
  return [...table(parametersAt(answer, 'match').map(matchCells)), ...(message === undefined ? [] : [message])]
}

function matchCells(match: JsonObject): readonly string[] {
  const part = (name: string): JsonObject | undefined => objectsAt(match, 'part').find((one) => stringAt(one, 'name') === name)
  const concept = objectAt(part('concept'), 'valueCoding')
  return [
    stringAt(part('equivalence'), 'valueCode') ?? '(no equivalence)',
    `${stringAt(concept, 'system') ?? ''}|${stringAt(concept, 'code') ?? ''}`,
    stringAt(concept, 'display') ?? '',
  ]
}
