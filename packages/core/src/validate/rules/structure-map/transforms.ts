import { OperationError, quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import type { Work } from '../../../work/index.js'
import type { CodeList, GivenCode } from '../../run/definitions.js'
import { INHERITED } from '../../run/element-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { canBe, isNoType, isUnknown, typesOf, type Shape, typeNamed, MAP_VARIABLE, type Scope } from './scope.js'

/** An element that the type of a variable does not have, or a type that it cannot have. */
export const MAP_PATH: FindingDefinition = defineFinding(
  'structure-map-path',
  'error',
  'invalid',
  'Name an element of the type, and for a choice one of its types with it.',
)
/** A transform that cannot be executed. */
export const MAP_TRANSFORM: FindingDefinition = defineFinding(
  'structure-map-transform',
  'error',
  'invalid',
  'Give the transform the parameters that it takes.',
)

/** A translation whose codes do not fit the elements, or cannot be compared with them. */
export const MAP_TRANSLATION: FindingDefinition = defineFinding(
  'structure-map-translation',
  'warning',
  'invalid',
  'Map every code that the source can have to one that the target may have, and bind both to value sets that are known.',
)

/**
 * Minimum and maximum number of parameters of a transform. Date operations are not described.
 *
 * @see https://hl7.org/fhir/R4/valueset-map-transform.html
 */
const COUNTS: ReadonlyMap<string, readonly [number, number]> = new Map(
  Object.entries({
    create: [0, 1],
    copy: [0, 1],
    truncate: [2, 2],
    escape: [2, 3],
    cast: [1, 2],
    append: [1, Number.POSITIVE_INFINITY],
    translate: [2, 3],
    reference: [1, 1],
    uuid: [0, 0],
    pointer: [1, 1],
    evaluate: [1, 2],
    cc: [1, 3],
    c: [2, 3],
    qty: [1, 4],
    id: [2, 3],
    cp: [1, 2],
  } satisfies Record<string, readonly [number, number]>),
)

/** The types of the results of transforms, unless they depend on the parameters. */
const MADE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    truncate: 'string',
    escape: 'string',
    append: 'string',
    reference: 'string',
    uuid: 'string',
    pointer: 'string',
    cc: 'CodeableConcept',
    c: 'Coding',
    qty: 'Quantity',
    id: 'Identifier',
    cp: 'ContactPoint',
  }),
)

/** The possible results of `translate`. */
const OUTPUTS: readonly unknown[] = ['code', 'system', 'display', 'Coding', 'CodeableConcept']

const GIVES_CODE: ReadonlySet<unknown> = new Set(['code', 'Coding', 'CodeableConcept'])

/** A parameter: the name of a variable, or a value. */
interface Parameter {
  readonly variable: string | undefined
  readonly value: unknown
}

/** The place of a transform. */
interface TransformPlace {
  readonly map: FhirNode
  readonly scope: Scope
  /** The element that is written to, if it is known. */
  readonly shape: Shape | undefined
}

/** Checks the transform of a target. Returns the type of its result, a code or a canonical, if the transform determines it. */
export function checkTransform(run: Run, target: FhirNode, place: TransformPlace): string | undefined {
  const transform = textOf(target, 'transform')
  const parameters = childrenOf(run, target, 'parameter').map(parameterOf)
  const say = (text: string): void => run.findings.report(MAP_TRANSFORM, target, { text })
  if (transform === undefined) {
    if (parameters.length > 0) say('Parameters are for a transform, of which there is none.')
    return undefined
  }
  const [least, most] = COUNTS.get(transform) ?? [0, Number.POSITIVE_INFINITY]
  if (parameters.length < least || parameters.length > most)
    say(`The transform ${transform} takes ${rangeText(least, most)}, not ${parameters.length}.`)
  checkVariables(run, target, parameters, place.scope)
  if (transform === 'translate') checkTranslation(run, target, parameters, place)
  if (transform === 'evaluate') checkExpression(run, target, parameters.at(-1))
  return transform === 'create' ? createdType(run, target, parameters, place) : madeType(transform, parameters, place)
}

function rangeText(least: number, most: number): string {
  if (most === Number.POSITIVE_INFINITY) return `${least} or more parameters`
  return least === most ? `${least === 0 ? 'no' : least} parameter${least === 1 ? '' : 's'}` : `${least} to ${most} parameters`
}

function parameterOf({ value }: FhirNode): Parameter {
  const [name, given] = isObject(value) ? (Object.entries(value).find(([member]) => member.startsWith('value')) ?? []) : []
  return { variable: name === 'valueId' && typeof given === 'string' ? given : undefined, value: given }
}

