/** The UCUM unit of a product (`sign` 1) or quotient (-1) of two amounts, with equal parts put together: `cm` times `cm` is `cm2`. */
export function unitProduct(a: string, b: string, sign: 1 | -1): string {
  const exponents = new Map<string, number>()
  addParts(exponents, a, 1)
  addParts(exponents, b, sign)
  const parts = [...exponents].filter(([, exponent]) => exponent !== 0)
  const above = parts.filter(([, exponent]) => exponent > 0).map(([unit, exponent]) => partText(unit, exponent))
  const below = parts.filter(([, exponent]) => exponent < 0).map(([unit, exponent]) => `/${partText(unit, -exponent)}`)
  return (above.join('.') || (below.length === 0 ? '1' : '')) + below.join('')
}

/** A part of a unit after its operator: annotations and brackets may hold what is an operator elsewhere. */
const PART = /([./]?)((?:\{[^{}]*\}|\[[^[\]]*\]|[^./{}[\]])+)/g

/** A part of a unit and its exponent, of which every digit is read. */
const EXPONENT = /^(.*?)([+-]?\d{1,9})?$/

function addParts(exponents: Map<string, number>, unit: string, sign: 1 | -1): void {
  const add = (name: string, exponent: number): void => void exponents.set(name, (exponents.get(name) ?? 0) + exponent)
  // What is in parentheses stays together.
  if (unit.includes('(')) return add(`(${unit})`, sign)
  for (const [, operator, part = ''] of unit.matchAll(PART)) {
    const [, name = '', exponent = '1'] = EXPONENT.exec(part) ?? []
    if (name !== '' || exponent !== '1') add(name, (operator === '/' ? -sign : sign) * Number(exponent))
  }
}

function partText(unit: string, exponent: number): string {
  return exponent === 1 ? unit : `${unit}${exponent}`
}
