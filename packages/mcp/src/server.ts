import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type CallToolResult,
  type JSONRPCRequest,
  type ServerResult,
} from '@modelcontextprotocol/sdk/types.js'
import { Validator, type OutputUnit } from '@cfworker/json-schema'
import { forRequest, type OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { createPace } from 'fhir-ops/internal/context'
import { quoted } from 'fhir-ops/internal/errors'
import { checkOptions, FUNCTION, having, inputShape, needed, TEXT, type InputShape, type MemberKind } from 'fhir-ops/internal/input'
import { objectAt, objectsAt, stringAt, writeInPieces, type JsonObject } from 'fhir-ops/internal/json'
import { didYouMean, nearest, TYPE_URL } from 'fhir-ops/internal/text'
import { jsonSchema } from 'fhir-ops/schema'
import manifest from '../package.json' with { type: 'json' }
import { fhirCaller, FhirRefusal, type FhirCaller, type FhirCallerOptions } from './fhir-caller.js'
import type { Tool, ToolContext } from './tool.js'
import { PROMPTS } from './prompts.js'
import { RESOURCE_TOOLS } from './resource-tools.js'
import { TERMINOLOGY_TOOLS } from './terminology-tools.js'

/** The service that an MCP server calls, and the caller's credentials. */
export interface McpServerOptions extends FhirCallerOptions {
  /** Context of the handler (for the same tenant). JSON Schemas are made with it, after the handler has permitted the corresponding `$snapshot`. */
  readonly context: OperationContext
  /** Receives unexpected errors. Callers only learn that the request could not be answered. Default: errors are dropped. */
  readonly onError?: (error: Error) => void
}

/** Expected types of the options. */
export const MCP_OPTIONS: Readonly<Record<'handler' | 'baseUrl' | 'context' | 'onError', MemberKind>> = {
  handler: needed(FUNCTION),
  baseUrl: needed(TEXT),
  context: needed(having('a context', ['storage', 'content', 'limits'])),
  onError: FUNCTION,
}

const SHAPE: InputShape = inputShape<McpServerOptions>({ ...MCP_OPTIONS, authorization: TEXT })

const TOOLS: readonly Tool[] = [...TERMINOLOGY_TOOLS, ...RESOURCE_TOOLS]
/** The validator interprets the schemas: one that compiles them cannot be loaded where code may not be made from strings. */
const CHECKED = new Map(TOOLS.map((tool) => [tool.name, { tool, validator: new Validator(tool.inputSchema, '2020-12') }]))

/** Types whose resources are listed, because people choose from them. */
const LISTED = ['ValueSet', 'ConceptMap', 'CodeSystem', 'Measure', 'Questionnaire', 'StructureDefinition', 'Bot']
const PAGE = 200

/**
 * Creates an MCP server for one caller, with tools for the operations, resources for content, and prompts for coding tasks. Connect it to a transport of
 * the SDK. Every call goes through the handler, with its rights, limits and audit.
 *
 * @throws {TypeError} for an option that is missing, unknown or of another type.
 */
export function createMcpServer(options: McpServerOptions): Server {
  checkOptions('createMcpServer', SHAPE, options)
  const server = new Server(
    { name: 'fhir-ops', version: manifest.version },
    {
      capabilities: { tools: {}, resources: {}, prompts: {} },
      instructions:
        'FHIR R4 terminology, validation, search and measures. Codes are given as system and code. Never invent a code: check it with validate_code.',
    },
  )
  if (options.onError !== undefined) server.onerror = options.onError
  // The SDK reports a request that `setRequestHandler` cannot parse as an internal error, so requests are parsed here.
  server.fallbackRequestHandler = async (request, { signal }) => {
    const method = METHODS.get(request.method)
    if (method === undefined) throw new McpError(ErrorCode.MethodNotFound, `There is no method ${quoted(request.method)}.`)
    return method(request, contextFor(options, signal)).catch((error: unknown) => {
      if (error instanceof McpError) throw error
      // The SDK would send the message of any error, including those of an engine.
      server.onerror?.(error instanceof Error ? error : new Error(String(error)))
      throw new McpError(ErrorCode.InternalError, 'The request could not be answered.')
    })
  }
  return server
}

/** Creates the context of a request: the service with the rights of its caller, until nobody waits for the answer. */
function contextFor(options: McpServerOptions, signal: AbortSignal): ToolContext {
  const pace = createPace({ scheduler: options.context.scheduler, signal })
  const ask = fhirCaller(options, pace, signal)
  return {
    ask,
    pace,
    async schemaOf(url) {
      const canonical = options.context.types?.type(url) === undefined ? url : TYPE_URL + url
      // A schema reveals the content of the snapshot, so the caller must be allowed to read the snapshot.
      await ask({ path: 'StructureDefinition/$snapshot', query: { url: canonical } })
      // A schema also lists codes, which callers who may not expand value sets must not learn this way.
      const limits = (await mayExpand(ask)) ? {} : { maxCodes: 0 }
      return (await jsonSchema(forRequest(options.context, { signal }), { url, ...limits })).schema
    },
  }
}

/** Checks the right to expand. Rights are checked before parameters, so callers with the right get 400, because no value set is named. */
async function mayExpand(ask: FhirCaller): Promise<boolean> {
  try {
    await ask({ path: 'ValueSet/$expand' })
    return true
  } catch (error) {
    if (!(error instanceof FhirRefusal)) throw error
    if (error.status === 400) return true
    if (error.status === 403 || error.status === 404) return false
    throw error
  }
}

type Method = (request: JSONRPCRequest, context: ToolContext) => Promise<ServerResult>

/** The part of the SDK's schemas that is used. */
interface RequestSchema<T> {
  readonly safeParse: (
    request: unknown,
  ) => { readonly success: true; readonly data: T } | { readonly success: false; readonly error: Faults }
}

interface Faults {
  readonly issues: readonly { readonly path: readonly PropertyKey[] }[]
}

function methodOf<T>(schema: RequestSchema<T>, run: (request: T, context: ToolContext) => ServerResult | Promise<ServerResult>): Method {
  return async (request, context) => {
    const read = schema.safeParse(request)
    if (read.success) return run(read.data, context)
    const place = read.error.issues[0]?.path.map(String).join('.') ?? 'params'
    throw new McpError(
      ErrorCode.InvalidParams,
      `What ${quoted(request.method)} is given has another form than the protocol says, at ${quoted(place)}.`,
    )
  }
}

const METHODS: ReadonlyMap<string, Method> = new Map([
  ['tools/list', methodOf(ListToolsRequestSchema, () => ({ tools: TOOLS.map(described) }))],
  ['tools/call', methodOf(CallToolRequestSchema, ({ params }, context) => callTool(context, params.name, params.arguments ?? {}))],
  [
    'resources/templates/list',
    methodOf(ListResourceTemplatesRequestSchema, () => ({
      resourceTemplates: [{ uriTemplate: 'fhir:///{type}/{id}', name: 'A stored resource', mimeType: 'application/fhir+json' }],
    })),
  ],
  ['resources/list', methodOf(ListResourcesRequestSchema, ({ params }, { ask }) => listResources(ask, params?.cursor))],
  ['resources/read', methodOf(ReadResourceRequestSchema, ({ params }, context) => readResource(context, params.uri))],
  [
    'prompts/list',
    methodOf(ListPromptsRequestSchema, () => ({
      prompts: PROMPTS.map(({ text: _text, arguments: given, ...prompt }) => ({ ...prompt, arguments: [...given] })),
    })),
  ],
  ['prompts/get', methodOf(GetPromptRequestSchema, ({ params }) => promptOf(params.name, params.arguments ?? {}))],
])

function described({
  run: _run,
  isReadOnly,
  ...tool
}: Tool): Omit<Tool, 'run' | 'isReadOnly'> & { annotations: { readOnlyHint: boolean; openWorldHint: boolean } } {
  return { ...tool, annotations: { readOnlyHint: isReadOnly, openWorldHint: false } }
}

/** Maximum characters of a result. The SDK writes the message, which contains the result twice, in one piece; and no language model reads as much. */
const MAX_RESULT = 1024 * 1024
const TOO_LONG = `The result is longer than ${MAX_RESULT} characters.`

async function callTool(context: ToolContext, name: string, input: JsonObject): Promise<CallToolResult> {
  const known = CHECKED.get(name)
  if (known === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${quoted(name)}.`)
  const { tool, validator } = known
  const { valid, errors } = validator.validate(input)
  if (!valid) return failed(faultOf(tool, input, errors))
  try {
    const structuredContent = await tool.run(context, input)
    await context.pace.turn()
    const text = await context.pace.run(writeInPieces(structuredContent))
    if (text.length > MAX_RESULT) return failed(`${TOO_LONG} Ask for less, such as a lower count.`)
    return { content: [{ type: 'text', text }], structuredContent }
  } catch (error) {
    // A refusal of the service can be corrected by the model; any other error is a failure of the protocol.
    if (error instanceof FhirRefusal || error instanceof OperationError) return failed(error.message)
    throw error
  }
}

/** Describes what is wrong with the arguments of a tool. The validator's own message does not suggest another name for an unknown argument. */
function faultOf({ name, inputSchema }: Tool, input: JsonObject, errors: readonly OutputUnit[]): string {
  const names = Object.keys(objectAt(inputSchema, 'properties') ?? {})
  const unknown = Object.keys(input).find((argument) => !names.includes(argument))
  if (unknown === undefined) {
    // Those of `properties` only say that a member has an error, which follows.
    const described = errors.filter(({ keyword }) => keyword !== 'properties')
    const faults = described.map(({ instanceLocation, error }) => `arguments${instanceLocation.slice(1)}: ${error}`)
    return `The arguments are not as ${name} needs them: ${faults.join(' ')}`
  }
  const hint = didYouMean(nearest(unknown, names))
  return [`There is no argument ${quoted(unknown)} of ${name}.`, hint ?? []].flat().join(' ')
}

function failed(message: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: message }] }
}

interface Listed {
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly mimeType: string
}

/** Lists a page of resources: of one type, then of the next. @param cursor `type?query` of the page. */
async function listResources(ask: FhirCaller, cursor = firstPage(LISTED[0] ?? '')): Promise<{ resources: Listed[]; nextCursor?: string }> {
  const [type = '', query = ''] = cursor.split('?')
  if (!LISTED.includes(type)) throw new McpError(ErrorCode.InvalidParams, 'The cursor is not one of this server.')
  const bundle = await ask({ path: `${type}?${query}` }).catch(mayNot)
  const resources = objectsAt(bundle, 'entry').flatMap((entry) => listed(type, objectAt(entry, 'resource')))
  const next = stringAt(
    objectsAt(bundle, 'link').find(({ relation }) => relation === 'next'),
    'url',
  )?.split('?')[1]
  const following = LISTED[LISTED.indexOf(type) + 1]
  if (next !== undefined) return { resources, nextCursor: `${type}?${next}` }
  return following === undefined ? { resources } : { resources, nextCursor: firstPage(following) }
}

/** The cursor of the first page of a type. */
function firstPage(type: string): string {
  return `${type}?_count=${PAGE}&_elements=name,title,url`
}

/** Returns an empty list for types that the caller may not search. Other failures must not look like an empty list. */
function mayNot(error: unknown): JsonObject {
  if (!(error instanceof FhirRefusal)) throw error
  if (error.status === 403 || error.status === 404) return {}
  throw new McpError(ErrorCode.InternalError, error.message)
}

function listed(type: string, resource: JsonObject | undefined): readonly Listed[] {
  const id = stringAt(resource, 'id')
  if (id === undefined) return []
  const title = stringAt(resource, 'title') ?? stringAt(resource, 'url')
  return [
    {
      uri: `fhir:///${type}/${id}`,
      name: stringAt(resource, 'name') ?? id,
      ...(title !== undefined && { title }),
      mimeType: 'application/fhir+json',
    },
  ]
}

