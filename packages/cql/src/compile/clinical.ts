import { quoted } from 'fhir-ops/internal/errors'
import { nodeAt, nodesAt, textAt, typeOf, localName, type ElmNode } from '../elm/node.js'
import { failedEvaluation, unsupportedElm } from '../problem.js'
import { periodsBetween, unitAt } from './temporal.js'
import { propertyReader, systemValueOf } from '../model/property.js'
import { dateOf } from '../values/temporal-arithmetic.js'
import { isCode, isConcept, isFhir, isList, isTemporal, type Code, type FhirElement, type Value, type Vocabulary } from '../values/value.js'
import { sizeOf } from '../values/size.js'
import { literalText } from '../values/text.js'
import { codesBySystem } from '../values/codes-by-system.js'
import type { CodeTest, Compiler, Compute, Evaluation, NodeCompiler, NodeCompilers, RetrieveRequest, Scope } from './compiler.js'
import { narrowingOf } from './narrowing.js'
import { operandOf, operandsOf, optionalAt, requiredAt, twoOperands } from './operators.js'

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
    return (evaluation) =>
      ageAt(
        born(evaluation),
        unit === 'hour' || unit === 'minute' || unit === 'second' ? evaluation.now : (dateOf(evaluation.now) ?? null),
        node,
      )
  },
  CalculateAgeAt: (node, scope, compiler) => {
    const [born, at] = twoOperands(node, scope, compiler)
    return (evaluation) => ageAt(born(evaluation), at(evaluation), node)
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
    const value = compiler.compile(nodeAt(node, code) ?? operandOf(node), scope)
    const stated = nodeAt(node, kind.toLowerCase())
    if (stated === undefined) throw unsupportedElm(node, `${typeOf(node)} over an expression is not supported.`)
    const test = references.terminology(node).membership(references.vocabulary(stated, kind))
    return (evaluation) => {
      const given = value(evaluation)
      evaluation.spend(sizeOf(given))
      return isMember(given, test)
    }
  }
}

function compileExpansion(node: ElmNode, { references }: Compiler): Compute {
  const stated = operandOf(node)
  if (typeOf(stated) !== 'ValueSetRef') throw unsupportedElm(node, 'The expansion of an expression is not supported.')
  const codes = references.terminology(node).expansion(references.vocabulary(stated, 'valueSet'))
  return (evaluation) => {
    const listed = codes()
    evaluation.spend(listed.length)
    return listed
  }
}

type SubsumptionTest = (ancestor: Code, descendant: Code) => boolean

/** A code or concept above or below another: some code of the one and of the other; null when one is null. */
function subsumption(holds: (left: Code, right: Code, test: SubsumptionTest) => boolean): NodeCompiler {
  return (node, scope, compiler) => {
    const [left, right] = twoOperands(node, scope, compiler)
    const { references } = compiler
    const systems = references.systems()
    const test = references.terminology(node).subsumption(systems)
    return (evaluation) => {
      const [a, b] = [left(evaluation), right(evaluation)]
      if (a === null || b === null) return null
      evaluation.spend(codesOf(a).length * codesOf(b).length * Math.max(1, systems.length))
      return codesOf(a).some((one) => codesOf(b).some((other) => holds(one, other, test)))
    }
  }
}

/** Whether a code, one of the codes of a concept, or one of a list is a member; a null code is none. */
function isMember(value: Value, test: CodeTest): boolean {
  if (value === null) return false
  if (typeof value === 'string') return test(undefined, value)
  if (isList(value)) return value.some((item) => isMember(item, test))
  return codesOf(value).some(({ code, system }) => code !== null && test(system ?? undefined, code))
}

function codesOf(value: Value): readonly Code[] {
  if (isConcept(value)) return value.codes
  return isCode(value) ? [value] : []
}

function ageAt(born: Value, at: Value, node: ElmNode): Value {
  return isTemporal(born) && isTemporal(at) ? periodsBetween(born, at, unitAt(node), 'duration') : null
}

