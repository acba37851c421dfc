import { createContext, forRequest, type OperationContext } from '../src/context/index.js'
import type { JsonObject } from '../src/json/index.js'
import { memoryStorage } from '../src/memory/index.js'
import type { Operation, OperationRequest } from '../src/operation/index.js'
import { parametersFromQuery, parametersOf } from '../src/parameters/index.js'

/** Url of the code system `name` of the tests. */
export const cs = (name: string): string => `http://example.org/cs/${name}`
/** Url of the value set `name` of the tests. */
export const vs = (name: string): string => `http://example.org/vs/${name}`

/** A context over nothing but these definitions. */
export function contextOf(...resources: readonly JsonObject[]): OperationContext {
  // The time limit is of requests, which these contexts outlive.
  return { ...forRequest(createContext({ storage: memoryStorage() }), { resources }), deadline: undefined }
}

/** A complete, active CodeSystem of concepts. */
export function codeSystem(name: string, concept: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { resourceType: 'CodeSystem', url: cs(name), name, status: 'active', content: 'complete', caseSensitive: true, concept, ...more }
}

/** An active ValueSet. */
export function valueSet(name: string, compose: JsonObject, more: JsonObject = {}): JsonObject {
  return { resourceType: 'ValueSet', url: vs(name), status: 'active', compose, ...more }
}

/** A small hierarchy: animal > (cat > lion, dog), plant, with properties. */
export const LIVING: JsonObject = codeSystem(
  'living',
  [
    {
      code: 'animal',
      display: 'Animal',
      property: [{ code: 'notSelectable', valueBoolean: true }],
      concept: [
        {
          code: 'cat',
          display: 'Cat',
          definition: 'A small one',
          designation: [
            { language: 'de', value: 'Katze' },
            { language: 'fr', value: 'Chat' },
          ],
          property: [{ code: 'legs', valueInteger: 4 }],
          concept: [
            {
              code: 'lion',
              display: 'Lion',
              property: [
                { code: 'legs', valueInteger: 4 },
                { code: 'status', valueCode: 'retired' },
              ],
            },
          ],
        },
        { code: 'dog', display: 'Dog', property: [{ code: 'legs', valueInteger: 4 }] },
        { code: 'duck', display: 'Duck, wild', property: [{ code: 'legs', valueInteger: 2 }] },
      ],
    },
    { code: 'plant', display: 'Plant' },
  ],
  { version: '1.0.0', language: 'en', property: [{ code: 'legs', type: 'integer' }] },
)

/** Calls an operation as the handler would. */
export function call(
  operation: Operation,
  ctx: OperationContext,
  parameter: readonly JsonObject[],
  more: Partial<OperationRequest> = {},
): Promise<JsonObject> {
  const parameters = parametersOf({ resourceType: 'Parameters', parameter })
  return run(operation, ctx, { method: 'POST', parameters, ...more })
}

/** Calls an operation by GET. */
export function callByGet(
  operation: Operation,
  ctx: OperationContext,
  query: string,
  more: Partial<OperationRequest> = {},
): Promise<JsonObject> {
  return run(operation, ctx, { method: 'GET', parameters: parametersFromQuery(new URLSearchParams(query)), ...more })
}

async function run(operation: Operation, ctx: OperationContext, request: Partial<OperationRequest>): Promise<JsonObject> {
  const [type = ''] = operation.types
  const { resource } = await operation.run(ctx, { type, method: 'POST', parameters: [], strict: false, ...request })
  return resource
}
