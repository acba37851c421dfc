import { OperationError } from 'fhir-ops/errors'
import type { Criterion } from 'fhir-ops/internal/evaluate'
import { compileFhirPath, PENDING, rootNode, type Item, type TypeModel } from 'fhir-ops/fhirpath'
import { isDecimal, isNode, isQuantity, isTemporal, textOfValue } from 'fhir-ops/internal/fhirpath'
import { quoted } from 'fhir-ops/internal/errors'
import { withNearest } from 'fhir-ops/internal/text'
import type { Evaluation, RetrieveRequest } from '../compile/compiler.js'
import { definitionsNamed, libraryIn } from '../elm/library.js'
import { nodeAt, nodesAt, type ElmNode } from '../elm/node.js'
import { functionsOf, operandType } from '../libraries/functions.js'
import { isSystem, resultTypeOf, type TypeSpecifier } from '../elm/type-specifier.js'
import { isUnfilteredContext } from '../libraries/opened.js'
import type { CqlLibrary, Definition } from '../libraries/library.js'
import { decimalOfNumber } from '../values/decimal.js'
import { parseDateTime, parseTime } from '../values/temporal.js'
import { isFhir, quantity, type Value } from '../values/value.js'
import { referenceOf } from '../model/fhir-types.js'
import { FHIRPATH_LANGUAGE } from './languages.js'
import { namedDefinition } from './loaded-measure.js'
import type { Prepared } from './prepare.js'

/** A compiled criterion in any of the languages. */
export interface CompiledCriterion {
  /** Its value for the subject; absent for a function of an item. */
  readonly ofSubject?: (evaluation: Evaluation) => Value
  /** Its value for an item; absent if it is not evaluated for items. */
  readonly ofItem?: (evaluation: Evaluation, item: Value) => Value
  readonly place: string
  readonly basis: string | undefined
  /** Whether its value for a subject is a list of values that are not resources. An empty list does not show this, so it is known only from the type. */
  readonly listsValues?: boolean
  /** Whether its value is known to be a list of the counted items: dates with basis `date`. */
  readonly listsItems?: boolean
  /** Whether its value is known to be a boolean. Null is then not a value either. */
  readonly isTruth?: boolean
  /** With basis `boolean`: the criterion holds for a subject if it returns any item. */
  readonly anyItem?: true | undefined
}

/**
 * Compiles a criterion: a definition or function of the library, an expression, or FHIRPath.
 *
 * @throws {OperationError} `definition-not-found` for a name that the library does not define; `definition-invalid` for a function of other resources than
 *   those that are counted; `fhirpath-invalid`.
 */
export function compiledCriterion(criterion: Criterion, prepared: Prepared): CompiledCriterion {
  const { language, expression, place, basis, anyItem, members } = criterion
  const head = { place, basis, anyItem }
  if (members !== undefined) return { ...head, ofSubject: givenMembers(members, criterion, prepared) }
  if (language === FHIRPATH_LANGUAGE) return { ...head, ...compiledPath(criterion, prepared) }
  const inline = prepared.expressions.get(expression)
  if (inline !== undefined) {
    const { library, name } = inline
    const place = { criterion, subjectType: prepared.links.subjectType }
    return {
      ...head,
      ...definitionOf(library, name, place),
      ...listing(prepared.loaded.expressions?.elm, { name, basis, model: prepared.model }),
    }
  }
  const { at, name = '' } = namedDefinition(prepared.loaded, criterion) ?? {}
  const library = at === undefined ? undefined : prepared.libraries[at]
  const named = library === undefined ? {} : definitionOf(library, name, { criterion, subjectType: prepared.links.subjectType })
  if (named.ofSubject !== undefined || named.ofItem !== undefined) {
    const elm = prepared.loaded.libraries[at ?? -1]?.library.elm
    if (named.ofItem !== undefined) checkOperand(functionsOf(libraryIn(elm ?? {}), name, 1), criterion, prepared)
    return { ...head, ...named, ...listing(elm, { name, basis, model: prepared.model }) }
  }
  throw unknownDefinition(criterion, prepared)
}

