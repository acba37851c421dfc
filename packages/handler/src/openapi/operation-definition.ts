import type { OperationContext } from 'fhir-ops/context'
import { objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { isResourceType } from 'fhir-ops/storage'
import { schemaRef } from './components.js'

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
  // An operation without output parameters returns what its route says.
  const returned = output.length === 0 ? 'Resource' : resourceReturned(output)
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

/** A Parameters schema that lists the known parameters for readers; others are allowed too. Generators of code do not read a schema of each. */
function parametersSchema(parameters: readonly JsonObject[]): JsonObject {
  const lines = parameters.flatMap(describedParameter)
  return { allOf: [schemaRef('Parameters')], ...(lines.length > 0 && { description: lines.join('\n') }) }
}

/** Items of a list, with those of its parts below it. Documentation of a query parameter is in the query parameters. */
function describedParameter(parameter: JsonObject): readonly string[] {
  const type = stringAt(parameter, 'type')
  const documentation = isInQuery(parameter) ? undefined : stringAt(parameter, 'documentation')
  const kind = type === undefined ? '' : ` (${type})`
  const text = documentation === undefined ? '' : `: ${documentation.replaceAll(/\s+/g, ' ').trim()}`
  const parts = objectsAt(parameter, 'part').flatMap(describedParameter)
  return [`- \`${nameOf(parameter)}\`${kind}${text}`, ...parts.map((line) => `  ${line}`)]
}
