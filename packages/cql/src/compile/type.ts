import { quoted } from 'fhir-ops/internal/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { flagAt, localName, nodesAt, scalarAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { SYSTEM, statedType, type TypeSpecifier } from '../elm/type-specifier.js'
import { failedEvaluation, invalidElm, unsupportedElm } from '../problem.js'
import { systemValueOf } from '../model/property.js'
import { convertQuantity, decimalOf } from '../values/compare.js'
import { temperatureIn } from '../values/temperature.js'
import { decimalOfInteger, decimalOfText, wholePart } from '../values/decimal.js'
import { integer, long } from '../values/point.js'
import { dateOf } from '../values/temporal-arithmetic.js'
import { DAY, parseDateTime, parseTime, temporalOf, type Temporal } from '../values/temporal.js'
import { plainTextOf } from '../values/text.js'
import { calendarUnit } from '../values/units.js'
import {
  isCode,
  isConcept,
  isDecimal,
  isFhir,
  isInterval,
  isList,
  isQuantity,
  isTemporal,
  kindOf,
  quantity,
  type Code,
  type PointType,
  type Quantity,
  type Tuple,
  type Value,
} from '../values/value.js'
import { quotient } from './arithmetic.js'
import type { Compiler, Compute, Evaluation, NodeCompiler, NodeCompilers } from './compiler.js'
import { isOfType } from './of-type.js'
import { operandOf, twoOperands, requiredAt } from './operators.js'

/** Literals, selectors, and type operators (CQL reference, sections 3 and 4). */
export const TYPE: NodeCompilers = {
  Null: () => () => null,
  Literal: (node) => literal(node),
  Quantity: (node) => constant(quantityAt(node)),
  Ratio: (node) =>
    constant({
      kind: 'ratio',
      numerator: quantityAt(requiredAt(node, 'numerator')),
      denominator: quantityAt(requiredAt(node, 'denominator')),
    }),
  Tuple: (node, scope, compiler) => {
    const elements = nodesAt(node, 'element').map(
      (element) => [textAt(element, 'name') ?? '', compiler.compile(requiredAt(element, 'value'), scope)] as const,
    )
    return (evaluation) => ({ kind: 'tuple', elements: new Map(elements.map(([name, value]) => [name, value(evaluation)])) })
  },
  Instance: (node, scope, compiler) => {
    const elements = nodesAt(node, 'element').map(
      (element) => [textAt(element, 'name') ?? '', compiler.compile(requiredAt(element, 'value'), scope)] as const,
    )
    const type = textAt(node, 'classType') ?? ''
    return (evaluation) => instance(type, new Map(elements.map(([name, value]) => [name, value(evaluation)])))
  },
  As: (node, scope, compiler) => {
    const operand = compiler.compile(operandOf(node), scope)
    const type = statedType(node, 'as')
    const isStrict = flagAt(node, 'strict') === true
    return (evaluation) => {
      const value = operand(evaluation)
      if (value === null || type === undefined) return value
      const fitting = asType(value, type, compiler.model)
      if (fitting === undefined && isStrict)
        throw failedEvaluation(`The value is not of the type ${typeText(type).slice(0, MAX_NAME)}.`, node)
      return fitting ?? null
    }
  },
  Is: (node, scope, compiler) => {
    const operand = compiler.compile(operandOf(node), scope)
    const type = statedType(node, 'is')
    return (evaluation) => {
      const value = operand(evaluation)
      return value !== null && (type === undefined || isOfType(value, type, compiler.model))
    }
  },
  Convert: (node, scope, compiler) => conversion(node, compiler.compile(operandOf(node), scope), statedType(node, 'to')),
  CanConvert: (node, scope, compiler) => {
    const operand = compiler.compile(operandOf(node), scope)
    const converted = conversion(node, operand, statedType(node, 'to'))
    return (evaluation) => (operand(evaluation) === null ? null : converted(evaluation) !== null)
  },
  ConvertQuantity: (node, scope, compiler) => {
    const [amount, unit] = twoOperands(node, scope, compiler)
    return (evaluation) => converted(amount(evaluation), unit(evaluation), compiler) ?? null
  },
  CanConvertQuantity: (node, scope, compiler) => {
    const [amount, unit] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const [value, target] = [amount(evaluation), unit(evaluation)]
      return value === null || target === null ? null : converted(value, target, compiler) !== undefined
    }
  },
  ...conversionsTo(),
}

type Converter = (value: Value, evaluation: Evaluation) => Value