function compileRetrieve(node: ElmNode, { filter, ...scope }: Scope, compiler: Compiler): Compute {
  if (nodesAt(node, 'include').length > 0) throw unsupportedElm(node, 'Retrieves with includes are not supported.')
  const type = localName(textAt(node, 'dataType') ?? '')
  if (compiler.model.type(type) === undefined) throw unsupportedElm(node, `The type ${quoted(type)} is not known.`)
  const codes = codesFor(node, scope, compiler)
  const range = optionalAt(node, 'dateRange', scope, compiler)
  const context = nodeAt(node, 'context') === undefined ? undefined : optionalAt(node, 'context', scope, compiler)
  const template = textAt(node, 'templateId')
  const request = {
    type,
    profile: template === `http://hl7.org/fhir/StructureDefinition/${type}` ? undefined : template,
    unfiltered: compiler.isUnfiltered(),
    codePath: textAt(node, 'codeProperty'),
    datePath: textAt(node, 'dateProperty'),
    listedCodes: listedCodesOf(node, compiler),
    narrowing: filter === undefined ? [] : narrowingOf(filter, compiler.references),
  }
  compiler.onRetrieve(
    {
      ...request,
      listedRange: listedRangeOf(node, compiler),
      codes: undefined,
      dateRange: null,
      ...(context !== undefined && { context: null }),
    },
    node,
  )
  // Mostly the same is asked for of every subject.
  let last: RetrieveRequest = { ...request, codes: undefined, dateRange: null }
  const requestFor = (evaluation: Evaluation): RetrieveRequest => {
    const [test, dateRange] = [codes?.(evaluation), range(evaluation)]
    if (context === undefined && test === last.codes && dateRange === last.dateRange) return last
    last = { ...request, ...(context !== undefined && { context: contextOf(context(evaluation), node) }), codes: test, dateRange }
    return last
  }
  return (evaluation) => {
    const found = evaluation.retrieve(requestFor(evaluation))
    evaluation.spend(found.length)
    return found
  }
}

/** The resource in whose context a retrieve is: a practitioner, a patient. */
function contextOf(value: Value, node: ElmNode): FhirElement | null {
  if (value === null || (isFhir(value) && value.type.kind === 'resource')) return value
  throw failedEvaluation('The context of a retrieve must be one resource.', node)
}

const VOCABULARIES: ReadonlyMap<string, Vocabulary['kind']> = new Map([
  ['ValueSetRef', 'valueSet'],
  ['CodeSystemRef', 'codeSystem'],
])

/** The codes of a retrieve: a value set, a code system, or an expression that gives codes. */
function codesFor(node: ElmNode, scope: Scope, compiler: Compiler): ((evaluation: Parameters<Compute>[0]) => CodeTest) | undefined {
  const stated = nodeAt(node, 'codes')
  if (stated === undefined) return undefined
  const set = typeOf(stated) === 'ToList' ? operandOf(stated) : stated
  const kind = VOCABULARIES.get(typeOf(set))
  if (kind !== undefined) {
    const { references } = compiler
    const test = references.terminology(node).membership(references.vocabulary(set, kind))
    return () => test
  }
  const expression = compiler.compile(stated, scope)
  const declared = listedCodesOf(node, compiler)?.()
  if (declared === undefined) return (evaluation) => listedCodes(expression(evaluation), compiler.offset)
  const test = listedCodes(declared, compiler.offset)
  return (evaluation) => {
    // For those who look on at what is evaluated.
    expression(evaluation)
    return test
  }
}

/** The codes of a retrieve by value set, or by codes that the library declares; `undefined` for those of any other expression. */
function listedCodesOf(node: ElmNode, { references }: Compiler): (() => readonly Code[]) | undefined {
  const stated = nodeAt(node, 'codes')
  if (stated === undefined) return undefined
  const set = typeOf(stated) === 'ToList' ? operandOf(stated) : stated
  switch (typeOf(set)) {
    case 'ValueSetRef':
      return references.terminology(node).expansion(references.vocabulary(set, 'valueSet'))
    case 'CodeRef': {
      const code = references.code(set)
      return () => codesOf(code)
    }
    case 'Code': {
      const code = references.inlineCode(set)
      return () => [code]
    }
    case 'Property': {
      const source = nodeAt(set, 'source')
      if (source === undefined || typeOf(source) !== 'ConceptRef' || textAt(set, 'path') !== 'codes') return undefined
      const concept = references.concept(source)
      return () => codesOf(concept)
    }
    default:
      return undefined
  }
}

function listedRangeOf(node: ElmNode, { references }: Compiler): Value | undefined {
  const stated = nodeAt(node, 'dateRange')
  return stated !== undefined && typeOf(stated) === 'ParameterRef' ? references.given(stated) : undefined
}

function listedCodes(value: Value, offset: number): CodeTest {
  const wanted = codesBySystem(itemsOf(value).flatMap((item) => codesIn(item, offset)))
  return (system, code) => wanted.get(system ?? '')?.has(code) === true
}

/** The codes that are listed one by one come as a list in a list. */
function itemsOf(value: Value): readonly Value[] {
  return isList(value) ? value.flatMap(itemsOf) : [value]
}

/** A code alone is of no system. */
function codesIn(value: Value, offset: number): readonly { readonly system: string; readonly code: string }[] {
  const plain = value !== null && isFhir(value) ? systemValueOf(value, offset) : value
  if (typeof plain === 'string') return [{ system: '', code: plain }]
  return codesOf(plain ?? null).map(({ code, system }) => ({ system: system ?? '', code: code ?? '' }))
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
    if (kind === 'Error')
      throw failedEvaluation(`The library reports an error: ${typeof text === 'string' ? text : literalText(codeText)}`, node)
    evaluation.onMessage({
      severity: kind,
      code: typeof codeText === 'string' ? codeText : null,
      message: typeof text === 'string' ? text : null,
    })
    return value
  }
}
