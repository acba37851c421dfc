import type { JsonObject } from 'fhir-ops/internal/json'
import type { CsvRow } from '@fhir-ops/releases'
import { column, type CodeGroup, type ListedAnswer, type LoincTables, type PartLink } from './loinc-tables.js'

/** The url of LOINC. */
export const LOINC = 'http://loinc.org'

/** Properties of all codes whose value is a part. */
export const PART_PROPERTIES = ['COMPONENT', 'PROPERTY', 'TIME_ASPCT', 'SYSTEM', 'SCALE_TYP', 'METHOD_TYP', 'CLASS'] as const

/** Properties that are columns of `Loinc.csv`. Some are of older releases: consumer names are now in a file of their own, and no release has sections of documents any more. */
export const TEXT_PROPERTIES = [
  'STATUS',
  'STATUS_REASON',
  'STATUS_TEXT',
  'CHNG_TYPE',
  'CHANGE_REASON_PUBLIC',
  'CLASSTYPE',
  'ORDER_OBS',
  'CONSUMER_NAME',
  'DOCUMENT_SECTION',
  'FORMULA',
  'EXMPL_ANSWERS',
  'SURVEY_QUEST_TEXT',
  'SURVEY_QUEST_SRC',
  'UNITSREQUIRED',
  'EXAMPLE_UNITS',
  'EXAMPLE_UCUM_UNITS',
  'RELATEDNAMES2',
  'HL7_FIELD_SUBFIELD_ID',
  'HL7_ATTACHMENT_STRUCTURE',
  'ValidHL7AttachmentRequest',
  'EXTERNAL_COPYRIGHT_NOTICE',
  'EXTERNAL_COPYRIGHT_LINK',
  'COMMON_TEST_RANK',
  'COMMON_ORDER_RANK',
  'PanelType',
  'VersionLastChanged',
  'VersionFirstReleased',
] as const

/** Columns of `Loinc.csv` that contain codes separated by semicolons. */
export const CODE_PROPERTIES = ['AskAtOrderEntry', 'AssociatedObservations'] as const

/** Makes the concept of a row in `Loinc.csv`. */
export function codeConcept(row: CsvRow, tables: LoincTables): JsonObject {
  const code = column(row, 'LOINC_NUM')
  const definition = row.get('DefinitionDescription')
  const parts = tables.values('part', code).map((text): PartLink => JSON.parse(text))
  const names = [...named('SHORTNAME', row.get('SHORTNAME')), ...named('DisplayName', row.get('DisplayName'))]
  const consumer = [...new Set([...tables.values('consumer-name', code), ...(row.get('CONSUMER_NAME')?.split(/; */) ?? [])])]
  const variants = tables.values('variant', code).map((text): JsonObject => JSON.parse(text))
  return {
    code,
    display: row.get('LONG_COMMON_NAME') ?? column(row, 'COMPONENT'),
    ...(definition !== undefined && { definition }),
    designation: [...names, ...consumer.flatMap((name) => named('ConsumerName', name)), ...variants],
    property: [
      ...PART_PROPERTIES.filter((property) => !parts.some((part) => part.property === property)).flatMap((property) =>
        textProperty(property, row.get(property)),
      ),
      ...parts.map(({ property, code: part, name }) => ({ code: property, valueCoding: { system: LOINC, code: part, display: name } })),
      ...TEXT_PROPERTIES.flatMap((property) =>
        property === 'CONSUMER_NAME' ? consumer.flatMap((name) => textProperty(property, name)) : textProperty(property, row.get(property)),
      ),
      ...CODE_PROPERTIES.flatMap((property) => codes(property, row.get(property)?.split(/; */))),
      ...codes('answer-list', tables.values('lists-of', code)),
      ...codes('Group', tables.values('groups-of', code)),
      ...codes('MAP_TO', tables.values('map-to', code)),
      ...codes('parent', tables.values('parent', code)),
      ...inactive(row.get('STATUS')),
    ],
  }
}

/** Makes the concept of a row in `Part.csv`. */
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
      ...inactive(status),
    ],
  }
}

/** Makes the concept of a part that occurs only in the hierarchy. */
export function branchConcept(code: string, display: string | undefined, tables: LoincTables): JsonObject {
  return { code, ...(display !== undefined && { display }), property: codes('parent', tables.values('parent', code)) }
}

/** Makes the concept of a group from its rows in `Group.csv` or `ParentGroup.csv`. */
export function groupConcept(code: string, rows: readonly CodeGroup[]): JsonObject {
  const status = rows[0]?.status
  return {
    code,
    display: rows[0]?.name ?? code,
    property: [
      ...textProperty('STATUS', status),
      ...codes(
        'parent',
        rows.flatMap(({ parent }) => parent ?? []),
      ),
      ...inactive(status),
    ],
  }
}

/** Makes the concept of an answer list from its rows in `AnswerList.csv`. */
export function listConcept(code: string, rows: readonly ListedAnswer[]): JsonObject {
  const answers = rows.flatMap(({ answer }) => answer ?? [])
  return { code, display: rows[0]?.listName ?? code, property: codes('Answer', answers) }
}

/** Makes the concept of an answer from its rows in `AnswerList.csv`. */
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

function inactive(status: string | undefined): readonly JsonObject[] {
  return status === 'DEPRECATED' ? [{ code: 'inactive', valueBoolean: true }] : []
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
