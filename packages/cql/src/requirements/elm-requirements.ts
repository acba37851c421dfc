import type { Period } from 'fhir/r4.js'
import type { TypeModel } from 'fhir-ops/fhirpath'
import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import {
  mergedRequirements,
  type ParameterUse,
  type PinnedVersions,
  type RequiredData,
  type Requirements,
} from 'fhir-ops/internal/evaluate'
import type { Filter } from '../compile/compiler.js'
import { filterOf } from '../compile/narrowing.js'
import { isFunction } from '../elm/library.js'
import { isNode, MAX_DEPTH, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { isSystem, namedType, resultTypeOf, statedType, SYSTEM, type TypeSpecifier } from '../elm/type-specifier.js'
import type { LoadedLibrary } from '../libraries/content.js'
import { constantsIn } from '../libraries/library.js'
import { periodValue, SAME_UNIT } from '../measure/prepare.js'
import { toParameterEntries } from '../results/parameters.js'
import type { Value } from '../values/value.js'
import { codingsOf, requirementOf, type PeriodReader } from './retrieve-filters.js'
import { canonicalOfRef, definedIn, definitionsOf, unitOf, unitOfElm, type References, type Section, type Unit } from './units.js'

/** A library whose requirements are computed. */
interface AnalysedLibrary {
  readonly loaded: LoadedLibrary
  /** Canonical url of the Library resource, from which those of included libraries are derived; `undefined` if it is not published. */
  readonly url: string | undefined
  /** Versions of value sets and code systems whose version is left open. */
  readonly pinned: PinnedVersions
  readonly model: TypeModel
  /** Values of parameters that are periods, by name. */
  readonly periods: ReadonlyMap<string, Period>
  /** Offset in minutes for times without one. */
  readonly offset: number
}

/** FHIR types of the resources in each alias or operand. */
type Names = ReadonlyMap<string, readonly string[]>

interface Place {
  readonly unit: Unit
  readonly names: Names
  readonly depth: number
}

interface Walk extends References {
  readonly analysed: AnalysedLibrary
  readonly data: RequiredData[]
  readonly read: Map<string, Set<string>>
  readonly parameters: ParameterUse[]
  readonly seen: Set<ElmNode>
  readonly periodOf: PeriodReader
  /** The conditions of queries, by the retrieves that are their sources. */
  readonly filters: Map<ElmNode, Filter>
  /** Resource types of expressions without a stated type, each determined once. */
  readonly types: Map<ElmNode, readonly string[]>
}

/**
 * Computes from its ELM what definitions of a library require: retrieves with their codes and dates, the elements that are read from their results, the
 * parameters, libraries and terminology, also through functions and included libraries. Codes and dates that the ELM does not determine add no filter.
 *
 * @param names Names of definitions and functions.
 * @throws {OperationError} `parameter-value` for a name that the library does not define; `definition-invalid` for expressions that are nested
 *   deeper than 400.
 */
export function elmRequirements(analysed: AnalysedLibrary, names: readonly string[]): Requirements {
  const unit = unitOfElm(analysed.loaded.elm)
  const { loaded, url, pinned } = analysed
  const walk: Walk = {
    loaded,
    url,
    pinned,
    analysed,
    data: [],
    read: new Map(),
    parameters: [],
    dependsOn: new Set(),
    seen: new Set(),
    periodOf: periodReader(analysed),
    filters: new Map(),
    types: new Map(),
  }
  for (const name of names) {
    const found = definitionsOf(unit, name)
    if (found.length === 0)
      throw new OperationError('parameter-value', `The library has no definition ${quoted(name)}.`, { expression: ['expression'] })
    for (const def of found) {
      if (!isFunction(def)) walk.parameters.push(parameterDefinition(name, 'out', resultTypeOf(def)))
      enter(walk, unit, def)
    }
  }
  const data = walk.data.map((requirement) => {
    const mustSupport = [...(walk.read.get(requirement.type) ?? [])]
    return { ...requirement, ...(mustSupport.length > 0 && { mustSupport }) }
  })
  return mergedRequirements([{ data, parameters: walk.parameters, dependsOn: [...walk.dependsOn] }])
}

/** Reads periods of the request as they are given, and computes those that follow from them or from the text. */
function periodReader({ loaded: { includes }, model, periods, offset }: AnalysedLibrary): PeriodReader {
  const units = new Map<ElmNode, ReturnType<typeof constantsIn>>()
  const parameters = (name: string, type: string | undefined): Value => {
    const period = periods.get(name)
    if (period === undefined) throw new OperationError('parameter-required', `The value of ${quoted(name)} is not known.`)
    return periodValue(period, offset, type)
  }
  return (node, { node: elm }) => {
    const given = typeOf(node) === 'ParameterRef' ? periods.get(textAt(node, 'name') ?? '') : undefined
    if (given !== undefined) return { ...given }
    try {
      const valueOf =
        units.get(elm) ?? constantsIn(elm, { model, convert: SAME_UNIT, offset, parameters, include: (id) => includes.get(id) })
      units.set(elm, valueOf)
      return toParameterEntries('period', valueOf(node) ?? null, model)[0]?.valuePeriod
    } catch (error) {
      // What was compiled for it would fail for all others, too.
      units.delete(elm)
      if (error instanceof OperationError) return undefined
      throw error
    }
  }
}

/** Visits a definition or function, once. */
function enter(walk: Walk, unit: Unit, def: ElmNode): void {
  const expression = nodeAt(def, 'expression')
  if (expression === undefined || walk.seen.has(def)) return
  walk.seen.add(def)
  visit(walk, expression, { unit, names: operandsOf(walk, def), depth: 0 })
}

/** The operands of a function, with the types of their resources. */
function operandsOf(walk: Walk, def: ElmNode): Names {
  return new Map(
    nodesAt(def, 'operand').map((operand) => [
      textAt(operand, 'name') ?? '',
      resourceTypes(walk, statedType(operand, 'operand') ?? resultTypeOf(operand)),
    ]),
  )
}

type Visitor = (walk: Walk, node: ElmNode, place: Place) => void

/** Actions for nodes of these types, in addition to visiting their parts. */
const VISITORS: Readonly<Record<string, Visitor>> = {
  Retrieve: visitRetrieve,
  Query: noteFilters,
  ExpressionRef: follow,
  FunctionRef: follow,
  ParameterRef: (walk, node, { unit }) => {
    for (const def of definedIn(unitOf(walk, node, unit), 'parameters', node)) {
      walk.parameters.push(parameterDefinition(textAt(def, 'name') ?? '', 'in', statedType(def, 'parameter') ?? resultTypeOf(def)))
    }
  },
  ValueSetRef: (walk, node, { unit }) => void canonicalOfRef(walk, node, { unit, section: 'valueSets' }),
  CodeSystemRef: (walk, node, { unit }) => void canonicalOfRef(walk, node, { unit, section: 'codeSystems' }),
  CodeRef: (walk, node, { unit }) => void codingsOf(walk, node, unit),
  ConceptRef: (walk, node, { unit }) => void codingsOf(walk, node, unit),
  ByColumn: (walk, node, { names }) => noteItemElement(walk, names, textAt(node, 'path')),
  IdentifierRef: (walk, node, { names }) => noteItemElement(walk, names, textAt(node, 'name')),
}

/** The item that a query sorts. Sort expressions name its elements without an alias. */
const ITEM = '$this'

/** Members of nodes that are not expressions. */
const PASSED_OVER: ReadonlySet<string> = new Set(['annotation', 'resultTypeSpecifier', 'signature', 'operandTypeSpecifier'])

function oneDeeper(place: Place): Place {
  if (place.depth > MAX_DEPTH) throw new OperationError('definition-invalid', `Expressions may be nested ${MAX_DEPTH} deep.`)
  return { ...place, depth: place.depth + 1 }
}

function visit(walk: Walk, node: ElmNode, place: Place): void {
  const type = typeOf(node)
  const deeper = oneDeeper(place)
  if (type === 'Property') return visitProperty(walk, node, deeper)
  if (Object.hasOwn(VISITORS, type)) VISITORS[type]?.(walk, node, place)
  if (type === 'InValueSet' || type === 'AnyInValueSet') visitVocabulary(walk, nodeAt(node, 'valueset'), { place, section: 'valueSets' })
  if (type === 'InCodeSystem' || type === 'AnyInCodeSystem')
    visitVocabulary(walk, nodeAt(node, 'codesystem'), { place, section: 'codeSystems' })
  const inner =
    type === 'Query' ? { ...deeper, names: new Map([...namesIn(walk, node, deeper), [ITEM, itemTypes(walk, node, deeper)]]) } : deeper
  for (const [member, value] of Object.entries(node)) {
    if (PASSED_OVER.has(member)) continue
    for (const part of Array.isArray(value) ? value : [value]) if (isNode(part)) visit(walk, part, inner)
  }
}

/** Records the requirement of a retrieve, and the elements by which it searches. */
function visitRetrieve(walk: Walk, node: ElmNode, { unit }: Place): void {
  const requirement = requirementOf(walk, node, { unit, periodOf: walk.periodOf, filter: walk.filters.get(node) })
  walk.data.push(requirement)
  for (const member of ['codeProperty', 'dateProperty']) {
    const path = textAt(node, member)
    if (path !== undefined) noteElement(walk, [requirement.type], [path])
  }
}

function noteFilters({ filters }: Walk, query: ElmNode): void {
  for (const source of nodesAt(query, 'source')) {
    const [retrieve, filter] = [nodeAt(source, 'expression'), filterOf(source, nodeAt(query, 'where'))]
    if (retrieve !== undefined && filter !== undefined) filters.set(retrieve, filter)
  }
}

/** The aliases and lets of a query, with the types of their resources. */
function namesIn(walk: Walk, query: ElmNode, place: Place): Names {
  const names = new Map(place.names)
  for (const source of [...nodesAt(query, 'source'), ...nodesAt(query, 'relationship')])
    names.set(textAt(source, 'alias') ?? '', itemTypes(walk, nodeAt(source, 'expression') ?? {}, { ...place, names }))
  for (const part of nodesAt(query, 'let'))
    names.set(textAt(part, 'identifier') ?? '', itemTypes(walk, nodeAt(part, 'expression') ?? {}, { ...place, names }))
  return names
}

/** Types of the resources that an expression returns, single or in a list: in ELM without types, those of the retrieves from which they come. */
function itemTypes(walk: Walk, expression: ElmNode, place: Place): readonly string[] {
  const type = resultTypeOf(expression)
  if (type !== undefined) return resourceTypes(walk, elementOf(type))
  const known = walk.types.get(expression)
  if (known !== undefined) return known
  walk.types.set(expression, [])
  const types = [...new Set(untypedItems(walk, expression, oneDeeper(place)))]
  walk.types.set(expression, types)
  return types
}

/** Nodes that return items of their operands. */
const PASSING: ReadonlySet<string> = new Set(
  'First Last SingletonFrom Distinct Flatten Union Intersect Except Indexer Slice Filter Sort If Case Coalesce List ToList'.split(' '),
)

/** The operands whose items a node returns. */
function passedOn(node: ElmNode): readonly ElmNode[] {
  const members = ['operand', 'source', 'element', 'then', 'else'].flatMap((member) => nodesAt(node, member))
  return [...members, ...nodesAt(node, 'caseItem').flatMap((item) => nodesAt(item, 'then'))]
}

function untypedItems(walk: Walk, node: ElmNode, place: Place): readonly string[] {
  const type = typeOf(node)
  const name = textAt(node, 'name') ?? ''
  switch (type) {
    case 'Retrieve':
      return resourceTypes(walk, namedType(textAt(node, 'dataType') ?? ''))
    case 'As':
      return resourceTypes(walk, elementOf(statedType(node, 'as')))
    case 'AliasRef':
    case 'OperandRef':
    case 'QueryLetRef':
      return place.names.get(name) ?? []
    case 'ExpressionRef':
    case 'FunctionRef': {
      const unit = unitOf(walk, node, place.unit)
      const defs = unit === undefined ? [] : definitionsOf(unit, name)
      return defs.flatMap((def) =>
        itemTypes(walk, nodeAt(def, 'expression') ?? {}, { ...place, unit: unit ?? place.unit, names: operandsOf(walk, def) }),
      )
    }
    case 'Query':
      return untypedRows(walk, node, place)
    default:
      return PASSING.has(type) ? passedOn(node).flatMap((part) => itemTypes(walk, part, place)) : []
  }
}

/** Types of the resources that a query returns: of what it names, else of its only source. */
function untypedRows(walk: Walk, query: ElmNode, place: Place): readonly string[] {
  const returned = nodeAt(nodeAt(query, 'return') ?? {}, 'expression')
  if (returned !== undefined) return itemTypes(walk, returned, { ...place, names: namesIn(walk, query, place) })
  const [only, another] = nodesAt(query, 'source')
  if (only === undefined || another !== undefined || nodeAt(query, 'aggregate') !== undefined) return []
  return itemTypes(walk, nodeAt(only, 'expression') ?? {}, place)
}

function elementOf(type: TypeSpecifier | undefined): TypeSpecifier | undefined {
  return type?.kind === 'list' ? type.element : type
}

function resourceTypes({ analysed: { model } }: Walk, type: TypeSpecifier | undefined): readonly string[] {
  if (type?.kind === 'choice')
    return type.choices.flatMap((choice) => (choice.kind === 'named' && isResource(model, choice.name) ? [choice.name] : []))
  return type?.kind === 'named' && isResource(model, type.name) ? [type.name] : []
}

function isResource(model: TypeModel, name: string): boolean {
  return model.type(name)?.kind === 'resource'
}

/** Records the element that is read, as a path from the resource, and visits the expression from which it is read. */
function visitProperty(walk: Walk, node: ElmNode, place: Place): void {
  const [at, path] = outermost(node)
  const source = nodeAt(at, 'source')
  const named = source !== undefined && typeOf(source) === 'IdentifierRef' ? textAt(source, 'name') : undefined
  if (named !== undefined && named !== ITEM) path.unshift(named)
  const alias = textAt(at, 'scope') ?? (source && holderOf(source))
  const types = (alias === undefined ? undefined : place.names.get(alias)) ?? (source === undefined ? [] : itemTypes(walk, source, place))
  noteElement(walk, types, path)
  if (source !== undefined && typeOf(source) !== 'IdentifierRef') visit(walk, source, place)
}

/** The property of which others are properties, and the path from there. */
function outermost(node: ElmNode): readonly [ElmNode, string[]] {
  const path: string[] = []
  let at = node
  for (;;) {
    path.unshift(textAt(at, 'path') ?? '')
    const source = nodeAt(at, 'source')
    if (source === undefined || typeOf(source) !== 'Property') return [at, path]
    at = source
  }
}

/** The name of the item to which an expression refers. */
function holderOf(source: ElmNode): string | undefined {
  switch (typeOf(source)) {
    case 'IdentifierRef':
      return ITEM
    case 'AliasRef':
    case 'OperandRef':
      return textAt(source, 'name')
    default:
      return undefined
  }
}

/** Notes an element of the item that a query sorts, unless it is the item itself. */
function noteItemElement(walk: Walk, names: Names, name = ''): void {
  if (name !== ITEM) noteElement(walk, names.get(ITEM) ?? [], [name])
}

function noteElement({ read, analysed }: Walk, types: readonly string[], path: readonly string[]): void {
  for (const type of types) {
    const elements = read.get(type) ?? new Set<string>()
    read.set(type, elements.add(elementPath(analysed.model, type, path.join('.').split('.'))))
  }
}

/** Removes the `value` of primitives from a path, because it is not an element in JSON. */
function elementPath(model: TypeModel, resource: string, path: readonly string[]): string {
  const known: string[] = []
  let type = model.type(resource)
  for (const name of path) {
    if (type?.kind === 'primitive') break
    known.push(name)
    const slots = type?.elements.get(name)
    type = slots?.[0] === undefined ? undefined : model.type(slots[0].type)
  }
  return known.join('.')
}

function follow(walk: Walk, node: ElmNode, { unit }: Place): void {
  const target = unitOf(walk, node, unit)
  if (target === undefined) return
  for (const def of definitionsOf(target, textAt(node, 'name') ?? '')) enter(walk, target, def)
}

function visitVocabulary(
  walk: Walk,
  ref: ElmNode | undefined,
  { place, section }: { readonly place: Place; readonly section: Section },
): void {
  if (ref !== undefined) canonicalOfRef(walk, ref, { unit: place.unit, section })
}

const FHIR_TYPES: Readonly<Record<string, string>> = {
  Boolean: 'boolean',
  Integer: 'integer',
  Long: 'string',
  Decimal: 'decimal',
  String: 'string',
  Date: 'date',
  DateTime: 'dateTime',
  Time: 'time',
  Quantity: 'Quantity',
  Ratio: 'Ratio',
  Code: 'Coding',
  Concept: 'CodeableConcept',
}

/** A parameter or result with the FHIR type for its CQL type (Using CQL with FHIR, 4.3); `Any` if there is none. */
function parameterDefinition(name: string, use: 'in' | 'out', type: TypeSpecifier | undefined): ParameterUse {
  const [element, max] = type?.kind === 'list' ? [type.element, '*'] : [type, '1']
  return { name, use, min: 0, max, type: typeCode(element) }
}

const TEMPORAL = ['Date', 'DateTime', 'Time']

function typeCode(type: TypeSpecifier | undefined): string {
  if (type?.kind === 'interval') return TEMPORAL.some((name) => isSystem(type.point, name)) ? 'Period' : 'Range'
  if (type?.kind !== 'named') return 'Any'
  if (type.namespace !== SYSTEM) return type.name
  return Object.hasOwn(FHIR_TYPES, type.name) ? (FHIR_TYPES[type.name] ?? 'Any') : 'Any'
}
