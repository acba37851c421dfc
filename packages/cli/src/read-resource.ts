import { OperationError } from 'fhir-ops/errors'
import { isObject, type JsonObject } from 'fhir-ops/internal/json'
import { faultIn, parsedJson } from './json-fault.js'
import { inputName, STANDARD_INPUT } from './files.js'
import type { Io } from './io.js'
import { sourcesIn, sourcesOfInput, type Source } from './load/sources.js'

/**
 * Reads the resource in a JSON file, or in standard input for `-`.
 *
 * @throws {OperationError} `body-invalid` for any other file, with the line that is not JSON; `parameter-value` for a file that cannot be read.
 */
export async function readResource(path: string, io: Pick<Io, 'stdin'>): Promise<JsonObject> {
  const [resource, ...others] = await readResources(path, io)
  if (resource === undefined) throw new OperationError('body-invalid', `${inputName(path)} has no resource.`)
  if (others.length > 0) throw new OperationError('body-invalid', `${inputName(path)} has ${others.length + 1} resources: one is expected.`)
  return resource
}

/** Reads the resources of a file: one in JSON, one per line in NDJSON, or the definitions of a package. From standard input, JSON or NDJSON. Throws as `readResource`. */
export async function readResources(path: string, io: Pick<Io, 'stdin'>): Promise<readonly JsonObject[]> {
  const resources: JsonObject[] = []
  const sources = path === STANDARD_INPUT ? sourcesOfInput(io) : sourcesIn(path)
  for await (const source of sources) resources.push(resourceOf(source))
  return resources
}

function resourceOf({ text, file, line }: Source): JsonObject {
  const resource = parsedJson(text)
  if (isObject(resource) && typeof resource['resourceType'] === 'string') return resource
  const fault = faultIn(text, line)
  throw new OperationError(
    'body-invalid',
    fault === undefined
      ? `${file}:${line} is not a resource: an object with a resourceType is expected.`
      : `${file}:${fault.line}:${fault.column} is not JSON: ${fault.text}.`,
  )
}
