import type { Command, Option } from 'commander'
import type { JsonObject } from 'fhir-ops/internal/json'

/** A command that runs, and its names from the root on. */
export interface LeafCommand {
  readonly path: readonly string[]
  readonly command: Command
}

/** The commands that run. */
export function commandsOf(root: Command, path: readonly string[] = []): readonly LeafCommand[] {
  return root.commands.flatMap((command) => {
    const own = [...path, command.name()]
    return command.commands.length > 0 ? commandsOf(command, own) : [{ path: own, command }]
  })
}

/** Whether the option collects values. Their descriptions say so, to those who use them, too. */
export function isRepeatable({ description }: Option): boolean {
  return /\brepeatable\b/.test(description)
}

/** The JSON Schema (draft 2020-12) of a file with options of these commands. */
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

/** Placeholders of options whose value is a number. */
const NUMBER = /<(?:n|ms|seconds|port)>/

function typeOf(option: Option): JsonObject {
  if (!option.required && !option.optional) return { type: 'boolean' }
  if (isRepeatable(option)) return { type: 'array', items: { type: 'string' } }
  if (option.argChoices !== undefined) return { enum: option.argChoices }
  return { type: NUMBER.test(option.flags) ? 'integer' : 'string' }
}
