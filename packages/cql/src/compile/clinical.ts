import { quoted } from 'fhir-ops/internal/errors'
import { nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { failedEvaluation, unsupportedElm } from '../problem.js'
import { periodsBetween, unitAt } from './temporal.js'
import { propertyReader } from '../model/property.js'
import { dateOf } from '../values/temporal-arithmetic.js'
import { isList, isTemporal, type Code, type Value, type Vocabulary } from '../values/value.js'
import { codesOf, codesToLookAt, compileRecorded, someCode } from './coded.js'
import type { CodeTest, Compiler, Compute, Evaluation, NodeCompiler, NodeCompilers, Scope } from './compiler.js'
import { operandOf, operandsOf, optionalAt, requiredAt, twoOperands } from './operators.js'
import { compileRetrieve } from './retrieve.js'
import { announce, membershipOf } from './given.js'

/** The item itself, in the expression by which a query sorts (CQL author's guide, Sorting). */
const THIS = '$this'

/** References, properties, retrieves, clinical operators and messages (CQL reference, section 13 and after). */
export const CLINICAL: NodeCompilers = {
  ExpressionRef: (node, _, { references }) => references.expression(node),
  ParameterRef: (node, _, { references }) => references.parameter(node),
  FunctionRef: (node, scope, compiler) => compiler.references.invoke(node, operandsOf(node, scope, compiler)),
  CodeRef: (node, _, { references }) => constant(references.code(node)),
  Code: (node, _, { references }) => constant(references.inlineCode(node)),
  Concept: (node, _, { references }) =>
    constant({
      kind: 'concept',
      codes: nodesAt(node, 'code').map((code) => references.inlineCode(code)),
      display: textAt(node, 'display') ?? null,
    }),
  ConceptRef: (node, _, { references }) => constant(references.concept(node)),
  ValueSetRef: (node, _, { references }) => constant(references.vocabulary(node, 'valueSet')),
  CodeSystemRef: (node, _, { references }) => constant(references.vocabulary(node, 'codeSystem')),
  ExpandValueSet: (node, _, compiler) => compileExpansion(node, compiler),
  Subsumes: subsumption((left, right, test) => test(left, right)),
  SubsumedBy: subsumption((left, right, test) => test(right, left)),
  Property: (node, scope, compiler) => compileProperty(node, scope, compiler),
  IdentifierRef: (node, scope, compiler) => {
    const name = textAt(node, 'name') ?? ''
    const slot = scope.item
    if (slot === undefined) throw unsupportedElm(node, `The identifier ${quoted(name)} is not resolved.`)
    if (name === THIS) return (evaluation) => evaluation.slots[slot] ?? null
    const read = propertyReader(name, compiler.model, compiler.offset)
    return (evaluation) => read(evaluation.slots[slot] ?? null)
  },
  InValueSet: inVocabulary('valueSet', 'code'),
  AnyInValueSet: inVocabulary('valueSet', 'codes'),
  InCodeSystem: inVocabulary('codeSystem', 'code'),
  AnyInCodeSystem: inVocabulary('codeSystem', 'codes'),
  CalculateAge: (node, scope, compiler) => {
    const born = compiler.compile(operandOf(node), scope)
    const unit = unitAt(node)
    const isOfTime = unit === 'hour' || unit === 'minute' || unit === 'second'
    return (evaluation) => ageAt(born(evaluation), isOfTime ? evaluation.now : (dateOf(evaluation.now) ?? null), unit)
  },
  CalculateAgeAt: (node, scope, compiler) => {
    const [born, at] = twoOperands(node, scope, compiler)
    const unit = unitAt(node)
    return (evaluation) => ageAt(born(evaluation), at(evaluation), unit)
  },
  Retrieve: (node, scope, compiler) => compileRetrieve(node, scope, compiler),
  Message: (node, scope, compiler) => compileMessage(node, scope, compiler),
}

function constant(value: Value): Compute {
  return () => value
}

function compileProperty(node: ElmNode, scope: Scope, compiler: Compiler): Compute {
  const path = (textAt(node, 'path') ?? '').split('.')
  const alias = textAt(node, 'scope')
  const source = nodeAt(node, 'source') ?? (alias === undefined ? undefined : { type: 'AliasRef', name: alias })
  if (source === undefined) throw unsupportedElm(node, `The property ${quoted(path.join('.'))} has no source.`)
  const compute = compiler.compile(source, scope)
  const [read, ...others] = path.map((name) => elementReader(name, compiler))
  if (read === undefined) return compute
  if (others.length === 0) return (evaluation) => read(compute(evaluation), evaluation)
  return (evaluation) => {
    let value = read(compute(evaluation), evaluation)
    for (const next of others) value = next(value, evaluation)
    return value
  }
}

type ElementReader = (value: Value, evaluation: Evaluation) => Value

function elementReader(name: string, { model, offset }: Compiler): ElementReader {
  const read = propertyReader(name, model, offset)
  return (value, { spend }) => {
    if (isList(value)) spend(value.length)
    return value === null ? null : read(value)
  }
}

function inVocabulary(kind: Vocabulary['kind'], code: 'code' | 'codes'): NodeCompiler {
  return (node, scope, compiler) => {
    const { references } = compiler
    const asked = nodeAt(node, code) ?? operandOf(node)
    const value = compileRecorded(asked, scope, compiler) ?? compiler.compile(asked, scope)
    const stated = nodeAt(node, kind.toLowerCase())
    if (stated === undefined) throw unsupportedElm(node, `${typeOf(node)} over an expression is not supported.`)
    const testOf = membershipOf(references.vocabulary(stated, kind), node, compiler)
    return (evaluation) => {
      const given = value(evaluation)
      evaluation.spend(codesToLookAt(given))
      return isMember(given, testOf(evaluation))
    }
  }
}

function compileExpansion(node: ElmNode, compiler: Compiler): Compute {
  const stated = operandOf(node)
  if (typeOf(stated) !== 'ValueSetRef') throw unsupportedElm(node, 'The expansion of an expression is not supported.')
  const valueSet = compiler.references.vocabulary(stated, 'valueSet')
  const terminologyOf = announce(compiler, node, (terminology) => terminology.expansion(valueSet))
  return (evaluation) => {
    const listed = terminologyOf(evaluation).expansion(valueSet)()
    evaluation.spend(listed.length)
    return listed
  }
}

type SubsumptionTest = (ancestor: Code, descendant: Code) => boolean

/** Whether a code or concept subsumes another: true if it holds for any pair of their codes; null if one is null. */
function subsumption(holds: (left: Code, right: Code, test: SubsumptionTest) => boolean): NodeCompiler {
  return (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    const { references } = compiler
    const systems = references.systems()
    const terminologyOf = announce(compiler, node, (terminology) => terminology.subsumption(systems))
    return (evaluation) => {
      const [a, b] = [left(evaluation), right(evaluation)]
      if (a === null || b === null) return null
      const test = terminologyOf(evaluation).subsumption(systems)
      evaluation.spend(codesOf(a).length * codesOf(b).length * Math.max(1, systems.length))
      return codesOf(a).some((one) => codesOf(b).some((other) => holds(one, other, test)))
    }
  }
}

/** Whether a code, or any code of a concept or list, is a member. A null code is not a member. */
function isMember(value: Value, test: CodeTest): boolean {
  if (value === null) return false
  if (typeof value === 'string') return test(undefined, value)
  if (isList(value)) return value.some((item) => isMember(item, test))
  return someCode(value, (code, system) => code !== null && test(system ?? undefined, code))
}

function ageAt(born: Value, at: Value, unit: ReturnType<typeof unitAt>): Value {
  return isTemporal(born) && isTemporal(at) ? periodsBetween(born, at, unit, 'duration') : null
}

function compileMessage(node: ElmNode, scope: Scope, compiler: Compiler): Compute {
  const source = compiler.compile(requiredAt(node, 'source'), scope)
  const [condition, code, severity, message] = ['condition', 'code', 'severity', 'message'].map((member) =>
    optionalAt(node, member, scope, compiler),
  )
  const hasCondition = nodeAt(node, 'condition') !== undefined
  return (evaluation) => {
    const value = source(evaluation)
    if (hasCondition && condition?.(evaluation) !== true) return value
    const [codeText, level, text] = [code?.(evaluation) ?? null, severity?.(evaluation) ?? null, message?.(evaluation) ?? null]
    const kind = typeof level === 'string' ? level : 'Message'
    if (kind === 'Error') {
      const said = [text, codeText].find((part) => typeof part === 'string')
      throw failedEvaluation(said === undefined ? 'The library reports an error.' : `The library reports an error: ${said}`, node)
    }
    evaluation.onMessage({
      severity: kind,
      code: typeof codeText === 'string' ? codeText : null,
      message: typeof text === 'string' ? text : null,
    })
    return value
  }
}
