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
  const operand = nodesAt(node, 'operand')[0]
  if (operand === undefined) throw invalidElm(node, `${typeOf(node)} has no operand.`)
  return operand
}

/** A member that a node must have. */
export function requiredAt(node: ElmNode, member: string): ElmNode {
  const part = nodeAt(node, member)
  if (part === undefined) throw invalidElm(node, `${typeOf(node)} has no ${member}.`)
  return part
}

/** The compiled operands of a node with so many of them. */
export function operandsOf(node: ElmNode, scope: Scope, compiler: Compiler): readonly Compute[] {
  return nodesAt(node, 'operand').map((operand) => compiler.compile(operand, scope))
}

/** A node type whose value follows from one operand, whose size is counted; null when that is null. */
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

/** A node type whose value follows from two operands, whose sizes are counted; null when one is null. */
export function binary(compute: (left: Value, right: Value, compiler: Compiler, node: ElmNode) => Value): NodeCompiler {
  return (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const [a, b] = [left(evaluation), right(evaluation)]
      evaluation.spend(sizeOf(a) + sizeOf(b))
      return a === null || b === null ? null : compute(a, b, compiler, node)
    }
  }
}

/** The two compiled operands of a binary node. */
export function twoOperands(node: ElmNode, scope: Scope, compiler: Compiler): readonly [Compute, Compute] {
  const [left, right] = operandsOf(node, scope, compiler)
  if (left === undefined || right === undefined) throw invalidElm(node, `${typeOf(node)} must have two operands.`)
  return [left, right]
}

/** A compiled optional member; null where it is absent. */
export function optionalAt(node: ElmNode, member: string, scope: Scope, compiler: Compiler): Compute {
  const part = nodeAt(node, member)
  return part === undefined ? () => null : compiler.compile(part, scope)
}

/** The precision that a node names. */
export function precisionAt(node: ElmNode): Precision | undefined {
  const name = textAt(node, 'precision')?.toLowerCase()
  return name === undefined ? undefined : precisionOf(PRECISIONS.findIndex((precision) => precision === name))
}

/** How a node compares points: down to the precision that it names. */
export function orderAt(node: ElmNode, compiler: Compiler): PointOrder {
  return pointOrder(compiler.convert, precisionAt(node), compiler.offset)
}

const POINT_TYPES: readonly PointType[] = ['Integer', 'Long', 'Decimal', 'Quantity', 'Date', 'DateTime', 'Time']

/** The point type of an interval node, as far as types and bounds determine it. */
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
