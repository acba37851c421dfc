import { OperationError, quoted } from '../errors/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { fold } from '../search/index.js'
import type { IndexEntry } from '../storage/index.js'
import type { DeclaredSchemas } from './bot-function.js'

/** A business identifier of a bot. */
export interface BotIdentifier {
  readonly system: string
  readonly value: string
}

/** The data of a bot that a call needs, for stored bots and functions of the host. */
export interface BotRecord extends DeclaredSchemas {
  readonly id: string
  readonly identifier: readonly BotIdentifier[]
  readonly name?: string
  /** Callers whose token names a project reach only the bots of that project. */
  readonly project?: string
}

/** A stored bot: the resource of the custom type `Bot`. */
export interface StoredBot extends BotRecord {
  /** JavaScript source, a module or a script, that exports `handler(event, context)`. */
  readonly code: string
}

/** The only runtime that a stored bot may name. Functions of the host are registered by the host and never stored. */
const STORED_RUNTIME = 'sandbox'

const MEMBERS: ReadonlySet<string> = new Set([
  'resourceType',
  'id',
  'meta',
  'identifier',
  'name',
  'project',
  'runtime',
  'code',
  'inputSchema',
  'outputSchema',
])

/**
 * Reads a Bot resource; servers call it before they store one.
 *
 * @throws {OperationError} `resource-invalid` naming the member that is unknown, missing or of the wrong form.
 */
export function readBot(resource: JsonObject): StoredBot {
  const unknown = Object.keys(resource).find((name) => !MEMBERS.has(name))
  if (unknown !== undefined) throw invalid(unknown, `has the unknown property ${quoted(unknown)}`)
  if (stringAt(resource, 'resourceType') !== 'Bot') throw invalid('resourceType', 'must have the resourceType Bot')
  const runtime = optionalText(resource, 'runtime') ?? STORED_RUNTIME
  if (runtime !== STORED_RUNTIME) throw invalid('runtime', `must have the runtime '${STORED_RUNTIME}', not ${quoted(runtime)}`)
  const name = optionalText(resource, 'name')
  const project = optionalText(resource, 'project')
  const inputSchema = optionalSchema(resource, 'inputSchema')
  const outputSchema = optionalSchema(resource, 'outputSchema')
  return {
    id: requiredText(resource, 'id'),
    identifier: identifiersOf(resource),
    ...(name !== undefined && { name }),
    ...(project !== undefined && { project }),
    ...(inputSchema !== undefined && { inputSchema }),
    ...(outputSchema !== undefined && { outputSchema }),
    code: requiredText(resource, 'code'),
  }
}

/** The index entries of a Bot resource: `identifier` (token), `name` (string) and `project` (token). */
export function botEntries(resource: JsonObject): readonly IndexEntry[] {
  const bot = readBot(resource)
  return [
    ...bot.identifier.map(({ system, value }) => ({ param: 'identifier', system, value, text: fold(value) })),
    ...(bot.name === undefined ? [] : [{ param: 'name', value: bot.name, text: fold(bot.name) }]),
    ...(bot.project === undefined ? [] : [{ param: 'project', value: bot.project, text: fold(bot.project) }]),
  ]
}

function identifiersOf(resource: JsonObject): readonly BotIdentifier[] {
  const given = resource['identifier']
  if (given === undefined) return []
  if (!Array.isArray(given) || !given.every(isObject)) throw invalid('identifier', 'must have a list of Identifiers')
  return objectsAt(resource, 'identifier').map((identifier) => {
    const system = stringAt(identifier, 'system')
    const value = stringAt(identifier, 'value')
    if (!system || !value) throw invalid('identifier', 'must have a system and a value in every identifier')
    return { system, value }
  })
}

function optionalSchema(resource: JsonObject, name: keyof DeclaredSchemas): JsonObject | undefined {
  const schema = resource[name]
  if (schema === undefined) return undefined
  if (!isObject(schema)) throw invalid(name, `must have a JSON Schema, an object, in ${name}`)
  return schema
}

function requiredText(resource: JsonObject, name: string): string {
  const text = optionalText(resource, name)
  if (text === undefined) throw invalid(name, `must have the property ${name}`)
  return text
}

function optionalText(resource: JsonObject, name: string): string | undefined {
  if (!Object.hasOwn(resource, name)) return undefined
  const text = stringAt(resource, name)
  if (!text) throw invalid(name, `must have a text that is not empty in ${name}`)
  return text
}

function invalid(member: string, fault: string): OperationError {
  return new OperationError('resource-invalid', `The Bot ${fault}.`, { expression: [`Bot.${member}`.slice(0, 100)] })
}
