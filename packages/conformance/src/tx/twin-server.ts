import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Handler } from '@fhir-ops/handler'
import { listen, type RunningServer } from './tx-server.js'

/** A request that both handlers answer differently. */
export interface Difference {
  readonly request: string
  readonly answers: readonly [string, string]
}

/** A server that sends each request to two handlers, and returns the answer of the first one. */
interface TwinServer extends RunningServer {
  /** Number of requests that both got. */
  readonly asked: () => number
  readonly differences: readonly Difference[]
}

/**
 * Starts the server over two handlers for its url. Answers are compared byte by byte: status, headers and body.
 *
 * @param edit Changes the body of a request before both get it. Default: no change.
 */
export async function startTwinServer(
  handlersAt: (url: string) => readonly [Handler, Handler],
  edit: (body: string) => Promise<string> = async (body) => body,
): Promise<TwinServer> {
  const differences: Difference[] = []
  let asked = 0
  const server = await listen((url) => {
    const handlers = handlersAt(url)
    return (message, response) => {
      asked++
      askBoth(handlers, { url, message, edit }).then(
        ([first, second]) => {
          const answers = [textOf(first), textOf(second)] as const
          if (answers[0] !== answers[1]) differences.push({ request: String(message.headers['x-request-id'] ?? message.url), answers })
          write(response, first)
        },
        (error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))),
      )
    }
  })
  return { ...server, asked: () => asked, differences }
}

interface Answer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

interface Question {
  readonly url: string
  readonly message: IncomingMessage
  readonly edit: (body: string) => Promise<string>
}

async function askBoth([first, second]: readonly [Handler, Handler], { url, message, edit }: Question): Promise<[Answer, Answer]> {
  const received = await text(message)
  const body = received === '' ? undefined : await edit(received)
  const request = (): Request =>
    new Request(url + message.url, {
      method: message.method ?? 'GET',
      headers: sentHeaders(message),
      ...(body !== undefined && { body }),
    })
  return [await answerOf(first, request()), await answerOf(second, request())]
}

/** The headers of a request without its length, which is that of the body before it was edited. */
function sentHeaders({ headers }: IncomingMessage): Headers {
  const sent = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  return new Headers(sent.filter(([name]) => name !== 'content-length'))
}

async function answerOf(handler: Handler, request: Request): Promise<Answer> {
  const response = await handler(request)
  return { status: response.status, headers: [...response.headers], body: await response.text() }
}

function textOf({ status, headers, body }: Answer): string {
  return [status, ...headers.map(([name, value]) => `${name}: ${value}`), '', body].join('\n')
}

function write(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers.flat()).end(body)
}
