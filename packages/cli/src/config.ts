import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import type { Command, Option } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { isObject, placeIn, readJsonSource, type JsonObject, type JsonSource } from 'fhir-ops/internal/json'
import { didYouMean, nearest } from 'fhir-ops/internal/text'
import { finished } from 'fhir-ops/internal/work'
import { faultIn } from './json-fault.js'

/** The text of a file with options. */
export interface ConfigFile {
  readonly file: string
  readonly text: string
}

/**
 * Applies the options in a file to commands, with lower precedence than the environment and the command line.
 *
 * @throws {OperationError} `parameter-value` with line and column for invalid JSON, an unknown member, or a value that its option does not accept.
 */
export function applyConfig(root: Command, { file, text }: ConfigFile): void {
  if (text.trim() === '') throw wrong(`${file} is empty: delete it, or write {} into it.`)
  const fault = faultIn(text)
  if (fault !== undefined) throw wrong(`${file}:${fault.line}:${fault.column}: this is not JSON: ${fault.text}.`)
  const source = finished(readJsonSource(text, { positions: true }))
  const check = new Ajv2020({ strict: false, verbose: true, code: { optimize: false } }).compile(configSchema(root))
  if (!check(source.value)) throw wrong(messageOf(file, source, check.errors?.[0]))
  const config = isObject(source.value) ? source.value : {}
  for (const leaf of commandsOf(root)) {
    for (const { path, values } of [
      { path: ['defaults'], values: config['defaults'] },
      { path: leaf.path, values: at(config, leaf.path) },
    ])
      if (isObject(values)) applyValues(leaf, values, (name) => `${file}: ${[...path, name].join('.')}`)
  }
}

function at(config: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), config)
}

function applyValues({ command }: LeafCommand, values: JsonObject, placeIs: (name: string) => string): void {
  for (const option of command.options) {
    const name = option.attributeName()
    const value = values[name]
    if (value === undefined) continue
    try {
      command.setOptionValueWithSource(name, typeof value === 'boolean' ? value : parsed(option, value), 'config')
    } catch (cause) {
      throw wrong(`${placeIs(name)}: ${cause instanceof Error ? cause.message : String(cause)}`)
    }
  }
}

function parsed(option: Command['options'][number], value: unknown): unknown {
  const { parseArg } = option
  if (isRepeatable(option) && Array.isArray(value))
    return value.reduce<unknown>((before, item) => (parseArg === undefined ? item : parseArg(String(item), before)), undefined)
  return parseArg === undefined ? String(value) : parseArg<unknown>(String(value), undefined)
}

function messageOf(file: string, source: JsonSource, error: ErrorObject | undefined): string {
  const names = (error?.instancePath ?? '').split('/').slice(1)
  const unknown: unknown = error?.params['additionalProperty']
  const path = typeof unknown === 'string' ? [...names, unknown] : names
  const place = lineOf(file, source.text, offsetOf(path, source))
  return `${place}: ${path.join('.') || 'the file'} ${typeof unknown === 'string' ? `is not known.${hintFor(unknown, error)}` : problemOf(error)}`
}

function offsetOf(path: readonly string[], { value, start, positions }: JsonSource): number {
  const inner = (outer: unknown, name: string): unknown =>
    typeof outer === 'object' && outer !== null ? Reflect.get(outer, name) : undefined
  const parent = path.slice(0, -1).reduce(inner, value)
  const last = path.at(-1) ?? ''
  if (typeof parent !== 'object' || parent === null) return start
  return positions.get(parent)?.get(Array.isArray(parent) ? Number(last) : last) ?? start
}

function hintFor(unknown: string, error: ErrorObject | undefined): string {
  const known: unknown = error?.parentSchema?.['properties']
  const hint = isObject(known) ? didYouMean(nearest(unknown, Object.keys(known))) : undefined
  return hint === undefined ? '' : ` ${hint}`
}

function problemOf(error: ErrorObject | undefined): string {
  const allowed: unknown = error?.params['allowedValues']
  return `${error?.message ?? 'is wrong'}${Array.isArray(allowed) ? `: ${allowed.map(String).join(', ')}` : ''}`
}

function lineOf(file: string, text: string, offset: number): string {
  const { line, column } = placeIn(text, offset)
  return `${file}:${line}:${column}`
}

function wrong(message: string): OperationError {
  return new OperationError('parameter-value', message)
}

/** A command without subcommands, with its names from the root on. */
interface LeafCommand {
  readonly path: readonly string[]
  readonly command: Command
}

/** Returns the commands without subcommands. */
export function commandsOf(root: Command, path: readonly string[] = []): readonly LeafCommand[] {
  return root.commands.flatMap((command) => {
    const own = [...path, command.name()]
    return command.commands.length > 0 ? commandsOf(command, own) : [{ path: own, command }]
  })
}

/** True if the option can be repeated. Its description says so, for users too. */
function isRepeatable({ description }: Option): boolean {
  return /\brepeatable\b/.test(description)
}

/** Returns the JSON Schema (draft 2020-12) of a file with options of these commands. */
export function configSchema(root: Command): JsonObject {
  const shared = new Map<string, Option[]>()
  for (const { command } of commandsOf(root))
    for (const option of command.options) shared.set(option.attributeName(), [...(shared.get(option.attributeName()) ?? []), option])
  const common = [...shared.values()].flatMap((options) => (options.length > 1 ? options.slice(0, 1) : []))
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'fhir-ops.config.json',
    description: 'Options of the command fhir-ops, by command. The environment and the command line come before them.',
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      defaults: { description: 'Options of every command that has them', ...objectOf(common.map(memberOf)) },
      ...Object.fromEntries(root.commands.map(commandMember)),
    },
    additionalProperties: false,
  }
}

type Member = readonly [name: string, schema: JsonObject]

function commandMember(command: Command): Member {
  const members = command.commands.length > 0 ? command.commands.map(commandMember) : command.options.map(memberOf)
  return [command.name(), { description: command.description(), ...objectOf(members) }]
}

function objectOf(members: readonly Member[]): JsonObject {
  return { type: 'object', properties: Object.fromEntries(members), additionalProperties: false }
}

function memberOf(option: Option): Member {
  return [option.attributeName(), { ...typeOf(option), description: option.description }]
}

/** Placeholders of numeric options. */
const NUMBER = /<(?:n|ms|seconds|port)>/

function typeOf(option: Option): JsonObject {
  if (!option.required && !option.optional) return { type: 'boolean' }
  if (isRepeatable(option)) return { type: 'array', items: { type: 'string' } }
  if (option.argChoices !== undefined) return { enum: option.argChoices }
  return { type: NUMBER.test(option.flags) ? 'integer' : 'string' }
}
