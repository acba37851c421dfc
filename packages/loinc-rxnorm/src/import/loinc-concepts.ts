import type { JsonObject } from 'fhir-ops/internal/json'
import { type CsvRow, csvRows, type ReleaseFile, scratchIn, type Scratch, untakenRows, type ImportWork } from '@fhir-ops/releases'
import { OperationError } from 'fhir-ops/errors'

/** The content of a release by code, and the concepts made from it. */
export interface LoincTables extends Scratch<(typeof TABLES)[number]> {
  readonly work: ImportWork
}

const TABLES = [
  /** The parts of each code. */
  'part',
  /** Properties whose values are parts. */
  'part-property',
  'parent',
  /** Names of entries in the hierarchy. */
  'name',
  'consumer-name',
  /** Designations in other languages. */
  'variant',
  /** Codes that replace a code. */
  'map-to',
  /** Codes for which an answer list is used. */
  'list-for',
  /** Answer lists of each code. */
  'lists-of',
  /** By answer list: its name and its answers. */
  'list',
  /** By answer: its text and the lists that contain it. */
  'answer',
  /** By group: its name, its status and its parent group. */
  'group',
  /** Groups of each code, and their parent groups. */
  'groups-of',
  /** Codes and parts that have a concept. */
  'code',
  /** Finished concepts in order. */
  'concept',
] as const

/** A part of a code. */
interface PartLink {
  /** The role of the part in the code: `COMPONENT`, `document-kind` and so on. */
  readonly property: string
  readonly code: string
  readonly name: string
}

/** An answer in an answer list. */
export interface ListedAnswer {
  readonly list: string
  readonly listName: string | undefined
  /** Absent for a list whose answers are maintained elsewhere. */
  readonly answer: string | undefined
  readonly text: string | undefined
}

/** A group of codes that are similar for some purpose. */
interface CodeGroup {
  readonly name: string | undefined
  readonly status: string | undefined
  readonly parent: string | undefined
}

/** Opens the tables in the work of an import. */
export function loincTablesIn(work: ImportWork): LoincTables {
  return { ...scratchIn(work.db, TABLES), work }
}

/** Finds a file of a release by name, in any folder. */
export function loincFile(files: readonly ReleaseFile[], name: string): ReleaseFile | undefined {
  return files.find((file) => file.name.split(/[/\\]/).at(-1) === name)
}

/** Reads the rows of a file that no earlier run has processed; none if the release lacks the file. */
export async function* loincRows({ work }: LoincTables, files: readonly ReleaseFile[], name: string): AsyncGenerator<CsvRow> {
  const file = loincFile(files, name)
  if (file !== undefined) yield* untakenRows(work, name, csvRows(file))
}

/** Reads the tables that are joined with the codes. @throws {OperationError} `definition-invalid` if a row lacks a column. */
export async function readLoincTables(files: readonly ReleaseFile[], tables: LoincTables): Promise<void> {
  for (const name of HIERARCHY_FILES) {
    for await (const row of loincRows(tables, files, name)) {
      const [code, parent, text] = [column(row, 'CODE'), row.get('IMMEDIATE_PARENT'), row.get('CODE_TEXT')]
      if (parent !== undefined) tables.add('parent', code, parent)
      if (text !== undefined) tables.add('name', code, text)
    }
  }
  await readParts(files, tables)
  for await (const row of loincRows(tables, files, 'ConsumerName.csv')) {
    tables.add('consumer-name', column(row, 'LoincNumber'), column(row, 'ConsumerName'))
  }
  for await (const row of loincRows(tables, files, 'MapTo.csv')) tables.add('map-to', column(row, 'LOINC'), column(row, 'MAP_TO'))
  for await (const row of loincRows(tables, files, 'LoincAnswerListLink.csv')) {
    tables.add('list-for', column(row, 'AnswerListId'), column(row, 'LoincNumber'))
    tables.add('lists-of', column(row, 'LoincNumber'), column(row, 'AnswerListId'))
  }
  for await (const row of loincRows(tables, files, 'AnswerList.csv')) addAnswer(tables, row)
  await readGroups(files, tables)
}

/** Files with the hierarchy of components; before 2.73, the hierarchy is called multi-axial. */
const HIERARCHY_FILES = ['ComponentHierarchyBySystem.csv', 'MultiAxialHierarchy.csv'] as const

/** Properties by kind of part, for releases that do not state them. */
const PROPERTY_OF_KIND: ReadonlyMap<string, string> = new Map([
  ['TIME', 'TIME_ASPCT'],
  ['SCALE', 'SCALE_TYP'],
  ['METHOD', 'METHOD_TYP'],
])

