import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyTaken, type HttpRequest } from '../http/http-request.js'
import { awaitsContinue } from './configure-server.js'

/** A request that a router such as Express has passed on: `url` is then without the mount path. */
export interface RoutedMessage extends IncomingMessage {
  readonly originalUrl?: string
}

/** A Node request in the handler's terms. Nothing is copied or read before it is asked for. */
export interface NodeRequest {
  readonly request: HttpRequest
  /** True while a part of the body is still on its way. */
  isBodyUnread(): boolean
}

/** Wraps a request of `node:http`. */
export function nodeRequest(message: RoutedMessage, response: ServerResponse): NodeRequest {
  const { headers } = message
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  let signal: AbortSignal | undefined
  return {
    request: {
      method: message.method ?? 'GET',
      target: message.originalUrl ?? message.url ?? '/',
      header: (name) => headerText(headers[name]),
      hasBody,
      body: () => bodyOf(message, response),
      get signal() {
        signal ??= whenGone(response)
        return signal
      },
    },
    isBodyUnread: () => hasBody && !message.complete,
  }
}

function headerText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value.join(', ')
}

function bodyOf(message: IncomingMessage, response: ServerResponse): AsyncIterable<Uint8Array> {
  if (message.readableDidRead) throw bodyTaken()
  if (awaitsContinue(message)) response.writeContinue()
  return message.iterator({ destroyOnReturn: false })
}

/** Aborted when the connection ends before the answer is written. */
function whenGone(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  const onClose = (): void => {
    if (!response.writableFinished) controller.abort()
  }
  response.once('close', onClose)
  if (response.destroyed) onClose()
  return controller.signal
}
