import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/json'
import { csvRows, type CsvRow, type ReleaseFile, untakenRows } from '@fhir-ops/releases'
import { column, type LoincTables } from './loinc-tables.js'

const FILE_NAME = /(?:^|[/\\])([a-z]{2,3})([A-Z]{2})[0-9]+LinguisticVariant\.csv$/
/** Columns with whole names, the one that is made to be shown first. */
const NAMES = ['LinguisticVariantDisplayName', 'LONG_COMMON_NAME', 'SHORTNAME'] as const

/**
 * Reads the linguistic variants of these languages, as designations of codes.
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
