import type { Suppression } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { isObject, stringAt } from 'fhir-ops/internal/json'
import { checkSuppression } from 'fhir-ops/internal/validate'
import { inputName, inputText } from '../files.js'
import type { Io } from '../io.js'
import { checkJson, parsedJson } from '../json-fault.js'

/**
 * Reads a file with accepted findings: a JSON array of `{"id", "at", "reason", "until"}`. Reports those that have expired.
 *
 * @throws {OperationError} `parameter-value` if the file cannot be read or is not valid; `body-invalid` if it is not JSON in UTF-8.
 */
export async function readSuppressions(path: string, io: Io): Promise<readonly Suppression[]> {
  const file = inputName(path)
  const items = listIn(await inputText(path, io), file)
  const suppressions = items.map((item, index) => suppressionOf(item, `${file}, entry ${index + 1}`))
  const today = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length)
  for (const { id, until } of suppressions) {
    if (until < today) io.err(`${file}: the suppression of ${id} expired on ${until}`)
  }
  return suppressions
}

function listIn(text: string, file: string): readonly unknown[] {
  checkJson(text, file)
  const value = parsedJson(text)
  if (Array.isArray(value)) return value
  throw new OperationError('parameter-value', `${file} does not contain a JSON array of suppressions.`)
}

const MEMBERS = new Set(['id', 'at', 'reason', 'until'])

function suppressionOf(item: unknown, place: string): Suppression {
  const unknown = isObject(item) ? Object.keys(item).find((name) => !MEMBERS.has(name)) : undefined
  if (!isObject(item) || unknown !== undefined) {
    throw new OperationError(
      'parameter-value',
      `${place} is not a suppression with "id", "at", "reason" and "until"${unknown === undefined ? '' : `: it has "${unknown}"`}.`,
    )
  }
  const suppression = {
    id: stringAt(item, 'id') ?? '',
    at: stringAt(item, 'at'),
    reason: stringAt(item, 'reason') ?? '',
    until: stringAt(item, 'until') ?? '',
  }
  checkSuppression(suppression)
  return suppression
}
