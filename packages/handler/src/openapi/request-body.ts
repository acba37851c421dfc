import type { JsonObject } from 'fhir-ops/internal/json'
import { PATCH_TYPES, readingOf, type BodyKind } from '../http/body.js'
import { resourceSchema, schemaRef, SEARCH_FORM } from './components.js'
import type { DocumentedRoute } from './documented-route.js'

/** What the document says of the body of a route; `undefined` where none is read. @see https://spec.openapis.org/oas/v3.1.1.html#request-body-object */
export function requestBody(documented: DocumentedRoute): JsonObject | undefined {
  const { body } = documented.route
  const reading = readingOf(body)
  if (reading === undefined) return undefined
  const { mediaTypes, optional } = reading
  const schema = schemaFor(documented)
  const content = Object.fromEntries((mediaTypes === 'any' ? ANY_TYPES : mediaTypes).map((one) => [one, contentOf(schema(one))]))
  return { ...(optional === undefined && { required: true }), content }
}

/** A Binary is a resource, or content of any other type. */
const ANY_TYPES = ['application/fhir+json', '*/*']

function contentOf(schema: JsonObject | undefined): JsonObject {
  return schema === undefined ? {} : { schema }
}

type SchemaOfMediaType = (mediaType: string) => JsonObject | undefined

/** The schema of a body by its media type; `undefined` for what may be anything. */
function schemaFor(documented: DocumentedRoute): SchemaOfMediaType {
  const { route } = documented
  if (route.bodySchema !== undefined) return () => route.bodySchema
  return SCHEMAS[route.body](documented)
}

const SCHEMAS: Readonly<Record<BodyKind, (documented: DocumentedRoute) => SchemaOfMediaType>> = {
  none: () => () => undefined,
  bot: () => () => undefined,
  fhir: (documented) => () => storedSchema(documented),
  binary: () => (mediaType) => (mediaType === '*/*' ? undefined : resourceSchema('Binary')),
  patch: () => patchSchema,
  form: () => () => SEARCH_FORM,
  'optional-form':
    ({ place }) =>
    () =>
      place.path.endsWith('/_search') ? SEARCH_FORM : { type: 'object' },
  'optional-json': () => () => ({ type: 'object' }),
  'optional-fhir': (documented) => () => inputSchema(documented),
  'fhir-text':
    ({ defined }) =>
    () => ({ anyOf: [defined?.input ?? schemaRef('Parameters'), schemaRef('Resource')] }),
}

function storedSchema({ place, route }: DocumentedRoute): JsonObject {
  return resourceSchema(route.interaction === 'batch' ? 'Bundle' : (place.type ?? 'Resource'))
}

/** The parameters of an operation, or the resource that it is about. */
function inputSchema({ place: { type }, defined }: DocumentedRoute): JsonObject {
  const parameters = defined?.input ?? schemaRef('Parameters')
  return type === undefined ? parameters : { anyOf: [parameters, resourceSchema(type)] }
}

const [JSON_PATCH] = PATCH_TYPES

/** JSON Patch has a media type of its own, and may come with that of JSON. */
function patchSchema(mediaType: string): JsonObject {
  if (mediaType === JSON_PATCH) return schemaRef('JsonPatch')
  return mediaType === 'application/json' ? { anyOf: [schemaRef('JsonPatch'), schemaRef('Parameters')] } : schemaRef('Parameters')
}
