import type { JsonObject } from 'fhir-ops/json'
import type { CsvRow } from './csv.js'
import { column, type LoincTables } from './loinc-tables.js'

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
  const names = [...named('SHORTNAME', row.get('SHORTNAME')), ...named('DisplayName', row.get('DisplayName'))]
  const consumer = (tables.consumerNames.get(code) ?? []).flatMap((name) => named('ConsumerName', name))
  return {
    code,
    display: row.get('LONG_COMMON_NAME') ?? column(row, 'COMPONENT'),
    ...(definition !== undefined && { definition }),
    designation: [...names, ...consumer],
    property: [
      ...PART_PROPERTIES.flatMap((property) => partProperty(property, row, tables)),
      ...TEXT_PROPERTIES.flatMap((property) => textProperty(property, row.get(property))),
      ...codes('MAP_TO', tables.mapTo.get(code)),
      ...codes('parent', tables.parents.get(code)),
      ...(row.get('STATUS') === 'DEPRECATED' ? [{ code: 'inactive', valueBoolean: true }] : []),
    ],
  }
}

/** The concept of a row of `Part.csv`. */
export function partConcept(row: CsvRow, { parents }: LoincTables): JsonObject {
  const code = column(row, 'PartNumber')
  const status = row.get('Status')
  return {
    code,
    display: row.get('PartDisplayName') ?? column(row, 'PartName'),
    property: [
      ...textProperty('PartTypeName', row.get('PartTypeName')),
      ...textProperty('STATUS', status),
      ...codes('parent', parents.get(code)),
      ...(status === 'DEPRECATED' ? [{ code: 'inactive', valueBoolean: true }] : []),
    ],
  }
}

/** The concept of a part that stands in the hierarchy alone. */
export function groupConcept(code: string, { names, parents }: LoincTables): JsonObject {
  const display = names.get(code)
  return { code, ...(display !== undefined && { display }), property: codes('parent', parents.get(code)) }
}

/** The concepts of lists of answers and of the answers in them, from the rows of `AnswerList.csv`. */
export function answerConcepts(rows: readonly CsvRow[], { listFor }: LoincTables): readonly JsonObject[] {
  const answerRows = rows.filter((row) => row.has('AnswerStringId'))
  const lists = Array.from(
    Map.groupBy(rows, (row) => column(row, 'AnswerListId')),
    ([code, own]) => ({
      code,
      display: own[0]?.get('AnswerListName') ?? code,
      property: codes(
        'Answer',
        own.flatMap((row) => row.get('AnswerStringId') ?? []),
      ),
    }),
  )
  const answers = Array.from(
    Map.groupBy(answerRows, (row) => column(row, 'AnswerStringId')),
    ([code, own]) => {
      const inLists = [...new Set(own.map((row) => column(row, 'AnswerListId')))]
      const questions = new Set(inLists.flatMap((list) => listFor.get(list) ?? []))
      const display = own[0]?.get('DisplayText')
      return {
        code,
        ...(display !== undefined && { display }),
        property: [...codes('AnswerList', inLists), ...codes('answers-for', [...inLists, ...questions])],
      }
    },
  )
  return [...lists, ...answers]
}

function partProperty(property: string, row: CsvRow, { parts }: LoincTables): readonly JsonObject[] {
  const kind = PART_KINDS.get(property) ?? property
  const links = (parts.get(column(row, 'LOINC_NUM')) ?? []).filter((link) => link.kind === kind)
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
