import { isString } from '../../json/index.js'
import { unescaped } from '../written-values.js'
import type { SearchKind } from './kind.js'

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
  sortField: () => 'value',
}

/** Returns the URI and all its parents: `http://a/b`, `http://a/b/` and `http://a/b/c` for `http://a/b/c`. */
function ancestorsOf(uri: string): readonly string[] {
  const ancestors = [uri]
  for (let slash = uri.lastIndexOf('/'); slash > 0 && uri[slash - 1] !== '/'; slash = uri.lastIndexOf('/', slash - 1)) {
    ancestors.push(uri.slice(0, slash + 1), uri.slice(0, slash))
  }
  return ancestors
}
