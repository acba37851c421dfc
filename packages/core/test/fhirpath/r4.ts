import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { modelOfDefinitions, type TypeModel } from '../../src/fhirpath/index.js'
import { suitePath } from '../../../../test/suites.js'
import { objectAt, objectsAt, stringAt, type JsonObject } from '../../src/json/index.js'

const DEFINITIONS = fileURLToPath(new URL('../../../r4/node_modules/hl7.fhir.r4.examples/', import.meta.url))
const EXAMPLES = suitePath('r4-examples', '/')

/** The R4 resources of a type as published. */
export function definitionsOf(type: string): readonly JsonObject[] {
  return readdirSync(DEFINITIONS)
    .filter((file) => file.startsWith(`${type}-`))
    .map((file): JsonObject => JSON.parse(readFileSync(DEFINITIONS + file, 'utf8')))
}

export const structureDefinitions: readonly JsonObject[] = definitionsOf('StructureDefinition')

export const r4Model: TypeModel = modelOfDefinitions(structureDefinitions)

/** A published invariant. */
export interface Constraint {
  readonly key: string
  readonly expression: string
}

/** The invariants of base types and elements, by path of the element (`Patient.contact`, `HumanName`). */
export function constraintsByPath(): ReadonlyMap<string, readonly Constraint[]> {
  const byPath = new Map<string, Constraint[]>()
  const base = structureDefinitions.filter((definition) => stringAt(definition, 'derivation') !== 'constraint')
  for (const element of base.flatMap((definition) => objectsAt(objectAt(definition, 'snapshot'), 'element'))) {
    byPath.set(stringAt(element, 'path') ?? '', constraintsOf(element))
  }
  return byPath
}

/** Every invariant with an expression, profiles included, once per expression. */
export function allConstraints(): readonly Constraint[] {
  const elements = structureDefinitions.flatMap((definition) => objectsAt(objectAt(definition, 'snapshot'), 'element'))
  return [...new Map(elements.flatMap(constraintsOf).map((constraint) => [constraint.expression, constraint])).values()]
}

/** The resources of the suite `r4-examples`. */
export function examples(): readonly JsonObject[] {
  return readdirSync(EXAMPLES)
    .filter((file) => file.endsWith('.ndjson'))
    .flatMap((file) => readFileSync(EXAMPLES + file, 'utf8').split('\n'))
    .filter((line) => line.trim() !== '')
    .map((line): JsonObject => JSON.parse(line))
}

function constraintsOf(element: JsonObject): Constraint[] {
  return objectsAt(element, 'constraint').flatMap((constraint) => {
    const expression = stringAt(constraint, 'expression')
    return expression === undefined ? [] : [{ key: stringAt(constraint, 'key') ?? '', expression }]
  })
}
