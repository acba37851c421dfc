import { OperationError, quoted } from '../errors/index.js'
import { isResourceType, type Condition } from '../storage/index.js'
import { allOf } from './conditions.js'
import { parseFilter } from './filter.js'
import type { ParsedSearch } from './parsed-search.js'
import { isControl, readControls } from './controls.js'
import type { SearchOptions } from './search-options.js'
import type { SearchPair } from './search-pair.js'

const MAX_PARAMETERS = 1_000

/**
 * Parses a FHIR search over one type, whether it came by REST or as a criterion of a measure. All parameters must hold. Nothing is passed
 * over: what is not understood is refused by name.
 *
 * @param pairs Decoded parameters in their order.
 * @throws {OperationError} `search-invalid` for what no FHIR search is (unknown types, parameters and modifiers, malformed values),
 *   `search-unsupported` for what FHIR knows and this does not offer.
 * @see https://hl7.org/fhir/R4/search.html
 */
export async function parseSearch(type: string, pairs: Iterable<SearchPair>, options: SearchOptions): Promise<ParsedSearch> {
  if (!isResourceType(type)) throw new OperationError('search-invalid', `${quoted(type)} is no resource type.`)
  const all = [...pairs]
  const most = options.maxParameters ?? MAX_PARAMETERS
  if (all.length > most) throw new OperationError('search-invalid', `A search has at most ${most} parameters, this one has ${all.length}.`)
  const filters = all.filter(([name]) => !isControl(name))
  const controls = readControls(
    type,
    all.filter(([name]) => isControl(name)),
    options,
  )
  const { sort, limit, after, ...shown } = controls
  const conditions: Condition[] = []
  for (const [name, value] of filters) conditions.push(await parseFilter({ type, options, depth: 0, branches: 1, sent: name }, name, value))
  return {
    query: {
      type,
      where: allOf(conditions),
      parameters: filters,
      ...(sort.length > 0 && { sort }),
      ...(limit !== undefined && { limit }),
      ...(after !== undefined && { after }),
    },
    ...shown,
  }
}
