import { readFile } from 'node:fs/promises'
import { OperationError } from 'fhir-ops/errors'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'

/** The resource in a JSON file. @throws {OperationError} `body-invalid` for a file of anything else. */
export async function readResource(path: string): Promise<JsonObject> {
  const text = await readFile(path, 'utf8')
  try {
    const parsed: unknown = JSON.parse(text)
    if (isObject(parsed)) return parsed
  } catch (cause) {
    throw new OperationError('body-invalid', `${path} is not JSON.`, { cause })
  }
  throw new OperationError('body-invalid', `${path} is not a resource.`)
}
