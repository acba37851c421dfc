import type { Condition } from '../../storage/index.js'
import { anyOf } from './conditions.js'
import { splitUnescaped, unescaped } from '../values/escapes.js'
import { unsupportedName, type FilterScope } from './filter-scope.js'
import { invalidValue, type Ask } from '../kinds/kind.js'
import type { CodeGroup, CodeQuestion } from '../search-options.js'

interface CodeTerm {
  readonly param: string
  readonly modifier: string
}

/** Parses `:in`, `:not-in`, `:above` and `:below` of a token parameter; the codes come from `options.codesOf`. */
export async function parseCodes(scope: FilterScope, { param, modifier }: CodeTerm, asks: readonly Ask[]): Promise<Condition> {
  const { codesOf } = scope.options
  if (codesOf === undefined) throw unsupportedName(scope, 'needs codes, which are not available here')
  const conditions: Condition[] = []
  for (const ask of asks) conditions.push(codeCondition(param, await codesOf(questionOf(modifier, ask))))
  return modifier === 'not-in' ? { kind: 'not', condition: anyOf(conditions) } : anyOf(conditions)
}

function questionOf(modifier: string, ask: Ask): CodeQuestion {
  if (modifier === 'in' || modifier === 'not-in') return { modifier: 'in', valueSet: unescaped(ask.value) }
  const [system = '', code = '', ...rest] = splitUnescaped(ask.value, '|').map(unescaped)
  if (system === '' || code === '' || rest.length > 0) throw invalidValue(ask, 'a code with its system (system|code)')
  return { modifier: modifier === 'above' ? 'above' : 'below', system, code }
}

/** A `code` whose system the definitions do not tell is indexed without one: it matches by the code alone. */
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
