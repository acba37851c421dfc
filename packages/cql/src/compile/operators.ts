import { nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { resultTypeOf, isSystem, type TypeSpecifier } from '../elm/type-specifier.js'
import { invalidElm } from '../problem.js'
import { pointOrder, type PointOrder } from '../values/interval.js'
import { PRECISIONS, precisionOf, type Precision } from '../values/temporal.js'
import { sizeOf } from '../values/size.js'
import type { PointType, Value } from '../values/value.js'
import type { Compiler, Compute, NodeCompiler, Scope } from './compiler.js'

/** The operand of a unary node. */
export function operandOf(node: ElmNode): ElmNode {
  const [operand, ...more] = partsAt(node, 'operand')
  if (operand === undefined) throw invalidElm(node, `${typeOf(node)} has no operand.`)
  if (more.length > 0) throw invalidElm(node, `${typeOf(node)} must have one operand; this one has ${more.length + 1}.`)
  return operand
}

/** A member that a node must have. */
export function requiredAt(node: ElmNode, member: string): ElmNode {
  const part = nodeAt(node, member)
  if (part === undefined) throw invalidElm(node, `${typeOf(node)} has no ${member}.`)
  return part
}

/** The compiled operands of a node that must have this number of them. */
export function operandsOf(node: ElmNode, scope: Scope, compiler: Compiler): readonly Compute[] {
  return partsAt(node, 'operand').map((operand) => compiler.compile(operand, scope))
}

/** The nodes in a member that is a list of nodes. @throws {OperationError} `definition-invalid` if it contains anything else. */
export function partsAt(node: ElmNode, member: string): readonly ElmNode[] {
  const parts = nodesAt(node, member)
  const given = Object.hasOwn(node, member) ? node[member] : undefined
  const count = Array.isArray(given) ? given.length : given === undefined || given === null ? 0 : 1
  if (parts.length !== count) throw invalidElm(node, `${typeOf(node) || 'A node'} has a member ${member} that is not a list of nodes.`)
  return parts
}

/** Compiles nodes whose value depends on one operand, whose size counts as steps; null if the operand is null. */
export function unary(compute: (value: Value, compiler: Compiler, node: ElmNode) => Value): NodeCompiler {
  return (node, scope, compiler) => {
    const operand = compiler.compile(operandOf(node), scope)
    return (evaluation) => {
      const value = operand(evaluation)
      evaluation.spend(sizeOf(value))
      return value === null ? null : compute(value, compiler, node)
    }
  }
}

/** Compiles nodes whose value depends on two operands, whose sizes count as steps; null if one of them is null. */
export function binary(compute: (left: Value, right: Value, compiler: Compiler, node: ElmNode) => Value): NodeCompiler {
  return (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const a = left(evaluation)
      const b = right(evaluation)
      evaluation.spend(sizeOf(a) + sizeOf(b))
      return a === null || b === null ? null : compute(a, b, compiler, node)
    }
  }
}

/** Number of nodes that are evaluated in one step. */
const NODES_OF_STEP = 6

/** Nodes of these types take several times as long as most. */
const NODES_OF_TYPE: Readonly<Record<string, number>> = {
  Divide: 3,
  DurationBetween: 8,
  DifferenceBetween: 6,
  DateFrom: 6,
  TimeFrom: 10,
  Successor: 10,
  Predecessor: 10,
  Log: 4,
  Power: 4,
  Exp: 3,
  Ln: 3,
  LowBoundary: 6,
  HighBoundary: 6,
  Date: 4,
  DateTime: 12,
  Time: 12,
  Tuple: 4,
  Instance: 12,
  Convert: 6,
  ConvertQuantity: 12,
  CanConvertQuantity: 12,
  ToQuantity: 4,
  ToString: 8,
  ToTime: 6,
  ConvertsToTime: 6,
  ToRatio: 28,
  ConvertsToRatio: 28,
  ReplaceMatches: 16,
  SplitOnMatches: 8,
}

/** Number of nodes as which one of a type counts. */
export function nodesOf(type: string): number {
  return Object.hasOwn(NODES_OF_TYPE, type) ? (NODES_OF_TYPE[type] ?? 1) : 1
}

/** Compiles an expression that is evaluated for each item. Also returns its steps, besides those that it counts itself. */
export function forEachItem<T>(compiler: Compiler, compile: () => T): readonly [made: T, steps: number] {
  const before = compiler.nodes()
  const made = compile()
  return [made, 1 + (compiler.nodes() - before) / NODES_OF_STEP]
}

/** The two compiled operands of a binary node. */
export function twoOperands(node: ElmNode, scope: Scope, compiler: Compiler): readonly [Compute, Compute] {
  const [left, right, ...more] = operandsOf(node, scope, compiler)
  if (left === undefined || right === undefined) throw invalidElm(node, `${typeOf(node)} must have two operands.`)
  if (more.length > 0) throw invalidElm(node, `${typeOf(node)} must have two operands; this one has ${more.length + 2}.`)
  return [left, right]
}

/** Compiles an optional member; null if it is absent. */
export function optionalAt(node: ElmNode, member: string, scope: Scope, compiler: Compiler): Compute {
  const part = nodeAt(node, member)
  return part === undefined ? () => null : compiler.compile(part, scope)
}

/** The precision that a node names. */
export function precisionAt(node: ElmNode): Precision | undefined {
  const name = textAt(node, 'precision')?.toLowerCase()
  return name === undefined ? undefined : precisionOf(PRECISIONS.findIndex((precision) => precision === name))
}

/** The comparison of points for a node, down to the precision that it names. */
export function orderAt(node: ElmNode, compiler: Compiler): PointOrder {
  return pointOrder(compiler.convert, precisionAt(node), compiler.offset)
}

const POINT_TYPES: readonly PointType[] = ['Integer', 'Long', 'Decimal', 'Quantity', 'Date', 'DateTime', 'Time']

/** The point type of an interval node, if types and bounds determine it. */
export function pointTypeAt(node: ElmNode): PointType | undefined {
  const type = resultTypeOf(node)
  const bounds = [nodeAt(node, 'low'), nodeAt(node, 'high')].map((bound) => (bound === undefined ? undefined : staticType(bound)))
  const candidates: readonly (TypeSpecifier | undefined)[] = [type?.kind === 'interval' ? type.point : undefined, ...bounds]
  return POINT_TYPES.find((name) => candidates.some((candidate) => isSystem(candidate, name)))
}

function staticType(node: ElmNode): TypeSpecifier | undefined {
  const type = resultTypeOf(node)
  if (type !== undefined && !isSystem(type, 'Any')) return type
  const name = textAt(node, 'asType') ?? textAt(node, 'valueType') ?? textAt(nodeAt(node, 'asTypeSpecifier') ?? {}, 'name')
  return name === undefined ? undefined : resultTypeOf({ resultTypeName: name })
}
