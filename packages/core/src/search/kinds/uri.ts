import { isString } from '../../json/index.js'
import type { Condition } from '../../storage/index.js'
import { allOf, anyOf, entryCondition } from '../filter/conditions.js'
import type { FilterScope, Ask, SearchKind } from './kind.js'
import type { SearchParameter } from '../parameters/search-parameter.js'
import { unescaped } from '../written-values.js'

export const uriKind: SearchKind = {
  name: 'uri',
  fields: (value) => (isString(value) ? [{ value }] : []),
  modifiers: ['above', 'below'],
  negatable: false,
  alternatives({ value, modifier }) {
    const uri = unescaped(value)
    if (modifier === 'above') return [[{ field: 'value', op: 'in', operands: ancestorsOf(uri) }]]
    if (modifier !== 'below') return [[{ field: 'value', op: 'eq', operand: uri }]]
    return [[{ field: 'value', op: 'eq', operand: uri }], [{ field: 'value', op: 'prefix', operand: uri.endsWith('/') ? uri : `${uri}/` }]]
  },
  resolvers: new Map([['', parseUris]]),
  sortField: () => 'value',
}

function parseUris(scope: FilterScope, parameter: SearchParameter, asks: readonly Ask[]): Condition {
  const isCanonical = parameter.code === 'url' && scope.options.parameters.find(scope.type, 'version') !== undefined
  return anyOf(
    asks.map((ask) => (isCanonical ? canonicalCondition(parameter.code, ask) : entryCondition(parameter.code, uriKind.alternatives(ask)))),
  )
}

/**
 * What follows a bar in the url of a definition is its version. URIs have no bars, so the bar may be escaped, as HAPI's client writes it.
 *
 * @see https://hl7.org/fhir/R4/search.html#uri
 */
function canonicalCondition(code: string, ask: Ask): Condition {
  const [url = '', ...others] = ask.value.split(/\\?\|/)
  const found = entryCondition(code, uriKind.alternatives({ ...ask, value: url }))
  const version = unescaped(others.join('|'))
  return version === '' ? found : allOf([found, entryCondition('version', [[{ field: 'value', op: 'eq', operand: version }]])])
}

/** Returns the URI and all its parents: `http://a/b`, `http://a/b/` and `http://a/b/c` for `http://a/b/c`. */
function ancestorsOf(uri: string): readonly string[] {
  const ancestors = [uri]
  for (let slash = uri.lastIndexOf('/'); slash > 0 && uri[slash - 1] !== '/'; slash = uri.lastIndexOf('/', slash - 1)) {
    ancestors.push(uri.slice(0, slash + 1), uri.slice(0, slash))
  }
  return ancestors
}
