import { isResourceId, type Condition } from '../../storage/index.js'
import { anyOf } from './conditions.js'
import { unescaped } from '../values/escapes.js'
import { unsupportedName, type FilterScope } from './filter-scope.js'
import { invalidValue, type Ask } from '../kinds/kind.js'
import { localReference } from '../kinds/reference.js'
import type { SearchParameter } from '../parameters/search-parameters.js'

/**
 * Parses `:above` and `:below` of a reference: to the resource itself, and to all that it is part of, or that are part of it. What is
 * part of what, the parameter `partof` or `part-of` of the type says.
 *
 * @see https://hl7.org/fhir/R4/search.html#recursive
 */
export async function parseHierarchy(
  scope: FilterScope,
  parameter: SearchParameter,
  { asks, modifier }: { readonly asks: readonly Ask[]; readonly modifier: 'above' | 'below' },
): Promise<Condition> {
  const { hierarchyOf } = scope.options
  if (hierarchyOf === undefined) throw unsupportedName(scope, `has the modifier '${modifier}', which is not supported`)
  const conditions: Condition[] = []
  for (const ask of asks) {
    const { type, id } = memberOf(scope, parameter, ask)
    const ids = await hierarchyOf({ type, id, modifier, param: partOf(scope, type) ?? '' })
    conditions.push({
      kind: 'entry',
      param: parameter.code,
      all: [
        { field: 'value', op: 'in', operands: ids },
        { field: 'system', op: 'eq', operand: type },
      ],
    })
  }
  return anyOf(conditions)
}

interface Member {
  readonly type: string
  readonly id: string
}

/** The resource that a value names. A bare id is enough where only one type that the reference may lead to has a hierarchy. */
function memberOf(scope: FilterScope, { targets }: SearchParameter, ask: Ask): Member {
  const text = unescaped(ask.value)
  const types = targets.filter((type) => partOf(scope, type) !== undefined)
  const [only] = types
  const member =
    localReference(text, ask.base) ??
    (types.length === 1 && only !== undefined && isResourceId(text) ? { type: only, id: text } : undefined)
  if (member === undefined || (targets.length > 0 && !targets.includes(member.type))) throw invalidValue(ask, 'a reference (Type/id)')
  if (partOf(scope, member.type) === undefined) throw unsupportedName(scope, `asks for the hierarchy of ${member.type}, which has none`)
  return member
}

/** The parameter by which resources of a type say what they are part of. */
function partOf({ options: { parameters } }: FilterScope, type: string): string | undefined {
  const found = ['partof', 'part-of'].map((code) => parameters.find(type, code)).find((parameter) => parameter?.targets.includes(type))
  return found?.code
}
