import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { DEFAULT_HANDLER_LIMITS } from '@fhir-ops/handler'
import { OperationError } from 'fhir-ops/errors'
import { createPace } from 'fhir-ops/internal/context'
import { checkOptions, inputShape, oneOf, type InputShape } from 'fhir-ops/internal/input'
import { isObject, readStrictJson, type JsonObject, type StrictJsonOptions } from 'fhir-ops/internal/json'
import { bodyStream, chunksOf, decodeUtf8, joinedBytes } from 'fhir-ops/internal/text'
import { createMcpServer, MCP_OPTIONS, type McpServerOptions } from './server.js'

/** Options of `createMcpHandler`. */
export interface McpHandlerOptions extends Omit<McpServerOptions, 'authorization'> {
  /** As in the handler: `off` accepts calls without a token. Default `required`. */
  readonly auth?: 'required' | 'off'
}

const SHAPE: InputShape = inputShape<McpHandlerOptions>({ ...MCP_OPTIONS, auth: oneOf('required', 'off') })

const MAX_BODY = 4 * 1024 * 1024

/** A parameter with this name would put the token into logs. The service refuses it everywhere, and records the attempt. */
const TOKEN = 'access_token'

/** Limits on a message. A resource is nested some levels deeper, in the arguments of a tool. */
const STRICT: StrictJsonOptions = {
  maxDepth: DEFAULT_HANDLER_LIMITS.jsonDepth + 8,
  maxMembers: DEFAULT_HANDLER_LIMITS.jsonMembers,
  maxString: DEFAULT_HANDLER_LIMITS.stringLength,
}

/** Headers of all answers, which are data: never cached, and never rendered as a page. */
const SAFE = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/**
 * Serves MCP over HTTP (Streamable HTTP, stateless), with the access tokens of the service: a token that the service refuses gets 401 here too, and each
 * tool can do what the token allows. No byte of a body is read before the token is accepted, and at most 4 MiB. A body contains one message, because
 * there is no limit on the work of several together. Mount it next to the handler, for example at `/mcp`.
 *
 * @throws {TypeError} for an option that is missing, unknown or of another type.
 */
export function createMcpHandler(given: McpHandlerOptions): (request: Request) => Promise<Response> {
  checkOptions('createMcpHandler', SHAPE, given)
  const { auth = 'required', ...options } = given
  const answer = async (request: Request): Promise<Response> => {
    const origin = request.headers.get('origin')
    // A page of another origin must not reach a service on this machine through its own host name.
    if (origin !== null && origin !== new URL(options.baseUrl).origin) return refusal(403, 'This origin is not allowed.')
    const authorization = request.headers.get('authorization') ?? undefined
    const isInUrl = new URL(request.url).searchParams.has(TOKEN)
    if (auth === 'required' || isInUrl) {
      const refused = await refusedToken(options, authorization, isInUrl ? `?${TOKEN}` : '')
      if (refused !== undefined) return refused
    }
    if (request.method !== 'POST') return refusal(405, 'This server takes messages by POST only.', { allow: 'POST' })
    const bytes = await bodyOf(request)
    if (bytes === undefined) return refusal(413, 'The body is longer than 4 MiB.')
    const message = await messageIn(options.context, bytes)
    if (message instanceof OperationError) return refusal(400, message.message)
    const server = createMcpServer({ ...options, authorization })
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    try {
      const { url, method, headers } = request
      // If the caller has gone, nobody needs the answer; closing the server ends the running work.
      return await Promise.race([
        transport.handleRequest(new Request(url, { method, headers }), { parsedBody: message }),
        goneCaller(request),
      ])
    } finally {
      await server.close()
    }
  }
  return async (request) => {
    const answered = await answer(request)
    for (const [name, value] of Object.entries(SAFE)) answered.headers.set(name, value)
    return answered
  }
}

/** Reads the body into memory; `undefined` if it is too long. */
async function bodyOf(request: Request): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY) return undefined
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of chunksOf(await bodyStream(request))) {
    length += piece.length
    if (length > MAX_BODY) return undefined
    pieces.push(piece)
  }
  return joinedBytes(pieces)
}

/** Parses the message, with the service's rules for bodies; returns the error if it is invalid. */
async function messageIn(context: McpServerOptions['context'], bytes: Uint8Array): Promise<JsonObject | OperationError> {
  try {
    const message = await createPace(context).run(readStrictJson(decodeUtf8(bytes), STRICT))
    if (!isWide(message, 0)) return message
    return new OperationError('parameter-too-long', `An object of the message has more than ${MAX_NAMES} members.`)
  } catch (error) {
    if (error instanceof OperationError) return error
    throw error
  }
}

/** Maximum members per object, because the SDK visits them one by one, several times, without a pause. Tools and the protocol have far fewer. */
const MAX_NAMES = 100
/** Levels that the SDK visits: the message, its parameters, and their arguments. It passes on the content of arguments unchanged. */
const SEEN_LEVELS = 3

function isWide(value: JsonObject, level: number): boolean {
  if (Object.keys(value).length > MAX_NAMES) return true
  return level + 1 < SEEN_LEVELS && Object.values(value).some((inner) => isObject(inner) && isWide(inner, level + 1))
}

/** Resolves to an unused answer when the caller has gone. */
function goneCaller({ signal }: Request): Promise<Response> {
  const { promise, resolve } = Promise.withResolvers<Response>()
  const gone = (): void => resolve(refusal(400, 'The caller has gone.'))
  if (signal.aborted) gone()
  else signal.addEventListener('abort', gone, { once: true })
  return promise
}

/** Returns the service's own refusal of the token, with its challenge; `undefined` if the token is accepted. */
async function refusedToken(
  { handler, baseUrl }: Pick<McpServerOptions, 'handler' | 'baseUrl'>,
  authorization: string | undefined,
  search: string,
): Promise<Response | undefined> {
  const headers = authorization === undefined ? {} : { authorization }
  const response = await handler(new Request(`${baseUrl.replace(/\/$/, '')}/auth/me${search}`, { headers }))
  return response.ok ? undefined : response
}

function refusal(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status, headers })
}