function checkVariables(run: Run, target: FhirNode, parameters: readonly Parameter[], scope: Scope): void {
  for (const { variable } of parameters) {
    if (variable !== undefined && scope.find(variable, 'source') === undefined && scope.find(variable, 'target') === undefined)
      run.findings.report(MAP_VARIABLE, target, { text: `There is no variable ${quoted(variable)} here.`, code: 'invalid' })
  }
}

function createdType(run: Run, target: FhirNode, [parameter]: readonly Parameter[], { map, shape }: TransformPlace): string | undefined {
  if (typeof parameter?.value !== 'string') return undefined
  const type = typeNamed(map, parameter.value, 'target')
  if (isUnknown(run, type)) {
    run.findings.report(MAP_TRANSFORM, target, {
      text: `There is no definition of the type ${quoted(type)}.`,
      ...(!isNoType(run, type) && { severity: 'warning' }),
    })
    return type
  }
  if (shape !== undefined && !canBe(run, shape, type))
    run.findings.report(MAP_PATH, target, { text: `The element is ${typesOf(shape).join(' or ')}, and cannot be ${quoted(type)}.` })
  return type
}

/** The type of the result. A copy keeps its type if it has only one. */
function madeType(transform: string, [first]: readonly Parameter[], { scope }: TransformPlace): string | undefined {
  if (transform !== 'copy') return MADE.get(transform)
  const copied = first?.variable === undefined ? undefined : scope.find(first.variable, 'source')?.shape
  const types = copied === undefined ? [] : typesOf(copied)
  return types.length === 1 ? types[0] : undefined
}

function checkTranslation(run: Run, target: FhirNode, parameters: readonly Parameter[], { map, scope, shape }: TransformPlace): void {
  const [source, concepts, output] = parameters
  if (output !== undefined && !OUTPUTS.includes(output.value))
    run.findings.report(MAP_TRANSFORM, target, {
      text: `A translation gives one of ${OUTPUTS.join(', ')}, not ${quoted(shownJson(output.value))}.`,
    })
  if (typeof concepts?.value !== 'string' || concepts.variable !== undefined) return
  const found = conceptMapFor(run, target, concepts.value, map)
  if (found === undefined || !GIVES_CODE.has(output?.value ?? 'code')) return
  const shapes = { source: scope.find(source?.variable ?? '', 'source')?.shape, target: shape }
  run.scheduler.later(() => checkTranslated(run, target, found, shapes))
}

/** The concept map of a translation, if it is known; reports one that is not. */
function conceptMapFor(run: Run, target: FhirNode, canonical: string, { value }: FhirNode): JsonObject | undefined {
  const isContained = canonical.startsWith('#')
  const resources = isContained && isObject(value) ? objectsAt(value, 'contained') : []
  const contained = resources.find((one) => one['resourceType'] === 'ConceptMap' && one['id'] === canonical.slice(1))
  const found = isContained ? contained : run.definitions.definition('ConceptMap', canonical)
  if (found === undefined)
    run.findings.report(MAP_TRANSFORM, target, {
      text: `The concept map ${quoted(canonical)} could not be found.`,
      severity: isContained ? 'error' : 'warning',
      code: 'not-found',
    })
  return found === PENDING ? undefined : found
}

/** The codes that an element can have. */
interface BoundCodes {
  readonly list: CodeList
  /** Those that can be listed. */
  readonly members: readonly GivenCode[]
}

/** The codes that an element can have; reports when they are not known. */
function boundCodes(run: Run, target: FhirNode, { rule }: Shape, side: 'source' | 'target'): BoundCodes | undefined {
  const say = (why: string): undefined => {
    run.findings.report(MAP_TRANSLATION, target, { text: `${why}, so that the concept map is not compared with the codes of the ${side}.` })
    return undefined
  }
  const binding = rule.bindings.find(({ strength, isAdditional }) => strength === 'required' && isAdditional !== true)
  if (binding === undefined) return say(`The ${side} has no required binding`)
  if (binding.valueSet === INHERITED) return undefined
  const list = run.definitions.valueSet(binding.valueSet)
  if (list === PENDING) return undefined
  if (list === undefined) return say(`The value set ${quoted(binding.valueSet)} could not be found`)
  const members = list.problem === undefined ? list.members() : []
  return members.length === 0 ? say(`The codes of ${quoted(binding.valueSet)} cannot be listed`) : { list, members }
}

