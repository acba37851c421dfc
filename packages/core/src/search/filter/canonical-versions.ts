import { canonicalOf, formatCanonical } from '../../content/index.js'
import type { Condition } from '../../storage/index.js'
import { entryCondition } from './conditions.js'
import { unescaped } from '../values/escapes.js'
import { invalidValue, type Alternatives, type Ask } from '../kinds/kind.js'

/**
 * Parses `:above` and `:below` of canonicals, by version: below `url|1.2` are 1.2 and all that begins with `1.2.`; above `url|1.2.3` are
 * 1.2.3, 1.2 and 1. A reference without version is neither.
 *
 * @throws {OperationError} `search-invalid` for a canonical without version.
 * @see https://hl7.org/fhir/R4/search.html#recursive
 */
export function parseCanonicalVersions(param: string, modifier: 'above' | 'below', asks: readonly Ask[]): Condition {
  return entryCondition(
    param,
    asks.flatMap((ask) => versionTests(ask, modifier)),
  )
}

function versionTests(ask: Ask, modifier: 'above' | 'below'): Alternatives {
  const canonical = unescaped(ask.value)
  const { url, version } = canonicalOf(canonical)
  if (version === undefined) throw invalidValue(ask, 'a canonical with its version (url|version)')
  if (modifier === 'below')
    return [[{ field: 'value', op: 'eq', operand: canonical }], [{ field: 'value', op: 'prefix', operand: `${canonical}.` }]]
  return [[{ field: 'value', op: 'in', operands: versionsAbove(version).map((above) => formatCanonical(url, above)) }]]
}

/** `1`, `1.2` and `1.2.3` of `1.2.3`. */
function versionsAbove(version: string): readonly string[] {
  const points = Array.from(version.matchAll(/\./g), ({ index }) => index)
  return [...points, version.length].map((end) => version.slice(0, end))
}
