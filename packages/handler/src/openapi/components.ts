import { contentView } from 'fhir-ops/internal/content'
import { isObject, type JsonObject, objectsAt, stringAt } from 'fhir-ops/internal/json'
import { resourceTypes } from 'fhir-ops/internal/storage'
import { TYPE_URL } from 'fhir-ops/internal/text'
import type { OperationContext } from 'fhir-ops/context'
import { isResourceType } from 'fhir-ops/storage'

/** Resources with full schemas. Others differ only by their `resourceType`, because the schemas of all types would be megabytes. */
const NAMED = ['Bundle', 'OperationOutcome', 'Parameters'] as const

const NAMES: ReadonlySet<string> = new Set(NAMED)

/** A reference to a schema of the document. */
export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` }
}

/** Returns the schema for a resource of a type; `Resource` stands for any type. */
export function resourceSchema(type: string): JsonObject {
  if (type === 'Resource' || NAMES.has(type)) return schemaRef(type)
  return { allOf: [schemaRef('Resource')], properties: { resourceType: { type: 'string', const: type } } }
}

/**
 * The content of a context without stored resources, about which callers without a token must learn nothing.
 */
export function publicContent({ definitions = [] }: OperationContext): OperationContext['content'] {
  return contentView(definitions)
}

/** Schemas for requests and answers. Without the types of FHIR, a resource is described by its `resourceType` only. */
export async function schemasOf(ctx: OperationContext): Promise<JsonObject> {
  const content = publicContent(ctx)
  const made = await Promise.all(NAMED.map((type) => typeSchemas({ ...ctx, content }, type)))
  return { ...Object.assign({}, ...made), ...OWN, ResourceType: { type: 'string', enum: resourceTypes() } }
}

/** Returns the schema of a type and of all types that it refers to, by name. */
async function typeSchemas(ctx: OperationContext, type: string): Promise<JsonObject> {
  const isKnown = ctx.types !== undefined && (await ctx.content.resolve('StructureDefinition', TYPE_URL + type)) !== undefined
  if (!isKnown) return { [type]: { allOf: [schemaRef('Resource')], properties: { resourceType: { type: 'string', const: type } } } }
  const { jsonSchema } = await import('fhir-ops/schema')
  const { schema } = await jsonSchema(ctx, { url: type })
  const { $defs } = schema
  return isObject($defs) ? typeShapes($defs) : {}
}

const OWN: JsonObject = {
  Resource: {
    type: 'object',
    description: 'A FHIR R4 resource, or a Bot',
    required: ['resourceType'],
    properties: { resourceType: schemaRef('ResourceType') },
    additionalProperties: true,
  },
  JsonPatch: {
    type: 'array',
    description: 'RFC 6902',
    items: {
      type: 'object',
      required: ['op', 'path'],
      properties: {
        op: { type: 'string', enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
        path: { type: 'string' },
        from: { type: 'string' },
        value: { description: 'Any value' },
      },
    },
  },
  OAuthError: {
    type: 'object',
    required: ['error'],
    properties: { error: { type: 'string' }, error_description: { type: 'string' } },
  },
}

const text = (description: string): JsonObject => ({ description, schema: { type: 'string' } })

const failure = (description: string, mediaType: string, schema: JsonObject): JsonObject => ({
  description,
  content: { [mediaType]: { schema } },
})

/** Failures that all routes share. */
export const RESPONSES: JsonObject = {
  Failure: failure('What went wrong', 'application/fhir+json', schemaRef('OperationOutcome')),
  Unauthorized: {
    ...failure('The token is missing or not accepted', 'application/fhir+json', schemaRef('OperationOutcome')),
    headers: { 'WWW-Authenticate': text('The challenge of RFC 6750') },
  },
  OAuthFailure: failure('What went wrong, in the form of OAuth', 'application/json', schemaRef('OAuthError')),
  OAuthUnauthorized: {
    ...failure('The token is not accepted; without one there is no body', 'application/json', schemaRef('OAuthError')),
    headers: { 'WWW-Authenticate': text('The challenge of RFC 6750') },
  },
}

const named = (
  where: 'path' | 'query' | 'header',
  name: string,
  description: string,
  schema: JsonObject = { type: 'string' },
): JsonObject => ({
  name,
  in: where,
  description,
  ...(where === 'path' && { required: true }),
  schema,
})

/** Path variables, by their names in the route table. */
export const PATH_PARAMETERS: Readonly<Record<string, JsonObject>> = {
  type: named('path', 'type', 'Type of the resource', schemaRef('ResourceType')),
  id: named('path', 'id', 'Id of the resource', { type: 'string', pattern: '^[A-Za-z0-9.-]{1,64}$' }),
  version: named('path', 'version', 'Number of the version', { type: 'string', pattern: '^[0-9]{1,15}$' }),
  member: named('path', 'member', 'Type of the resources in the compartment', schemaRef('ResourceType')),
}

const COUNT = { type: 'integer', minimum: 0 } as const
const LIST = { type: 'array', items: { type: 'string' } } as const
const ANY_VALUES = { type: 'object', additionalProperties: { anyOf: [{ type: 'string' }, LIST] } } as const

/** Values of a query or form with search parameters as names. */
export const SEARCH_FORM: JsonObject = ANY_VALUES

/** Parameters shared by several routes, by component name. */
export const SHARED_PARAMETERS: Readonly<Record<string, JsonObject>> = {
  search: {
    ...named('query', 'search', 'Search parameters of the type, as the CapabilityStatement lists them', ANY_VALUES),
    style: 'form',
    explode: true,
  },
  count: named('query', '_count', 'Entries of a page', COUNT),
  sort: named('query', '_sort', 'Search parameters to sort by, with - for descending, separated by commas'),
  total: named('query', '_total', 'Whether all that match are counted', { type: 'string', enum: ['none', 'estimate', 'accurate'] }),
  include: { ...named('query', '_include', 'References to follow: Type:parameter', LIST), explode: true },
  revinclude: { ...named('query', '_revinclude', 'References to follow backwards: Type:parameter', LIST), explode: true },
  types: named('query', '_type', 'Types to search, separated by commas'),
  summary: named('query', '_summary', 'Part of the resources', { type: 'string', enum: ['true', 'false', 'text', 'data', 'count'] }),
  elements: named('query', '_elements', 'Elements of the resources, separated by commas'),
  since: named('query', '_since', 'Instant that versions are later than', { type: 'string', format: 'date-time' }),
  at: named('query', '_at', 'Date that versions were the present ones at; with ge, gt, le or lt, the start or the end of a period'),
  mode: named('query', 'mode', 'Which statement', { type: 'string', enum: ['full', 'normative', 'terminology'] }),
  identifier: named('query', 'identifier', 'Names the bot: system|value'),
  ifMatch: named('header', 'If-Match', 'ETag of the version that the write is for'),
  ifNoneMatch: named('header', 'If-None-Match', 'ETag of the version that the caller has; * for a write where there must be none'),
  ifModifiedSince: named('header', 'If-Modified-Since', 'When the version that the caller has was made'),
  ifNoneExist: named('header', 'If-None-Exist', 'Search parameters of a resource that makes the create needless'),
  prefer: named('header', 'Prefer', 'return=minimal, representation or OperationOutcome'),
  preferAsync: named('header', 'Prefer', 'respond-async: the answer is asked for later'),
}

/**
 * Rewrites the definitions of a JSON Schema of FHIR's types to what generators of code read as it is meant: members, lists and codes.
 * Conditions, such as that a choice has one type at most, become types without meaning (`unknown & { ... }`) or are refused, and names such as
 * `string` clash with those of languages; so conditions are left out, and primitive types stand where they are used.
 */
function typeShapes(definitions: JsonObject): JsonObject {
  const primitives = new Map(
    Object.entries(definitions).flatMap(([name, one]) => (isPrimitive(one) ? [[name, shapeOf(one, new Map())]] : [])),
  )
  return Object.fromEntries(
    Object.entries(definitions).flatMap(([name, one]) => (primitives.has(name) ? [] : [[name, shapeOf(one, primitives)]])),
  )
}

type Primitives = ReadonlyMap<string, JsonObject>

/** True for a definition without members that is not a list of codes. */
function isPrimitive(definition: unknown): definition is JsonObject {
  return isObject(definition) && definition['properties'] === undefined && definition['enum'] === undefined
}

const DEFINITIONS = '#/$defs/'

/** Returns the schema that a reference of a JSON Schema has in the document. */
function referredTo(ref: string, primitives: Primitives): JsonObject {
  const name = ref.slice(DEFINITIONS.length)
  return primitives.get(name) ?? { $ref: `#/components/schemas/${name}` }
}

