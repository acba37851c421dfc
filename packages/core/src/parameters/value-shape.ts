import { OperationError } from '../errors/index.js'
import { isObject } from '../json/index.js'

type Check = (value: unknown, expression: string) => void

/** Types whose values are not JSON texts. What the others hold is looked at where it is read. */
const CHECKS: ReadonlyMap<string, Check> = new Map([
  ['Boolean', ofType('boolean')],
  ['Decimal', ofType('number')],
  ['Integer', ofType('number')],
  ['PositiveInt', ofType('number')],
  ['UnsignedInt', ofType('number')],
  ['Coding', coding],
  ['CodeableConcept', codeableConcept],
])

/**
 * Refuses a value of another JSON type than `type`, the `x` of `value[x]`, has, also inside codings, so that no version or display is
 * passed over.
 *
 * @throws {OperationError} `body-structure`
 */
export function checkValueShape(type: string, value: unknown, expression: string): void {
  CHECKS.get(type)?.(value, expression)
}

function ofType(jsonType: 'boolean' | 'number' | 'string'): Check {
  return (value, expression) => {
    if (typeof value !== jsonType) throw wrongShape(expression, `a ${jsonType}`)
  }
}

const CODING_MEMBERS: ReadonlyMap<string, Check> = new Map([
  ...['system', 'version', 'code', 'display'].map((name) => [name, ofType('string')] as const),
  ['userSelected', ofType('boolean')],
])

const CONCEPT_MEMBERS: ReadonlyMap<string, Check> = new Map([
  ['coding', codings],
  ['text', ofType('string')],
])

function coding(value: unknown, expression: string): void {
  checkMembers(value, expression, CODING_MEMBERS)
}

function codings(value: unknown, expression: string): void {
  if (!Array.isArray(value)) throw wrongShape(expression, 'an array')
  for (const [index, item] of value.entries()) coding(item, `${expression}[${index}]`)
}

function codeableConcept(value: unknown, expression: string): void {
  checkMembers(value, expression, CONCEPT_MEMBERS)
}

function checkMembers(value: unknown, expression: string, members: ReadonlyMap<string, Check>): void {
  if (!isObject(value)) throw wrongShape(expression, 'an object')
  for (const [name, check] of members)
    if (Object.hasOwn(value, name) && value[name] !== undefined) check(value[name], `${expression}.${name}`)
}

function wrongShape(expression: string, expected: string): OperationError {
  return new OperationError('body-structure', `${expression} must be ${expected}.`, { expression: [expression] })
}
