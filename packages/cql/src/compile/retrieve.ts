import { quoted } from 'fhir-ops/internal/errors'
import { localName, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { systemValueOf } from '../model/property.js'
import { failedEvaluation, unsupportedElm } from '../problem.js'
import { codesBySystem } from '../values/codes-by-system.js'
import { isFhir, isList, type Code, type FhirElement, type Value, type Vocabulary } from '../values/value.js'
import { codesOf } from './coded.js'
import type { CodeTest, Compiler, Compute, Evaluation, Meets, RetrieveRequest, Scope } from './compiler.js'
import { narrowingOf } from './narrowing.js'
import { operandOf, optionalAt } from './operators.js'

/** Returns the resources of a retrieve that meet the condition of the query over it; `undefined` if each must be tested. */
export type Sifter = (evaluation: Evaluation, meets: Meets) => readonly FhirElement[] | undefined

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
  const template = textAt(node, 'templateId')
  const profile = template === `http://hl7.org/fhir/StructureDefinition/${type}` ? undefined : template
  const narrowing = filter === undefined ? { conditions: [], isWhole: false } : narrowingOf(filter, compiler.references)
  const request = {
    type,
    profile,
    ofProfile: profile === undefined ? undefined : compiler.references.profile(profile),
    unfiltered: compiler.isUnfiltered(),
    codePath: textAt(node, 'codeProperty'),
    datePath: textAt(node, 'dateProperty'),
    listedCodes: listedCodesOf(node, compiler),
    narrowing: narrowing.conditions,
    isNarrowedWhole: narrowing.isWhole,
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
  // The request is usually the same for every subject.
  let last: RetrieveRequest = { ...request, codes: undefined, dateRange: null }
  const requestFor = (evaluation: Evaluation): RetrieveRequest => {
    const [test, dateRange] = [codes?.(evaluation), range(evaluation)]
    if (context === undefined && test === last.codes && dateRange === last.dateRange) return last
    last = { ...request, ...(context !== undefined && { context: contextOf(context(evaluation), node) }), codes: test, dateRange }
    return last
  }
  const retrieve: Compute = (evaluation) => {
    const found = evaluation.retrieve(requestFor(evaluation))
    evaluation.spend(found.length)
    return found
  }
  if (narrowing.isWhole && context === undefined)
    sifters.set(retrieve, (evaluation, meets) => {
      const found = evaluation.sift?.(requestFor(evaluation), meets)
      evaluation.spend(found?.length ?? 0)
      return found
    })
  return retrieve
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
    // Evaluated only so that traces see it.
    expression(evaluation)
    return test
  }
}

/** The codes of a retrieve by value set or by codes that the library declares; `undefined` for any other expression. */
function listedCodesOf(node: ElmNode, { references }: Compiler): (() => readonly Code[]) | undefined {
  const stated = nodeAt(node, 'codes')
  if (stated === undefined) {
    // Without codes it would find every resource of the type.
    if (textAt(node, 'codeComparator') !== undefined) throw unsupportedElm(node, LOST_CODES)
    return undefined
  }
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