/** The elements of a translation, as far as they are known. */
interface Translated {
  readonly source: Shape | undefined
  readonly target: Shape | undefined
}

/** Number of mappings that are looked at in one go. */
const PIECE = 200

/** Reports the codes that a concept map leaves out, and those that it leads to and that the target may not have. */
function* checkTranslated(run: Run, target: FhirNode, map: JsonObject, shapes: Translated): Work<void> {
  const from = shapes.source && boundCodes(run, target, shapes.source, 'source')
  const to = shapes.target && boundCodes(run, target, shapes.target, 'target')
  const mappings: Mapping[] = []
  for (const group of objectsAt(map, 'group')) mappings.push(yield* mappingOf(group))
  const listed = mappings.flatMap((mapping) => mapping.listed.map((code) => ({ code, mapping })))
  const mappingsFor = byCode(listed, mappings)
  const [missing, wrong] = [new Set<string>(), new Set<string>()]
  let seen = 0
  for (const code of from?.members ?? listed.map((one) => one.code)) {
    let isMapped = from === undefined
    for (const mapping of mappingsFor(code)) {
      if (++seen % PIECE === 0) yield
      const targets = mapping.targets(code)
      isMapped ||= targets?.length !== 0
      for (const { code: stray } of targets?.filter((one) => to?.list.has(one) === 'out') ?? []) wrong.add(stray)
    }
    if (!isMapped) missing.add(code.code)
  }
  const say = (text: string, codes: ReadonlySet<string>): void => {
    if (codes.size > 0) run.findings.report(MAP_TRANSLATION, target, { text: `${text}: ${[...codes].slice(0, 10).join(', ')}.` })
  }
  say('The concept map does not map all codes that the source can have', missing)
  say('The concept map leads to codes that the target may not have', wrong)
}

/** Returns the groups that can map a code: those that list it, and those that map codes that they do not list. */
function byCode(listed: readonly Listed[], mappings: readonly Mapping[]): (code: GivenCode) => ReadonlySet<Mapping> {
  const open = mappings.filter(({ isOpen }) => isOpen)
  const listing = Map.groupBy(listed, ({ code: { code } }) => code)
  return ({ code }) => new Set([...(listing.get(code)?.map(({ mapping }) => mapping) ?? []), ...open])
}

interface Listed {
  readonly code: GivenCode
  readonly mapping: Mapping
}

/** A group of a concept map. */
interface Mapping {
  /** The codes that it lists. */
  readonly listed: readonly GivenCode[]
  /** Whether it also maps codes that it does not list. */
  readonly isOpen: boolean
  /** The codes that a code is mapped to; `undefined` where another concept map decides. */
  readonly targets: (code: GivenCode) => readonly GivenCode[] | undefined
}

/** Equivalences that say that there is no target. */
const UNMATCHED: ReadonlySet<unknown> = new Set(['unmatched', 'disjoint'])

function* mappingOf(group: JsonObject): Work<Mapping> {
  const [system, other] = ['source', 'target'].map((side) => stringAt(group, side)?.split('|', 1)[0])
  const known = new Map<string, string[]>()
  for (const [index, element] of objectsAt(group, 'element').entries()) {
    if ((index + 1) % PIECE === 0) yield
    const code = stringAt(element, 'code') ?? ''
    const own = known.get(code) ?? []
    for (const one of objectsAt(element, 'target'))
      if (!UNMATCHED.has(one['equivalence'])) own.push(...[stringAt(one, 'code') ?? []].flat())
    known.set(code, own)
  }
  const rest = objectAt(group, 'unmapped')
  const unlisted = (code: string): readonly string[] | undefined => {
    if (rest?.['mode'] === 'other-map') return undefined
    return rest?.['mode'] === 'provided' ? [code] : [stringAt(rest ?? {}, 'code') ?? []].flat()
  }
  return {
    listed: [...known.keys()].map((code) => ({ system, code })),
    isOpen: rest !== undefined,
    targets: (given) => {
      if (system !== undefined && given.system !== undefined && given.system !== system) return []
      return (known.get(given.code) ?? unlisted(given.code))?.map((code) => ({ system: other, code }))
    },
  }
}

function checkExpression(run: Run, target: FhirNode, expression: Parameter | undefined): void {
  if (typeof expression?.value !== 'string' || expression.variable !== undefined) return
  try {
    run.definitions.expression(expression.value)
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    run.findings.report(MAP_TRANSFORM, target, { text: `The expression is invalid: ${error.message}` })
  }
}
