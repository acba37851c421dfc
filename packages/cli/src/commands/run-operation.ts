import { forRequest } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/json'
import type { Operation } from 'fhir-ops/operation'
import type { Parameter } from 'fhir-ops/parameters'
import { parametersFromQuery } from 'fhir-ops/parameters'
import { isResourceId } from 'fhir-ops/storage'
import { openEngine, type EngineOptions } from '../engine.js'
import type { Io } from '../io.js'

/** A call of one operation from the command line. */
export interface Call {
  readonly operation: Operation
  readonly type: string
  readonly id?: string | undefined
  /** Values by parameter name; those that were not given are left out. */
  readonly values: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** Runs an operation over a storage that is opened for this call, with the same steps as over HTTP. */
export async function runOperation(call: Call, options: EngineOptions, io: Io): Promise<JsonObject> {
  const engine = await openEngine(options, io)
  try {
    const { resource } = await call.operation.run(forRequest(engine.ctx, {}), {
      type: call.type,
      id: call.id,
      method: 'GET',
      parameters: parametersOfCall(call),
      strict: true,
    })
    return resource
  } finally {
    await engine.close()
  }
}

function parametersOfCall({ values }: Call): readonly Parameter[] {
  const pairs = Object.entries(values).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]))
  return parametersFromQuery(pairs)
}

/** The id in `Type/id` or in a bare id. */
export function idOf(type: string, reference: string): string {
  const id = reference.startsWith(`${type}/`) ? reference.slice(type.length + 1) : reference
  if (!isResourceId(id)) throw new OperationError('parameter-value', `${reference} is not a ${type} id.`)
  return id
}

/** A resource as indented JSON. */
export function asJson(resource: JsonObject): string {
  return JSON.stringify(resource, null, 2)
}
