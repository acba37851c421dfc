import { quoted } from 'fhir-ops/internal/errors'
import { localName, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { systemValueOf } from '../model/property.js'
import { failedEvaluation, unsupportedElm } from '../problem.js'
import { codesBySystem, codesOf } from './coded.js'
import { isFhir, isList, type Code, type FhirElement, type Value, type Vocabulary } from '../values/value.js'
import type { CodeTest, Compiler, Compute, Evaluation, Given, Meets, RetrieveRequest, Scope } from './compiler.js'
import { placed, membershipOf, requireTerminology } from './given.js'
import { narrowingOf } from './narrowing.js'
import { operandOf, optionalAt } from './operators.js'

/** Returns the resources of a retrieve that meet the condition of the query over it; `undefined` if each must be tested. */
type Sifter = (evaluation: Evaluation, meets: Meets) => readonly FhirElement[] | undefined

const sifters = new WeakMap<Compute, Sifter>()

/** The sifter of a retrieve, if the result of its query's condition may be known in advance for a resource, and no trace is recorded. */
export function sifterOf(retrieve: Compute): Sifter | undefined {
  return sifters.get(retrieve)
}

/** Compiles a retrieve (ELM, Retrieve). */
export function compileRetrieve(node: ElmNode, { filter, ...scope }: Scope, compiler: Compiler): Compute {
  if (nodesAt(node, 'include').length > 0) throw unsupportedElm(node, 'Retrieves with includes are not supported.')
  const type = localName(textAt(node, 'dataType') ?? '')
  if (compiler.model.type(type) === undefined) throw unsupportedElm(node, `The type ${quoted(type)} is not known.`)
  const codes = codesFor(node, scope, compiler)
  const range = optionalAt(node, 'dateRange', scope, compiler)
  const context = nodeAt(node, 'context') === undefined ? undefined : optionalAt(node, 'context', scope, compiler)
  const place = compiler.places.requests.push(requestMaker(node, { type, isOfContext: context !== undefined, filter }, compiler)) - 1
  const requestFor = (evaluation: Evaluation): RetrieveRequest => {
    const { requests } = compiler.given(evaluation)
    const last = placed(requests, place)
    const [test, dateRange] = [codes?.(evaluation), range(evaluation)]
    if (context !== undefined) return { ...last, context: contextOf(context(evaluation), node), codes: test, dateRange }
    if (test === last.codes && dateRange === last.dateRange) return last
    return (requests[place] = { ...last, codes: test, dateRange })
  }
  const retrieve: Compute = (evaluation) => {
    const found = evaluation.retrieve(requestFor(evaluation))
    evaluation.spend(found.length)
    return found
  }
  if (filter !== undefined && context === undefined)
    sifters.set(retrieve, (evaluation, meets) => {
      const { sift } = evaluation
      if (sift === undefined || placed(compiler.given(evaluation).requests, place).isNarrowedWhole !== true) return undefined
      const found = sift(requestFor(evaluation), meets)
      evaluation.spend(found?.length ?? 0)
      return found
    })
  return retrieve
}

interface Retrieving extends Pick<Scope, 'filter'> {
  readonly type: string
  /** Whether its context is a resource that is found during evaluation. */
  readonly isOfContext: boolean
}

/** Returns a function that makes the request of a retrieve, without codes and range: parameters determine which conditions of the query narrow it. */
function requestMaker(node: ElmNode, { type, isOfContext, filter }: Retrieving, compiler: Compiler): (given: Given) => RetrieveRequest {
  const template = textAt(node, 'templateId')
  const profile = template === `http://hl7.org/fhir/StructureDefinition/${type}` ? undefined : template
  const narrowing = filter === undefined ? undefined : narrowingOf(filter, compiler)
  const listedCodes = listedCodesOf(node, compiler)
  const listedRange = listedRangeOf(node, compiler)
  const request = {
    type,
    profile,
    unfiltered: compiler.isUnfiltered(),
    codePath: textAt(node, 'codeProperty'),
    datePath: textAt(node, 'dateProperty'),
    codes: undefined,
    dateRange: null,
    ...(isOfContext && { context: null }),
  }
  return (given) => {
    const { terminology, onRetrieve } = given.source
    const { conditions, isWhole } = narrowing?.(given) ?? { conditions: [], isWhole: false }
    const made: RetrieveRequest = {
      ...request,
      ofProfile: profile === undefined ? undefined : terminology?.profile?.(profile),
      listedCodes: listedCodes?.(given),
      listedRange: listedRange?.(given),
      narrowing: conditions,
      isNarrowedWhole: isWhole,
    }
    onRetrieve?.(made, node)
    return made
  }
}

/** The resource that is the context of a retrieve, such as a practitioner. */
function contextOf(value: Value, node: ElmNode): FhirElement | null {
  if (value === null || (isFhir(value) && value.type.kind === 'resource')) return value
  throw failedEvaluation('The context of a retrieve must be one resource.', node)
}

const VOCABULARIES: ReadonlyMap<string, Vocabulary['kind']> = new Map([
  ['ValueSetRef', 'valueSet'],
  ['CodeSystemRef', 'codeSystem'],
])

const LOST_CODES =
  'The translator lost the codes of this retrieve. It does not follow a definition that gives a value set: name the value set in the retrieve.'

/** The test of a retrieve's codes: a value set, a code system, or an expression that returns codes. */
function codesFor(node: ElmNode, scope: Scope, compiler: Compiler): ((evaluation: Parameters<Compute>[0]) => CodeTest) | undefined {
  const stated = nodeAt(node, 'codes')
  if (stated === undefined) {
    // Without codes it would find every resource of the type.
    if (textAt(node, 'codeComparator') !== undefined) throw unsupportedElm(node, LOST_CODES)
    return undefined
  }
  const set = typeOf(stated) === 'ToList' ? operandOf(stated) : stated
  const kind = VOCABULARIES.get(typeOf(set))
  if (kind !== undefined) return membershipOf(compiler.references.vocabulary(set, kind), node, compiler)
  const expression = compiler.compile(stated, scope)
  const declared = declaredCodes(set, compiler)
  if (declared === undefined) return (evaluation) => listedCodes(expression(evaluation), compiler.offset)
  const test = listedCodes(declared, compiler.offset)
  return (evaluation) => {
    // Evaluated only so that traces see it.
    expression(evaluation)
    return test
  }
}

/** The codes of a retrieve by value set or by codes that the library declares; `undefined` for any other expression. */
function listedCodesOf(node: ElmNode, compiler: Compiler): ((given: Given) => RetrieveRequest['listedCodes']) | undefined {
  const stated = nodeAt(node, 'codes')
  if (stated === undefined) return undefined
  const set = typeOf(stated) === 'ToList' ? operandOf(stated) : stated
  if (typeOf(set) === 'ValueSetRef') {
    const valueSet = compiler.references.vocabulary(set, 'valueSet')
    return ({ source }) => requireTerminology(source.terminology, node).expansion(valueSet)
  }
  const declared = declaredCodes(set, compiler)
  return declared === undefined ? undefined : () => () => declared
}

/** The codes that an expression names, if the library declares them. */
function declaredCodes(set: ElmNode, { references }: Compiler): readonly Code[] | undefined {
  switch (typeOf(set)) {
    case 'CodeRef':
      return codesOf(references.code(set))
    case 'Code':
      return [references.inlineCode(set)]
    case 'Property': {
      const source = nodeAt(set, 'source')
      if (source === undefined || typeOf(source) !== 'ConceptRef' || textAt(set, 'path') !== 'codes') return undefined
      return codesOf(references.concept(source))
    }
    default:
      return undefined
  }
}

function listedRangeOf(node: ElmNode, { references, constant }: Compiler): ((given: Given) => Value | undefined) | undefined {
  const stated = nodeAt(node, 'dateRange')
  if (stated === undefined) return undefined
  return typeOf(stated) === 'ParameterRef' ? references.parameterIn(stated) : constant(stated)
}

function listedCodes(value: Value, offset: number): CodeTest {
  const wanted = codesBySystem(itemsOf(value).flatMap((item) => codesIn(item, offset)))
  return (system, code) => wanted.get(system ?? '')?.has(code) === true
}

/** Flattens a value: codes that are listed one by one come as a list in a list. */
function itemsOf(value: Value): readonly Value[] {
  return isList(value) ? value.flatMap(itemsOf) : [value]
}

/** The codes of a value. A plain string has no system. */
function codesIn(value: Value, offset: number): readonly { readonly system: string; readonly code: string }[] {
  const plain = value !== null && isFhir(value) ? systemValueOf(value, offset) : value
  if (typeof plain === 'string') return [{ system: '', code: plain }]
  return codesOf(plain ?? null).map(({ code, system }) => ({ system: system ?? '', code: code ?? '' }))
}