async function readParts(files: readonly ReleaseFile[], tables: LoincTables): Promise<void> {
  const known = new Set(tables.all('part-property'))
  const add = (row: CsvRow, link: PartLink): void => {
    if (!known.has(link.property)) tables.add('part-property', '', link.property)
    known.add(link.property)
    tables.add('part', column(row, 'LoincNumber'), JSON.stringify(link))
  }
  for await (const row of loincRows(tables, files, 'LoincPartLink_Primary.csv')) add(row, partLink(row))
  for await (const row of loincRows(tables, files, 'LoincPartLink_Supplementary.csv')) {
    const link = partLink(row)
    if (link.property === 'CLASS') add(row, link)
  }
}

function partLink(row: CsvRow): PartLink {
  const kind = column(row, 'PartTypeName')
  const property = row.get('Property')?.split('/').at(-1) ?? PROPERTY_OF_KIND.get(kind) ?? kind
  return { property, code: column(row, 'PartNumber'), name: column(row, 'PartName') }
}

function addAnswer(tables: LoincTables, row: CsvRow): void {
  const list = column(row, 'AnswerListId')
  const answer = row.get('AnswerStringId')
  const listed = JSON.stringify({ list, listName: row.get('AnswerListName'), answer, text: row.get('DisplayText') })
  tables.add('list', list, listed)
  if (answer !== undefined) tables.add('answer', answer, listed)
}

async function readGroups(files: readonly ReleaseFile[], tables: LoincTables): Promise<void> {
  const add = (code: string, group: CodeGroup): void => tables.add('group', code, JSON.stringify(group))
  for await (const row of loincRows(tables, files, 'ParentGroup.csv')) {
    add(column(row, 'ParentGroupId'), { name: row.get('ParentGroup'), status: row.get('Status'), parent: undefined })
  }
  for await (const row of loincRows(tables, files, 'Group.csv')) {
    add(column(row, 'GroupId'), { name: row.get('Group'), status: row.get('Status'), parent: row.get('ParentGroupId') })
  }
  for await (const row of loincRows(tables, files, 'GroupLoincTerms.csv')) {
    const [code, group] = [column(row, 'LoincNumber'), column(row, 'GroupId')]
    const parents = tables.values('group', group).flatMap((text) => readGroup(text).parent ?? [])
    for (const one of [group, ...parents]) tables.add('groups-of', code, one)
  }
}

/** Reads a value of the table `group`. */
export function readGroup(text: string): CodeGroup {
  return JSON.parse(text)
}

/** Returns the value of a required column. */
function column(row: CsvRow, name: string): string {
  const value = row.get(name)
  if (value === undefined) throw new OperationError('definition-invalid', `There is no ${name} in ${row.place}.`)
  return value
}

const FILE_NAME = /(?:^|[/\\])([a-z]{2,3})([A-Z]{2})[0-9]+LinguisticVariant\.csv$/
/** Columns with complete names, the preferred one for display first. */
const NAMES = ['LinguisticVariantDisplayName', 'LONG_COMMON_NAME', 'SHORTNAME'] as const

/**
 * Reads the linguistic variants of some languages, as designations of codes.
 *
 * @param languages Tags such as `de-DE`, or `all`.
 * @throws {OperationError} `parameter-value` for a language that the release does not have.
 */
export async function readVariants(files: readonly ReleaseFile[], tables: LoincTables, languages: readonly string[]): Promise<void> {
  for (const [language, file] of variantFiles(files, languages)) {
    for await (const row of untakenRows(tables.work, file.name, csvRows(file))) {
      for (const designation of designationsOf(row, language)) {
        tables.add('variant', column(row, 'LOINC_NUM'), JSON.stringify(designation))
      }
    }
  }
}

function variantFiles(files: readonly ReleaseFile[], languages: readonly string[]): readonly (readonly [string, ReleaseFile])[] {
  const known = files.flatMap((file) => {
    const [, language, country] = FILE_NAME.exec(file.name) ?? []
    return language === undefined ? [] : [[`${language}-${country}`, file] as const]
  })
  const unknown = languages.find((wanted) => wanted !== 'all' && !known.some(([language]) => language === wanted))
  if (unknown !== undefined) {
    const names = known.map(([language]) => language).join(', ')
    throw new OperationError('parameter-value', `The release has no linguistic variant ${unknown}; it has ${names || 'none'}.`)
  }
  return known.filter(([language]) => languages.includes('all') || languages.includes(language))
}

function designationsOf(row: CsvRow, language: string): readonly JsonObject[] {
  return NAMES.flatMap((code) => {
    const value = row.get(code)
    return value === undefined ? [] : [{ language, use: { system: 'http://loinc.org', code, display: code }, value }]
  })
}

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