async function readResource(
  { ask, pace }: ToolContext,
  uri: string,
): Promise<{ contents: { uri: string; mimeType: string; text: string }[] }> {
  const [, path] = /^fhir:\/\/\/([A-Z][A-Za-z]{1,63}\/[A-Za-z0-9.-]{1,64})$/.exec(uri) ?? []
  if (path === undefined) throw new McpError(ErrorCode.InvalidParams, 'A resource is fhir:///Type/id.')
  const resource = await ask({ path }).catch((error: unknown) => {
    throw error instanceof FhirRefusal ? new McpError(RESOURCE_NOT_FOUND, error.message) : error
  })
  const text = await pace.run(writeInPieces(resource))
  if (text.length > MAX_RESULT) throw new McpError(ErrorCode.InvalidParams, `${TOO_LONG} It can be read over REST.`)
  return { contents: [{ uri, mimeType: 'application/fhir+json', text }] }
}

/** @see https://modelcontextprotocol.io/specification/2025-06-18/server/resources#error-handling */
const RESOURCE_NOT_FOUND = -32_002

function promptOf(
  name: string,
  given: Readonly<Record<string, string>>,
): { description: string; messages: { role: 'user'; content: { type: 'text'; text: string } }[] } {
  const prompt = PROMPTS.find((one) => one.name === name)
  if (prompt === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no prompt ${quoted(name)}.`)
  const missing = prompt.arguments.find((argument) => argument.required && !given[argument.name])
  if (missing !== undefined) throw new McpError(ErrorCode.InvalidParams, `The argument ${missing.name} of ${name} is missing.`)
  return { description: prompt.description, messages: [{ role: 'user', content: { type: 'text', text: prompt.text(given) } }] }
}