/** Given members: of a subject whether it is one or, if items are counted, itself and those of its resources that are. */
function givenMembers(members: ReadonlySet<string>, { basis }: Criterion, { links, given }: Prepared): (evaluation: Evaluation) => Value {
  if (basis === 'boolean') return ({ subject }) => subject !== null && members.has(referenceOf(subject))
  const types = new Set([...members].map((reference) => reference.slice(0, reference.indexOf('/'))))
  const requests = [...types].map((type) => ({ ...EVERYTHING, type }))
  // Announced, so that all resources of the type are read for a subject, whatever other retrieves find.
  for (const request of requests) given.source.onRetrieve?.(request, {})
  return (evaluation) => {
    const { subject } = evaluation
    const found = requests.flatMap((request) => (request.type === links.subjectType ? (subject ?? []) : evaluation.retrieve(request)))
    evaluation.spend(found.length)
    return found.filter((resource) => members.has(referenceOf(resource)))
  }
}

const EVERYTHING: Omit<RetrieveRequest, 'type'> = {
  profile: undefined,
  unfiltered: false,
  codePath: undefined,
  codes: undefined,
  datePath: undefined,
  dateRange: null,
}

function unknownDefinition({ place, path, expression }: Criterion, { libraries }: Prepared): OperationError {
  if (libraries.length === 0)
    return new OperationError('definition-not-found', `${place} is the name of a definition, while the Measure names no library.`, {
      expression: ['Measure.library'],
    })
  const call = libraries.map((library) => library.callOf(expression)).find((text) => text !== undefined)
  if (call !== undefined)
    return new OperationError('definition-not-found', `${place} names a function. An expression can call it: ${call}.`, {
      expression: [`${path}.criteria.expression`],
    })
  const owners = libraries.map(({ id }) => `library ${id}`).join(' and ')
  const problem = `${place}: ${owners} ${libraries.length === 1 ? 'has' : 'have'} no definition ${quoted(expression)}.`
  const known = libraries.flatMap(({ names }) => names)
  return new OperationError('definition-not-found', withNearest(problem, expression, known), {
    expression: [`${path}.criteria.expression`],
  })
}

/** Checks that a function is not of resources of another type than those that are counted; its value for these would be null. */
function checkOperand(functions: readonly ElmNode[], { place, path, basis }: Criterion, { model, links }: Prepared): void {
  const counted = basis === 'boolean' ? links.subjectType : basis
  if (counted === undefined || !isResourceType(counted, model)) return
  const types = functions.flatMap((def) => nodesAt(def, 'operand').map(operandType))
  const others = types.flatMap((type) => (type?.kind === 'named' && isOtherResource(type.name, counted, model) ? [type.name] : []))
  if (others.length === 0 || others.length < types.length) return
  throw new OperationError('definition-invalid', `${place} names a function of ${others.join(' and ')}, while ${counted} is counted.`, {
    expression: [`${path}.criteria.expression`],
  })
}

function isOtherResource(name: string, counted: string, model: TypeModel): boolean {
  return name !== counted && name !== 'Resource' && name !== 'DomainResource' && isResourceType(name, model)
}

interface Named {
  readonly name: string
  readonly basis: string | undefined
  readonly model: TypeModel
}

/** The properties of a criterion that follow from the type of its definition. */
function listing(
  elm: ElmNode | undefined,
  { name, basis, model }: Named,
): Pick<CompiledCriterion, 'isTruth' | 'listsItems' | 'listsValues'> {
  if (elm === undefined) return {}
  const [def = {}] = definitionsNamed(libraryIn(elm), 'statements', name)
  const type = resultTypeOf(nodeAt(def, 'expression') ?? {}) ?? resultTypeOf(def)
  if (type?.kind !== 'list') return { isTruth: type?.kind === 'named' && type.name.toLowerCase() === 'boolean' }
  const isCounted = basis !== undefined && basis !== 'boolean'
  return { listsValues: isOfValues(type.element, model), listsItems: isCounted && isOfBasis(type.element, basis) }
}

