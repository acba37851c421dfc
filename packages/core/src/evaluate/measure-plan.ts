import { OperationError, quoted } from '../errors/index.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../json/index.js'
import { conceptOf } from './concept.js'
import {
  aggregateMethodOf,
  appliesToOf,
  basisOf,
  criteriaReferenceOf,
  evidenceOf,
  expressionCodeOf,
  notationOf,
  scoringOf,
} from './measure-extensions.js'

const MAX_GROUPS = 100
/** Maximum number of populations of a Measure, or of all components of a composite measure together. */
export const MAX_POPULATIONS = 500

/** What a Measure counts. */
export interface MeasurePlan {
  readonly groups: readonly GroupPlan[]
  /** Supplemental data and risk adjustment factors. */
  readonly supplements: readonly Supplement[]
}

/** Data to report besides the populations, for the subjects of the initial populations. */
export interface Supplement extends Criterion {
  readonly id?: string
  readonly code?: JsonObject
}

/** One group: populations that belong together. */
export interface GroupPlan {
  readonly id?: string
  /** Copied into the report unchanged. */
  readonly code?: JsonObject
  /** Code of the scoring, for example `proportion`; when absent, each population is counted separately. */
  readonly scoring?: string
  /** Whether more is better, if the group itself states it: a CodeableConcept. */
  readonly improvementNotation?: JsonObject
  /** The Measure that defines it, if it is a component of a composite measure. */
  readonly component?: ComponentName
  readonly populations: readonly Population[]
  readonly stratifiers: readonly Stratifier[]
  /** FHIRPath in the Measure. */
  readonly path: string
  /** The place in words, for messages. */
  readonly place: string
}

/** The name of a component of a composite measure. */
export interface ComponentName {
  /** `url|version` of its Measure. */
  readonly measure: string
  /** Id of the group that is used, if the composite names it. */
  readonly groupId?: string
}

/** An expression that selects something, and its place. */
export interface Criterion {
  readonly language: string
  readonly expression: string
  /** FHIRPath of the element that holds `criteria`. */
  readonly path: string
  /** The place in words, for messages. */
  readonly place: string
  /** What is counted: `boolean` for subjects, or a resource type; absent when the Measure does not state it. */
  readonly basis?: string
  /** With basis `boolean`: a subject counts if any of its items satisfies the criterion, as in components of composite measures. */
  readonly anyItem?: true
  /** References to what satisfies it, if that is known: a language that takes `givenMembers` does not evaluate it then. */
  readonly members?: ReadonlySet<string>
}

/** One population of a group. */
export interface Population extends Criterion {
  readonly id?: string
  /** Copied into the report unchanged. */
  readonly code?: JsonObject
  /** Every code of `code`: the population's kind is among them. */
  readonly kinds: readonly string[]
  /** Id of another population of the group, for the two initial populations of a ratio. */
  readonly criteriaReference?: string
  /** How observations are aggregated. */
  readonly aggregateMethod?: string
  /** Expressions whose results are reported with the population. */
  readonly evidence?: readonly Evidence[]
}

/** Supporting evidence of a population: why a subject is in it. */
export interface Evidence extends Criterion {
  readonly name: string
  readonly description?: string
  /** A CodeableConcept. */
  readonly code?: JsonObject
}

/** Divides the populations of a group. */
export interface Stratifier {
  readonly id?: string
  readonly code?: JsonObject
  /** Its own criterion, or those of its components in order. */
  readonly criteria: readonly StratifierCriterion[]
  /** Whether it has components, whose codes say what their values mean. */
  readonly byComponents: boolean
  /** Indexes of the populations that it divides, with those within them; all when absent. */
  readonly appliesTo?: readonly number[]
}

/** A criterion of a stratifier. */
export interface StratifierCriterion extends Criterion {
  /** Code of the component; absent for the stratifier's own. */
  readonly code?: JsonObject
}

/**
 * Reads a Measure.
 *
 * @throws {OperationError} `too-costly` above 100 groups or 500 populations, including those of strata; `definition-required` for missing
 *   criteria or a missing expression; `definition-invalid` for an id that two populations of a group have, for a stratifier with criteria and components,
 *   and for an unknown improvement notation; `not-supported` for an absent language.
 * @see https://hl7.org/fhir/R4/measure.html
 */
export function planOf(measure: JsonObject): MeasurePlan {
  const groups = objectsAt(measure, 'group')
  const populations = groups.reduce((sum, group) => sum + populationsIn(group), 0)
  if (groups.length > MAX_GROUPS || populations > MAX_POPULATIONS) {
    throw new OperationError('too-costly', `The Measure has more than ${MAX_GROUPS} groups or ${MAX_POPULATIONS} populations.`, {
      expression: ['Measure.group'],
    })
  }
  checkNotation(measure, 'Measure')
  for (const [index, group] of groups.entries()) checkNotation(group, `Measure.group[${index}]`)
  return { groups: groups.map((group, index) => groupPlan(group, { measure, index })), supplements: supplementsOf(measure) }
}