/** Conversions by the name of the System type that they give. */
const CONVERSIONS: Readonly<Record<string, Converter>> = {
  Boolean: toBoolean,
  Integer: toInteger,
  Long: toLong,
  Decimal: toDecimal,
  String: (value) => plainTextOf(value) ?? null,
  Date: toDate,
  DateTime: toDateTime,
  Time: toTime,
  Quantity: toQuantity,
  Ratio: toRatio,
  Concept: toConcept,
}

/** `ToInteger`, `ConvertsToInteger`, and so on for every conversion. */
function conversionsTo(): NodeCompilers {
  const compilers: Record<string, NodeCompiler> = {}
  for (const name of ['Boolean', 'Integer', 'Long', 'Decimal', 'String', 'Date', 'DateTime', 'Time', 'Quantity', 'Ratio', 'Concept']) {
    compilers[`To${name}`] = (node, scope, compiler) => {
      const operand = compiler.compile(operandOf(node), scope)
      const convert = converterTo(name, node)
      return (evaluation) => {
        const value = plain(operand(evaluation), evaluation)
        evaluation.spend(1)
        return value === null ? null : convert(value, evaluation)
      }
    }
    compilers[`ConvertsTo${name}`] = (node, scope, compiler) => {
      const operand = compiler.compile(operandOf(node), scope)
      const convert = converterTo(name, node)
      return (evaluation) => {
        const value = plain(operand(evaluation), evaluation)
        evaluation.spend(1)
        return value === null ? null : convert(value, evaluation) !== null
      }
    }
  }
  return compilers
}

function converterTo(name: string, node: ElmNode): Converter {
  const convert = Object.hasOwn(CONVERSIONS, name) ? CONVERSIONS[name] : undefined
  if (convert === undefined) throw unsupportedElm(node, `There is no conversion to ${quoted(name)}.`)
  return convert
}

/** A FHIR primitive as the System value that it stands for. */
function plain(value: Value, evaluation: Evaluation): Value {
  return isFhir(value) ? (systemValueOf(value, evaluation.offset) ?? value) : value
}

function conversion(node: ElmNode, operand: Compute, type: TypeSpecifier | undefined): Compute {
  if (type?.kind !== 'named' || type.namespace !== SYSTEM) throw unsupportedElm(node, 'Only conversions to System types are supported.')
  const convert = converterTo(type.name, node)
  return (evaluation) => {
    const value = plain(operand(evaluation), evaluation)
    return value === null ? null : convert(value, evaluation)
  }
}

function constant(value: Value): Compute {
  return () => value
}

function literal(node: ElmNode): Compute {
  const type = localName(textAt(node, 'valueType') ?? '')
  const text = scalarAt(node, 'value') ?? ''
  const value = literalValue(type, text)
  if (value === undefined) throw invalidElm(node, `${quoted(text)} is not a literal of ${type.slice(0, MAX_NAME)}.`)
  return constant(value)
}

