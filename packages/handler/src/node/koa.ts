import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkHas } from 'fhir-ops/errors'
import type { Handler } from '../handler.js'
import { serve } from './listener.js'

/** The part of a Koa context that is used. */
export interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Path and query before any mounting. */
  readonly originalUrl: string
  respond?: boolean | undefined
}

/** Koa middleware: `app.use(toKoaMiddleware(handler))`, or mounted. Nothing after it is called. @throws {OperationError} as `toNodeListener`. */
export function toKoaMiddleware(handler: Pick<Handler, 'respond'>): (context: KoaContext) => Promise<void> {
  checkHas('handler', handler, ['respond'])
  return (context) => {
    Object.assign(context, { respond: false })
    return serve(handler, Object.assign(context.req, { originalUrl: context.originalUrl }), context.res)
  }
}