function shapeOf(schema: unknown, primitives: Primitives): JsonObject {
  if (!isObject(schema)) return {}
  const { $ref } = schema
  const codes = schema['enum'] ?? schema['const']
  if (codes !== undefined) return { type: 'string', ...('enum' in schema ? { enum: codes } : { const: codes }) }
  if (typeof $ref === 'string') return referredTo($ref, primitives)
  // The last is the narrowest: the codes of a binding come after the type.
  const shape = objectsAt(schema, 'allOf').findLast(hasShape)
  if (shape !== undefined) return shapeOf(shape, primitives)
  return Object.fromEntries(
    Object.entries(schema).flatMap(([keyword, value]) =>
      CONDITIONS.has(keyword) ? [] : [[keyword, shapedKeyword(keyword, value, primitives)]],
    ),
  )
}

const CONDITIONS: ReadonlySet<string> = new Set(['allOf', 'not', 'minProperties', '$comment'])

/** True for what says what a value is, and not only which values or members go together. */
function hasShape(schema: JsonObject): boolean {
  return ['$ref', 'enum', 'type'].some((keyword) => keyword in schema) || objectsAt(schema, 'anyOf').some(hasShape)
}

function shapedKeyword(keyword: string, value: unknown, primitives: Primitives): unknown {
  if (keyword === 'items') return shapeOf(value, primitives)
  if (keyword === 'anyOf' && Array.isArray(value)) return value.map((one) => shapeOf(one, primitives))
  if (keyword !== 'properties' || !isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one, primitives)]))
}

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