/** The codes to which R4 binds `improvementNotation`, in Measures and in reports. */
const NOTATIONS: ReadonlySet<string | undefined> = new Set(['increase', 'decrease'])
const NOTATION_SYSTEM = 'http://terminology.hl7.org/CodeSystem/measure-improvement-notation'

function checkNotation(holder: JsonObject, path: string): void {
  const wrong = objectsAt(notationOf(holder), 'coding').find(
    (coding) => stringAt(coding, 'system') === NOTATION_SYSTEM && !NOTATIONS.has(stringAt(coding, 'code')),
  )
  if (wrong === undefined) return
  throw new OperationError(
    'definition-invalid',
    `The improvement notation must be 'increase' or 'decrease', not ${quoted(stringAt(wrong, 'code') ?? '')}.`,
    { expression: [`${path}.improvementNotation`] },
  )
}

function supplementsOf(measure: JsonObject): readonly Supplement[] {
  return objectsAt(measure, 'supplementalData').map((supplement, i) => {
    const at = { path: `Measure.supplementalData[${i}]`, place: `Supplemental data ${i + 1}`, basis: undefined }
    return { ...headOf(supplement), ...criterion(supplement, at) }
  })
}

function evidencePlan(expression: JsonObject, { path, place, basis }: Place): Evidence {
  const name = stringAt(expression, 'name')
  const at = { path, place: `${place}, supporting evidence`, basis }
  if (name === undefined)
    throw new OperationError('definition-required', `${at.place} has no name, by which the report refers to it.`, {
      expression: [`${path}.extension`],
    })
  const [description, code] = [stringAt(expression, 'description'), expressionCodeOf(expression)]
  return {
    name,
    ...(description !== undefined && { description }),
    ...(code !== undefined && { code }),
    ...criterion({ criteria: expression }, { ...at, place: `${at.place} ${quoted(name)}` }),
  }
}

/** The number of populations in a group. Every stratifier repeats each population, and has criteria of its own. */
function populationsIn(group: JsonObject): number {
  const stratifiers = objectsAt(group, 'stratifier')
  const criteria = stratifiers.reduce((sum, stratifier) => sum + Math.max(1, objectsAt(stratifier, 'component').length), 0)
  return objectsAt(group, 'population').length * (1 + stratifiers.length) + criteria
}

function groupPlan(group: JsonObject, { measure, index }: { readonly measure: JsonObject; readonly index: number }): GroupPlan {
  const path = `Measure.group[${index}]`
  const place = `Group ${index + 1}`
  const scoring = scoringOf(group, measure)
  const improvementNotation = notationOf(group)
  const derivedBasis = derivedBases(group)
  const populations = objectsAt(group, 'population').map((population, i) => {
    const at = { path: `${path}.population[${i}]`, place: `${place}, population ${i + 1}` }
    return populationPlan(population, { ...at, basis: derivedBasis(population) ?? basisOf(group, measure) })
  })
  checkIds(populations)
  return {
    ...headOf(group),
    ...(scoring !== undefined && { scoring }),
    ...(improvementNotation !== undefined && { improvementNotation }),
    path,
    place,
    populations,
    stratifiers: objectsAt(group, 'stratifier').map((stratifier, i) => {
      const at = { path: `${path}.stratifier[${i}]`, place: `${place}, stratifier ${i + 1}` }
      return stratifierPlan(stratifier, { ...at, basis: basisOf(group, measure), populations })
    }),
  }
}

/**
 * The basis that a population states, or else that of the nearest population that it derives from and that states one: a numerator has the basis of its
 * initial population (Quality Measure IG, CR 3.10).
 */
function derivedBases(group: JsonObject): (population: JsonObject) => string | undefined {
  const sourceOf = sourcesIn(objectsAt(group, 'population'))
  const known = new Map<JsonObject, string | undefined>()
  return (population) => {
    const chain = new Set<JsonObject>()
    let basis: string | undefined
    let next: JsonObject | undefined = population
    while (next !== undefined && basis === undefined && !known.has(next) && !chain.has(next)) {
      chain.add(next)
      basis = basisOf(next)
      next = sourceOf(next)
    }
    if (basis === undefined && next !== undefined) basis = known.get(next)
    for (const derived of chain) known.set(derived, basis)
    return known.get(population)
  }
}

