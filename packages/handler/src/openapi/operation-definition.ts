import type { OperationContext } from 'fhir-ops/context'
import { objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { choiceName } from 'fhir-ops/internal/text'
import { isResourceType } from 'fhir-ops/storage'
import { resourceSchema, schemaRef } from './components.js'

/** An operation as its OperationDefinition describes it. */
export interface DefinedOperation {
  /** Query parameters, by component name. */
  readonly query: Readonly<Record<string, JsonObject>>
  /** Schemas to add to the document for this operation, by name. */
  readonly schemas: Readonly<Record<string, JsonObject>>
  readonly input: JsonObject
  /** Type of the resource that the operation returns, or the schema of its Parameters. */
  readonly output: { readonly resource: string } | { readonly schema: JsonObject }
  readonly description: string | undefined
}

/** Reads the OperationDefinition of a canonical; `undefined` if the content has none. */
export async function definedOperation(content: OperationContext['content'], canonical: string): Promise<DefinedOperation | undefined> {
  const found = await content.resolve('OperationDefinition', canonical)
  if (found === undefined) return undefined
  const { resource } = found
  const name = canonical.slice(canonical.lastIndexOf('/') + 1).replaceAll(/[^A-Za-z0-9._-]/g, '-')
  const of = (use: string): readonly JsonObject[] => objectsAt(resource, 'parameter').filter((one) => one['use'] === use)
  const [input, output] = [of('in'), of('out')]
  const returned = resourceReturned(output)
  return {
    query: Object.fromEntries(input.filter(isInQuery).map((one) => [`${name}.${nameOf(one)}`, queryParameter(one)])),
    schemas: {
      [`${name}-input`]: parametersSchema(input),
      ...(returned === undefined && { [`${name}-output`]: parametersSchema(output) }),
    },
    input: schemaRef(`${name}-input`),
    output: returned === undefined ? { schema: schemaRef(`${name}-output`) } : { resource: returned },
    description: stringAt(resource, 'description'),
  }
}

/** An operation whose only output parameter is a resource named `return` answers with that resource. @see https://hl7.org/fhir/R4/operations.html#response */
function resourceReturned([first, ...others]: readonly JsonObject[]): string | undefined {
  const type = stringAt(first, 'type')
  if (first === undefined || others.length > 0 || nameOf(first) !== 'return' || type === undefined) return undefined
  return type === 'Resource' || isResourceType(type) ? type : undefined
}

function nameOf(parameter: JsonObject): string {
  return stringAt(parameter, 'name') ?? ''
}

/** JSON Schemas of primitive types other than strings. */
const PRIMITIVES: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['boolean', { type: 'boolean' }],
  ['integer', { type: 'integer' }],
  ['positiveInt', { type: 'integer', minimum: 1 }],
  ['unsignedInt', { type: 'integer', minimum: 0 }],
  ['decimal', { type: 'number' }],
])

/** True for primitive types, which start with a lower-case letter. */
function isInQuery(parameter: JsonObject): boolean {
  return /^[a-z]/.test(stringAt(parameter, 'type') ?? '')
}

function queryParameter(parameter: JsonObject): JsonObject {
  const schema = PRIMITIVES.get(stringAt(parameter, 'type') ?? '') ?? { type: 'string' }
  const isList = stringAt(parameter, 'max') !== '1'
  const description = stringAt(parameter, 'documentation')
  return {
    name: nameOf(parameter),
    in: 'query',
    ...(description !== undefined && { description }),
    ...(isList ? { explode: true, schema: { type: 'array', items: schema } } : { schema }),
  }
}

/** A Parameters schema in which values have the types of the definition; other parameters are allowed too. */
function parametersSchema(parameters: readonly JsonObject[]): JsonObject {
  const demands = parameters.map(demandOf)
  return {
    allOf: [schemaRef('Parameters')],
    ...(demands.length > 0 && { properties: { parameter: { items: { allOf: demands } } } }),
  }
}

function demandOf(parameter: JsonObject): JsonObject {
  const description = isInQuery(parameter) ? undefined : stringAt(parameter, 'documentation')
  return {
    if: { properties: { name: { const: nameOf(parameter) } }, required: ['name'] },
    // oxlint-disable-next-line unicorn/no-thenable -- JSON Schema's name
    then: { ...(description !== undefined && { description }), ...valueDemand(parameter) },
  }
}

/** Schema of the member that holds a parameter's value. @see https://hl7.org/fhir/R4/parameters.html */
function valueDemand(parameter: JsonObject): JsonObject {
  const parts = objectsAt(parameter, 'part')
  const type = stringAt(parameter, 'type')
  if (parts.length > 0) return { required: ['part'], properties: { part: { items: { allOf: parts.map(demandOf) } } } }
  if (type === undefined || type === 'Any' || type === 'Element') return {}
  if (type === 'Resource' || isResourceType(type)) return { required: ['resource'], properties: { resource: resourceSchema(type) } }
  return { required: [choiceName('value', type)] }
}
