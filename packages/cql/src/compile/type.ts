import { quoted } from 'fhir-ops/internal/errors'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { flagAt, localName, nodesAt, scalarAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { SYSTEM, statedType, type TypeSpecifier } from '../elm/type-specifier.js'
import { failedEvaluation, invalidElm, unsupportedElm } from '../problem.js'
import { systemValueOf } from '../model/property.js'
import { convertQuantity } from '../values/compare.js'
import { decimalOfText } from '../values/decimal.js'
import { instanceOf } from '../values/instance.js'
import { integer, long, pointTypeNamed } from '../values/point.js'
import { caseSteps } from '../values/size.js'
import { temperatureIn } from '../values/units.js'
import { isFhir, isInterval, isQuantity, quantity, type Quantity, type Value } from '../values/value.js'
import type { Compiler, Compute, Evaluation, NodeCompiler, NodeCompilers, Scope } from './compiler.js'
import { CONVERSIONS, type Converter } from './conversions.js'
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
    const elements = elementsOf(node, scope, compiler)
    return (evaluation) => ({ kind: 'tuple', elements: elements(evaluation) })
  },
  Instance: (node, scope, compiler) => {
    const elements = elementsOf(node, scope, compiler)
    const type = textAt(node, 'classType') ?? ''
    return (evaluation) => instanceOf(type, elements(evaluation))
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

/** The values of the elements of a tuple or instance. */
function elementsOf(node: ElmNode, scope: Scope, compiler: Compiler): (evaluation: Evaluation) => Map<string, Value> {
  const elements = nodesAt(node, 'element').map((element) => ({
    name: textAt(element, 'name') ?? '',
    value: compiler.compile(requiredAt(element, 'value'), scope),
  }))
  return (evaluation) => {
    const values = new Map<string, Value>()
    for (const { name, value } of elements) values.set(name, value(evaluation))
    return values
  }
}

/** `ToInteger`, `ConvertsToInteger`, and so on for every conversion. */
function conversionsTo(): NodeCompilers {
  const compilers: Record<string, NodeCompiler> = {}
  for (const name of Object.keys(CONVERSIONS)) {
    compilers[`To${name}`] = (node, scope, compiler) => {
      const operand = compiler.compile(operandOf(node), scope)
      const convert = converterTo(name, node)
      return (evaluation) => {
        const value = plain(operand(evaluation), evaluation)
        return value === null ? null : convert(value, evaluation.offset)
      }
    }
    compilers[`ConvertsTo${name}`] = (node, scope, compiler) => {
      const operand = compiler.compile(operandOf(node), scope)
      const convert = converterTo(name, node)
      return (evaluation) => {
        const value = plain(operand(evaluation), evaluation)
        return value === null ? null : convert(value, evaluation.offset) !== null
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

/** A value to be converted, which counts as steps; of a FHIR primitive, its System value. */
function plain(given: Value, evaluation: Evaluation): Value {
  const value = isFhir(given) ? (systemValueOf(given, evaluation.offset) ?? given) : given
  evaluation.spend(1 + (typeof value === 'string' ? caseSteps(value) : 0))
  return value
}

function conversion(node: ElmNode, operand: Compute, type: TypeSpecifier | undefined): Compute {
  if (type?.kind !== 'named' || type.namespace !== SYSTEM) throw unsupportedElm(node, 'Only conversions to System types are supported.')
  const convert = converterTo(type.name, node)
  return (evaluation) => {
    const value = plain(operand(evaluation), evaluation)
    return value === null ? null : convert(value, evaluation.offset)
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

/** The value as a type; `undefined` if it is of another. Intervals of nulls get the point type. */
function asType(value: Value, type: TypeSpecifier, model: TypeModel): Value | undefined {
  if (isInterval(value) && type.kind === 'interval' && value.pointType === undefined && type.point.kind === 'named')
    return { ...value, pointType: pointTypeNamed(type.point.name) }
  return isOfType(value, type, model) ? value : undefined
}

/** Maximum length of the name of a type in a message. */
const MAX_NAME = 100

function typeText(type: TypeSpecifier): string {
  return type.kind === 'named' ? type.name : type.kind
}

function converted(amount: Value, unit: Value, { convert }: Compiler): Value | undefined {
  if (!isQuantity(amount) || typeof unit !== 'string') return undefined
  return temperatureIn(amount, unit) ?? convertQuantity(amount, unit, convert)
}