function literalValue(type: string, text: string): Value | undefined {
  if (type === 'String') return text
  if (type === 'Boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  if (type === 'Decimal') return decimalOfText(text)
  if (!/^[+-]?\d{1,25}$/.test(text)) return undefined
  if (type === 'Integer') return integer(Number(text)) ?? undefined
  return type === 'Long' ? (long(BigInt(text)) ?? undefined) : undefined
}

function quantityAt(node: ElmNode): Quantity {
  const amount = decimalOfText(scalarAt(node, 'value') ?? '', true)
  if (amount === undefined) throw invalidElm(node, `${typeOf(node) || 'The quantity'} has no value that is a Decimal.`)
  return quantity(amount, textAt(node, 'unit') ?? '1')
}

function instance(type: string, elements: ReadonlyMap<string, Value>): Value {
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

/** The value as the type, `undefined` when it is of another; intervals of nulls take on the point type. */
function asType(value: Value, type: TypeSpecifier, model: TypeModel): Value | undefined {
  if (isInterval(value) && type.kind === 'interval' && value.pointType === undefined && type.point.kind === 'named')
    return { ...value, pointType: pointTypeNamed(type.point.name) }
  return isOfType(value, type, model) ? value : undefined
}

function pointTypeNamed(name: string): PointType | undefined {
  const types: readonly PointType[] = ['Integer', 'Long', 'Decimal', 'Quantity', 'Date', 'DateTime', 'Time']
  return types.find((type) => type === name)
}

/** A type is named by so many characters at most. */
const MAX_NAME = 100

function typeText(type: TypeSpecifier): string {
  return type.kind === 'named' ? type.name : type.kind
}

const TRUE: ReadonlySet<string> = new Set(['true', 't', 'yes', 'y', '1'])
const FALSE: ReadonlySet<string> = new Set(['false', 'f', 'no', 'n', '0'])

function toBoolean(value: Value): Value {
  if (typeof value === 'boolean') return value
  const amount = decimalOf(value)
  const text = typeof value === 'string' ? value.toLowerCase() : amount === undefined ? undefined : wholeText(amount)
  if (text === undefined) return null
  return TRUE.has(text) ? true : FALSE.has(text) ? false : null
}

function wholeText(amount: Parameters<typeof wholePart>[0]): string | undefined {
  const { whole, rest } = wholePart(amount)
  return rest === 0 ? whole.toString() : undefined
}

function toInteger(value: Value): Value {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return integer(Number(value))
  return typeof value === 'string' && /^[+-]?\d{1,10}$/.test(value) ? integer(Number(value)) : null
}

function toLong(value: Value): Value {
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (typeof value === 'number') return BigInt(value)
  if (typeof value === 'bigint') return value
  return typeof value === 'string' && /^[+-]?\d{1,19}$/.test(value) ? long(BigInt(value)) : null
}

function toDecimal(value: Value): Value {
  if (isDecimal(value)) return value
  if (typeof value === 'boolean') return { kind: 'decimal', units: value ? 100_000_000 : 0, places: 1 }
  if (typeof value === 'string') return decimalOfText(value, true) ?? null
  return typeof value === 'number' || typeof value === 'bigint' ? (decimalOfInteger(value) ?? null) : null
}

function toDate(value: Value): Value {
  if (typeof value === 'string') return parseDateTime(value, 0, 'date') ?? null
  return isTemporal(value) ? (dateOf(value) ?? null) : null
}

function toDateTime(value: Value, { offset }: Evaluation): Value {
  if (typeof value === 'string') return parseDateTime(value, offset) ?? null
  if (!isTemporal(value) || value.kind === 'time') return null
  return value.kind === 'dateTime' ? value : dateTimeOfDate(value, offset)
}

/** A date as a date and time of the same precision: its time is not known. */
function dateTimeOfDate(value: Temporal, offset: number): Value {
  return temporalOf('dateTime', value.fields.slice(0, value.precision + 1), offset) ?? null
}

function toTime(value: Value): Value {
  if (typeof value === 'string') return parseTime(value) ?? null
  if (!isTemporal(value)) return null
  return value.kind === 'time' ? value : (temporalOf('time', value.fields.slice(DAY + 1, value.precision + 1)) ?? null)
}

const QUANTITY = /^([+-]?\d{1,28}(?:\.\d{1,28})?)\s*(?:'([^']{1,100})'|([a-z]{3,12}))?$/

function toQuantity(value: Value): Value {
  if (isQuantity(value)) return value
  if (kindOf(value) === 'ratio') return quantityOfRatio(value)
  if (typeof value !== 'string') {
    const amount = decimalOf(value)
    return amount === undefined ? null : quantity(amount)
  }
  const [, number, ucum, word] = QUANTITY.exec(value.trim()) ?? []
  const amount = number === undefined ? undefined : decimalOfText(number, true)
  if (amount === undefined) return null
  if (word !== undefined && calendarUnit(word) === undefined) return null
  return quantity(amount, ucum ?? word ?? '1')
}

function quantityOfRatio(value: Value): Value {
  if (value === null || typeof value !== 'object' || isList(value) || value.kind !== 'ratio') return null
  return value.numerator === null || value.denominator === null ? null : quotient(value.numerator, value.denominator)
}

function toRatio(value: Value): Value {
  if (kindOf(value) === 'ratio') return value
  if (typeof value !== 'string') return null
  const [numerator, denominator, ...more] = value.split(':').map(toQuantity)
  if (more.length > 0 || numerator === undefined || denominator === undefined || !isQuantity(numerator) || !isQuantity(denominator))
    return null
  return { kind: 'ratio', numerator, denominator }
}

function toConcept(value: Value): Value {
  if (isConcept(value)) return value
  const codes = isCode(value) ? [value] : isList(value) ? value.filter(isCode) : []
  return codes.length === 0 ? null : { kind: 'concept', codes, display: codes.length === 1 ? (codes[0]?.display ?? null) : null }
}

function converted(amount: Value, unit: Value, { convert }: Compiler): Value | undefined {
  if (!isQuantity(amount) || typeof unit !== 'string') return undefined
  return temperatureIn(amount, unit) ?? convertQuantity(amount, unit, convert)
}
