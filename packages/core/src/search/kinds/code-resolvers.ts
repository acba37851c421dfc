import type { Condition } from '../../storage/index.js'
import { anyOf } from '../filter/conditions.js'
import { unsupportedName } from '../filter/filter-scope.js'
import type { CodeGroup, CodeQuestion } from '../search-options.js'
import { splitUnescaped, unescaped } from '../values/escapes.js'
import { invalidValue, type Ask, type ModifierResolver } from './kind.js'

/** `:in`, `:not-in`, `:above` and `:below` of token parameters; the codes come from `options.codesOf`. */
export const codeResolvers: ReadonlyMap<string, ModifierResolver> = new Map(
  ['in', 'not-in', 'above', 'below'].map((modifier) => [modifier, resolverOf(modifier)]),
)

function resolverOf(modifier: string): ModifierResolver {
  return async (scope, { code }, asks) => {
    const { codesOf } = scope.options
    if (codesOf === undefined) throw unsupportedName(scope, 'needs codes, which are not available here')
    const conditions: Condition[] = []
    for (const ask of asks) conditions.push(codeCondition(code, await codesOf(questionOf(modifier, ask))))
    return modifier === 'not-in' ? { kind: 'not', condition: anyOf(conditions) } : anyOf(conditions)
  }
}

function questionOf(modifier: string, ask: Ask): CodeQuestion {
  if (modifier === 'in' || modifier === 'not-in') return { modifier: 'in', valueSet: unescaped(ask.value) }
  const [system = '', code = '', ...rest] = splitUnescaped(ask.value, '|').map(unescaped)
  if (system === '' || code === '' || rest.length > 0) throw invalidValue(ask, 'a code with its system (system|code)')
  return { modifier: modifier === 'above' ? 'above' : 'below', system, code }
}

/** A `code` whose system the definitions do not state is indexed without one: it matches by the code alone. */
function codeCondition(param: string, groups: readonly CodeGroup[]): Condition {
  return anyOf(
    groups.flatMap(({ system, codes }): readonly Condition[] => [
      {
        kind: 'entry',
        param,
        all: [
          { field: 'value', op: 'in', operands: codes },
          { field: 'system', op: 'eq', operand: system },
        ],
      },
      {
        kind: 'entry',
        param,
        all: [
          { field: 'value', op: 'in', operands: codes },
          { field: 'system', op: 'absent' },
        ],
      },
    ]),
  )
}
