import { OperationError } from 'fhir-ops/errors'
import { hierarchyOf, type SearchOptions } from 'fhir-ops/search'
import { authorize } from '../../auth/caller.js'
import type { Exchange } from '../../exchange.js'
import { FHIR_PATH, type Service } from '../../service.js'

/** How searches of a caller are read. @throws {OperationError} `search-unsupported` on a server without search. */
export function searchOptions({ baseUrl }: Service, { ctx, caller }: Pick<Exchange, 'ctx' | 'caller'>): SearchOptions {
  if (ctx.search === undefined) throw new OperationError('search-unsupported', 'This server has no search.')
  return {
    base: `${baseUrl}${FHIR_PATH}`,
    ...ctx.search,
    hierarchyOf: async (question) => {
      authorize(caller, { action: 'search', type: question.type })
      return hierarchyOf(ctx.storage, question)
    },
  }
}