/** The population that a population derives from: the one that it refers to, or from which it is an exclusion. */
function sourcesIn(populations: readonly JsonObject[]): (population: JsonObject) => JsonObject | undefined {
  const byId = Map.groupBy(populations, (population) => stringAt(population, 'id'))
  const byKind = new Map(populations.toReversed().flatMap((population) => kindsOf(population).map((kind) => [kind, population])))
  return (population) => {
    const reference = criteriaReferenceOf(population)
    if (reference !== undefined) return byId.get(reference)?.[0]
    const exclusion = kindsOf(population).find((kind) => kind.endsWith(EXCLUSION))
    return exclusion === undefined ? undefined : byKind.get(exclusion.slice(0, -EXCLUSION.length))
  }
}

const EXCLUSION = '-exclusion'

function kindsOf(population: JsonObject): readonly string[] {
  const codes = objectsAt(objectAt(population, 'code'), 'coding').map((coding) => stringAt(coding, 'code'))
  return codes.filter((code) => code !== undefined)
}

/** Checks that the ids of a group's populations are unique, because references use them. */
function checkIds(populations: readonly Population[]): void {
  const ids = new Set<string>()
  for (const { id, path, place } of populations) {
    if (id === undefined) continue
    if (ids.has(id))
      throw new OperationError('definition-invalid', `${place} has the id ${quoted(id)} of another.`, { expression: [`${path}.id`] })
    ids.add(id)
  }
}

interface Place {
  readonly path: string
  readonly place: string
  readonly basis: string | undefined
}

function populationPlan(population: JsonObject, at: Place): Population {
  const kinds = kindsOf(population)
  const criteriaReference = criteriaReferenceOf(population)
  const aggregateMethod = aggregateMethodOf(population)
  const evidence = evidenceOf(population).map((expression) => evidencePlan(expression, at))
  return {
    ...headOf(population),
    ...criterion(population, { ...at, place: kinds[0] === undefined ? at.place : `${at.place} (${quoted(kinds[0])})` }),
    kinds,
    ...(criteriaReference !== undefined && { criteriaReference }),
    ...(aggregateMethod !== undefined && { aggregateMethod }),
    ...(evidence.length > 0 && { evidence }),
  }
}

function stratifierPlan(stratifier: JsonObject, { populations, ...at }: Place & Pick<GroupPlan, 'populations'>): Stratifier {
  const components = objectsAt(stratifier, 'component')
  const byComponents = components.length > 0
  if (byComponents && stratifier['criteria'] !== undefined) {
    throw new OperationError('definition-invalid', `${at.place} has criteria and components.`, { expression: [at.path] })
  }
  const criteria = byComponents
    ? components.map((component, i) =>
        componentPlan(component, { ...at, path: `${at.path}.component[${i}]`, place: `${at.place}, component ${i + 1}` }),
      )
    : [criterion(stratifier, at)]
  const appliesTo = appliesToOf(stratifier).flatMap((kind) => {
    const named = populations.flatMap(({ kinds }, index) => (kinds.includes(kind) ? [index] : []))
    if (named.length > 0) return named
    throw new OperationError('definition-invalid', `${at.place} applies to ${quoted(kind)}, which is not a population of the group.`, {
      expression: [`${at.path}.extension`],
    })
  })
  return { ...headOf(stratifier), criteria, byComponents, ...(appliesTo.length > 0 && { appliesTo }) }
}

function componentPlan(component: JsonObject, at: Place): StratifierCriterion {
  const own = criterion(component, at)
  return { code: codeOfComponent(component, own), ...own }
}

/** In R4, a Measure need not state the code of a component, but the report must: its code is then the description, or the expression, as text. */
function codeOfComponent(component: JsonObject, { expression }: Criterion): JsonObject {
  const code = conceptOf(objectAt(component, 'code'))
  if (code !== undefined && Object.keys(code).length > 0) return { ...code }
  return { text: stringAt(component, 'description') ?? expression }
}

function headOf(element: JsonObject): { readonly id?: string; readonly code?: JsonObject } {
  const id = stringAt(element, 'id')
  const code = objectAt(element, 'code')
  return { ...(id !== undefined && { id }), ...(code !== undefined && { code }) }
}

function criterion(element: JsonObject, { path, place, basis }: Place): Criterion {
  const criteria = objectAt(element, 'criteria')
  const expression = stringAt(criteria, 'expression')
  const language = stringAt(criteria, 'language')
  if (criteria === undefined || expression === undefined) {
    const missing = criteria === undefined ? 'criteria' : 'criteria.expression'
    throw new OperationError('definition-required', `${place} has no ${missing}.`, { expression: [`${path}.${missing}`] })
  }
  if (language === undefined) {
    throw new OperationError('not-supported', `${place} has no criteria.language.`, { expression: [`${path}.criteria.language`] })
  }
  return { language, expression, path, place, ...(basis !== undefined && { basis }) }
}
