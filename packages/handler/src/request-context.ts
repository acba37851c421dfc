import { forRequest, type Limits, type OperationContext } from 'fhir-ops/context'
import { authorize, authorizeAny } from './auth/caller.js'
import { narrowedStorage } from './content/narrowed-storage.js'
import { checkLookedThrough } from './content/reach.js'
import type { Exchange } from './exchange.js'
import type { HttpRequest } from './http/http-request.js'
import type { Service } from './service.js'

/** What ends the work of a request, and what receives its progress. */
interface RequestWork extends Pick<OperationContext, 'onProgress'> {
  readonly signal: AbortSignal
  /** Default: the time limit of an operation. */
  readonly timeoutMs?: number
}

/** Creates the context of a request, restricted to what its caller may see and do. */
export function requestContext(
  service: Service,
  { caller, request }: Exchange,
  { signal, timeoutMs, onProgress }: RequestWork,
): OperationContext {
  const limits = requestLimits(service.ctx.limits, request)
  const ctx = forRequest(service.ctx, {
    signal,
    ...(timeoutMs === undefined ? limits && { limits } : { limits: { ...limits, operationTimeoutMs: timeoutMs } }),
    authorize: (action, type, id) => {
      // Definitions found by canonical come from all definitions, regardless of which ones a caller may see.
      if (action === 'read' && id === undefined) authorizeAny(caller, [{ action, type, whole: true }])
      else authorize(caller, { action, type, id })
      if (action === 'search') checkLookedThrough(caller, type)
    },
    ...(onProgress !== undefined && { onProgress }),
  })
  return caller.isNarrowed ? { ...ctx, storage: narrowedStorage(ctx, caller, service.indexer), isPartial: true } : ctx
}

/** `X-TOO-COSTLY-THRESHOLD` can only lower the limit on expansions. */
function requestLimits(limits: Limits, request: HttpRequest): Partial<Limits> | undefined {
  const asked = request.header('x-too-costly-threshold')
  if (asked === undefined || !/^\d{1,9}$/.test(asked)) return undefined
  return { maxExpansion: Math.min(limits.maxExpansion, Number(asked)) }
}
