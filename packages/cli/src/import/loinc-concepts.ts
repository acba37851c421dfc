import type { JsonObject } from 'fhir-ops/json'
import type { CsvRow } from './csv.js'
import { column, type ListedAnswer, type LoincTables, type PartLink } from './loinc-tables.js'

/** Url of LOINC. */
export const LOINC = 'http://loinc.org'

/** Properties that name a part. */
export const PART_PROPERTIES = ['COMPONENT', 'PROPERTY', 'TIME_ASPCT', 'SYSTEM', 'SCALE_TYP', 'METHOD_TYP', 'CLASS'] as const

/** Properties that are columns of `Loinc.csv`. */
export const TEXT_PROPERTIES = [
  'STATUS',
  'CLASSTYPE',
  'ORDER_OBS',
  'UNITSREQUIRED',
  'EXAMPLE_UNITS',
  'EXAMPLE_UCUM_UNITS',
  'RELATEDNAMES2',
  'EXTERNAL_COPYRIGHT_NOTICE',
  'PanelType',
  'VersionLastChanged',
  'VersionFirstReleased',
] as const

/** Kinds of parts that have another name in `Loinc.csv`. */
const PART_KINDS: ReadonlyMap<string, string> = new Map([
  ['TIME_ASPCT', 'TIME'],
  ['SCALE_TYP', 'SCALE'],
  ['METHOD_TYP', 'METHOD'],
])

/** The concept of a row of `Loinc.csv`. */
export function codeConcept(row: CsvRow, tables: LoincTables): JsonObject {
  const code = column(row, 'LOINC_NUM')
  const definition = row.get('DefinitionDescription')
  const parts = tables.values('part', code).map((text): PartLink => JSON.parse(text))
  const names = [...named('SHORTNAME', row.get('SHORTNAME')), ...named('DisplayName', row.get('DisplayName'))]
  const consumer = tables.values('consumer-name', code).flatMap((name) => named('ConsumerName', name))
  const variants = tables.values('variant', code).map((text): JsonObject => JSON.parse(text))
  return {
    code,
    display: row.get('LONG_COMMON_NAME') ?? column(row, 'COMPONENT'),
    ...(definition !== undefined && { definition }),
    designation: [...names, ...consumer, ...variants],
    property: [
      ...PART_PROPERTIES.flatMap((property) => partProperty(property, row, parts)),
      ...TEXT_PROPERTIES.flatMap((property) => textProperty(property, row.get(property))),
      ...codes('MAP_TO', tables.values('map-to', code)),
      ...codes('parent', tables.values('parent', code)),
      ...(row.get('STATUS') === 'DEPRECATED' ? [{ code: 'inactive', valueBoolean: true }] : []),
    ],
  }
}

/** The concept of a row of `Part.csv`. */
export function partConcept(row: CsvRow, tables: LoincTables): JsonObject {
  const code = column(row, 'PartNumber')
  const status = row.get('Status')
  return {
    code,
    display: row.get('PartDisplayName') ?? column(row, 'PartName'),
    property: [
      ...textProperty('PartTypeName', row.get('PartTypeName')),
      ...textProperty('STATUS', status),
      ...codes('parent', tables.values('parent', code)),
      ...(status === 'DEPRECATED' ? [{ code: 'inactive', valueBoolean: true }] : []),
    ],
  }
}

/** The concept of a part that stands in the hierarchy alone. */
export function groupConcept(code: string, display: string | undefined, tables: LoincTables): JsonObject {
  return { code, ...(display !== undefined && { display }), property: codes('parent', tables.values('parent', code)) }
}

/** The concept of a list of answers, by its rows of `AnswerList.csv`. */
export function listConcept(code: string, rows: readonly ListedAnswer[]): JsonObject {
  const answers = rows.flatMap(({ answer }) => answer ?? [])
  return { code, display: rows[0]?.listName ?? code, property: codes('Answer', answers) }
}

/** The concept of an answer, by its rows of `AnswerList.csv`. */
export function answerConcept(code: string, rows: readonly ListedAnswer[], tables: LoincTables): JsonObject {
  const lists = [...new Set(rows.map(({ list }) => list))]
  const questions = lists.flatMap((list) => tables.values('list-for', list))
  const display = rows[0]?.text
  return {
    code,
    ...(display !== undefined && { display }),
    property: [...codes('AnswerList', lists), ...codes('answers-for', [...lists, ...questions])],
  }
}

function partProperty(property: string, row: CsvRow, parts: readonly PartLink[]): readonly JsonObject[] {
  const kind = PART_KINDS.get(property) ?? property
  const links = parts.filter((link) => link.kind === kind)
  if (links.length === 0) return textProperty(property, row.get(property))
  return links.map(({ code, name }) => ({ code: property, valueCoding: { system: LOINC, code, display: name } }))
}

function textProperty(code: string, value: string | undefined): readonly JsonObject[] {
  return value === undefined ? [] : [{ code, valueString: value }]
}

function codes(code: string, values: readonly string[] = []): readonly JsonObject[] {
  return Array.from(new Set(values), (valueCode) => ({ code, valueCode }))
}

function named(use: string, value: string | undefined): readonly JsonObject[] {
  return value === undefined ? [] : [{ language: 'en-US', use: { system: LOINC, code: use, display: use }, value }]
}
