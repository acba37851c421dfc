import type { JsonObject } from 'fhir-ops/internal/json'
import { once } from 'fhir-ops/internal/terminology'
import { rowsOf, type RowRange } from '../evaluate/ecl-scope.js'
import type { SnomedIndex } from '../release/snomed-index.js'
import { definitionOf, displayTerm, type DisplayDialect } from './texts.js'
import { conceptForm, renderExpression, rowsIn, type ConceptNames, type Row, type WrittenForm } from '../expression/expression.js'

/** Returns a concept in the form of `CodeSystem.concept`. Members are read when they are accessed; the display is read only once. */
export function conceptElement(index: SnomedIndex, concept: number, dialect: DisplayDialect): JsonObject {
  const display = once(() => displayTerm(index, concept, dialect))
  return {
    get code() {
      return index.id(concept)
    },
    get display() {
      return display()
    },
    get definition() {
      return definitionOf(index, concept)
    },
    get property() {
      const isDefined = { code: 'sufficientlyDefined', valueBoolean: index.isDefined(concept) }
      const forms = index.isActive(concept) ? normalForms(index, dialect, () => conceptForm(index, concept)) : []
      return [...propertiesOf(index, concept, rowsOf(index, concept)), isDefined, ...forms]
    },
  }
}

/** Returns the properties of a normal form, with terms and without. Each is written when it is read first. */
export function normalForms(index: SnomedIndex, dialect: DisplayDialect, make: () => WrittenForm): readonly JsonObject[] {
  const form = once(make)
  const written = (names: ConceptNames): string => renderExpression(form().expression, names)
  const long = once(
    () => `${form().status} ${written((concept) => ({ id: index.id(concept), term: displayTerm(index, concept, dialect) }))}`,
  )
  const terse = once(() => `${form().status}${written((concept) => ({ id: index.id(concept) }))}`)
  return [
    {
      code: 'normalForm',
      get valueString() {
        return long()
      },
    },
    {
      code: 'normalFormTerse',
      get valueString() {
        return terse()
      },
    },
  ]
}

/** Returns the properties of a concept, or of an expression with this focus, in the form of `CodeSystem.concept.property`. */
export function propertiesOf(index: SnomedIndex, concept: number, range: RowRange): readonly JsonObject[] {
  return [
    { code: 'inactive', valueBoolean: !index.isActive(concept) },
    { code: 'effectiveTime', valueDateTime: dateOf(index.effectiveTime(concept)) },
    { code: 'module', valueCode: index.module(concept) },
    { code: 'moduleId', valueCode: index.module(concept) },
    ...distinct(rowsIn(index, range).map((row) => attributeProperty(index, row))),
  ]
}

function attributeProperty(index: SnomedIndex, { type, value, concrete: text }: Row): JsonObject {
  const code = index.id(type)
  if (text === undefined) return { code, valueCode: index.id(value) }
  if (text.startsWith('"')) return { code, valueString: text.slice(1, -1) }
  return /^[-+]?[0-9]+$/.test(text) ? { code, valueInteger: Number(text) } : { code, valueDecimal: Number(text) }
}

function distinct(properties: readonly JsonObject[]): readonly JsonObject[] {
  return [...new Map(properties.map((property) => [JSON.stringify(property), property])).values()]
}

/** Writes the time of a release, `YYYYMMDD` as a number, as a date of FHIR. */
export function dateOf(time: number): string {
  const digits = String(time)
  return `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6, 8)}`
}