/** Whether a type is known not to be a resource. */
function isOfValues(listed: TypeSpecifier, model: TypeModel): boolean {
  const elements = listed.kind === 'choice' ? listed.choices : [listed]
  return elements.every((element) => element.kind !== 'named' || (element.name !== 'Any' && !isResourceType(element.name, model)))
}

/** Whether a FHIR or CQL type matches a basis: `Date` matches `date`, and an interval of dates matches `Period`. */
function isOfBasis(listed: TypeSpecifier, basis: string): boolean {
  if (listed.kind === 'named') return listed.name.toLowerCase() === basis.toLowerCase()
  if (listed.kind !== 'interval') return false
  const isOfDates = isSystem(listed.point, 'Date') || isSystem(listed.point, 'DateTime')
  return basis === (isOfDates ? 'Period' : 'Range')
}

function isResourceType(name: string, model: TypeModel): boolean {
  return name === 'Resource' || name === 'DomainResource' || model.type(name)?.kind === 'resource'
}

interface NamingCriterion {
  readonly criterion: Criterion
  readonly subjectType: string
}

function definitionOf(library: CqlLibrary, name: string, naming: NamingCriterion): Pick<CompiledCriterion, 'ofItem' | 'ofSubject'> {
  const definition = library.definition(name)
  if (definition !== undefined) checkContext(definition, naming)
  const ofSubject = definition?.compute ?? library.invocable(name, [])
  if (ofSubject !== undefined) return { ofSubject }
  const current: { item: Value } = { item: null }
  const call = library.invocable(name, [() => current.item])
  if (call === undefined) return {}
  return {
    ofItem: (evaluation, item) => {
      current.item = item
      return call(evaluation)
    },
  }
}

function checkContext({ name, context }: Definition, { criterion, subjectType }: NamingCriterion): void {
  if (context === subjectType || isUnfilteredContext(context)) return
  throw new OperationError(
    'definition-invalid',
    `${criterion.place}: ${quoted(name)} is in the context ${context}, while the subjects of the Measure are of type ${quoted(subjectType)}.`,
    { expression: [`${criterion.path}.criteria.expression`] },
  )
}

/** FHIRPath is evaluated on the item if that is a resource, otherwise on the subject. */
function compiledPath(criterion: Criterion, prepared: Prepared): Pick<CompiledCriterion, 'ofItem' | 'ofSubject'> {
  const { model, convert, offset } = prepared
  const path = compileFhirPath(criterion.expression, { model })
  const valueOf = (evaluation: Evaluation, focus: Value): Value => {
    if (focus === null || !isFhir(focus)) return null
    const root = rootNode(model, focus.json)
    const items = path.evaluate({ resource: root, host: { convertUnit: convert }, now: () => new Date(evaluation.now.low) }, root)
    if (items === PENDING) throw new OperationError('not-supported', `${criterion.place}: the FHIRPath needs what is not available here.`)
    evaluation.spend(items.length)
    const values = items.map((item) => valueOfItem(item, offset))
    return values.length < 2 ? (values[0] ?? null) : values
  }
  return { ofSubject: (evaluation) => valueOf(evaluation, evaluation.subject), ofItem: valueOf }
}

function valueOfItem(item: Item, offset: number): Value {
  if (typeof item !== 'object') return item
  if (isNode(item)) return { kind: 'fhir', type: item.type, json: item.value }
  if (isDecimal(item)) return decimalOfNumber(Number(textOfValue(item))) ?? null
  if (isTemporal(item)) {
    const text = textOfValue(item)
    return (item.kind === 'time' ? parseTime(text) : parseDateTime(text, offset, item.kind === 'date' ? 'date' : undefined)) ?? null
  }
  if (!isQuantity(item)) return null
  const amount = decimalOfNumber(item.value.value)
  return amount === undefined ? null : quantity(amount, item.unit)
}

/** The value of a criterion for one member. */
export function valueFor({ ofSubject, ofItem }: CompiledCriterion, member: Value, evaluation: Evaluation): Value {
  return ofItem === undefined ? (ofSubject?.(evaluation) ?? null) : ofItem(evaluation, member)
}
