import { SYSTEM } from '../elm/type-specifier.js'
import { decimalOf } from './compare.js'
import { isCode, isList, isQuantity, quantity, type Code, type Quantity, type Tuple, type Value } from './value.js'

/** Creates an instance of a System type, such as Code or Quantity, from its elements; a tuple for any other type. */
export function instanceOf(type: string, elements: ReadonlyMap<string, Value>): Value {
  const text = (name: string): string | null => {
    const value = elements.get(name)
    return typeof value === 'string' ? value : null
  }
  switch (type) {
    case `{${SYSTEM}}Code`:
      return { kind: 'code', code: text('code'), system: text('system'), version: text('version'), display: text('display') }
    case `{${SYSTEM}}Concept`:
      return { kind: 'concept', codes: codesIn(elements.get('codes') ?? null), display: text('display') }
    case `{${SYSTEM}}Quantity`: {
      const value = decimalOf(elements.get('value') ?? null)
      return value === undefined ? null : quantity(value, text('unit') ?? '1')
    }
    case `{${SYSTEM}}Ratio`:
      return { kind: 'ratio', numerator: quantityIn(elements.get('numerator')), denominator: quantityIn(elements.get('denominator')) }
    case `{${SYSTEM}}ValueSet`:
    case `{${SYSTEM}}CodeSystem`:
      return { kind: type.endsWith('ValueSet') ? 'valueSet' : 'codeSystem', id: text('id') ?? '', version: text('version') }
    default:
      return { kind: 'tuple', elements } satisfies Tuple
  }
}

function codesIn(value: Value): readonly Code[] {
  return isList(value) ? value.filter(isCode) : isCode(value) ? [value] : []
}

function quantityIn(value: Value | undefined): Quantity | null {
  return value !== undefined && isQuantity(value) ? value : null
}
