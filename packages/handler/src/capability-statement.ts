import type {
  CapabilityStatement,
  CapabilityStatementRestInteraction,
  CapabilityStatementRestResource,
  CapabilityStatementRestResourceInteraction,
  CapabilityStatementRestResourceOperation,
} from 'fhir/r4.js'
import type { SearchParameter } from 'fhir-ops/internal/search'
import { resourceTypes } from 'fhir-ops/internal/storage'
import { terminologyCapabilities } from 'fhir-ops/internal/operations'
import { COMPARTMENTS, createPace, pacedResource } from 'fhir-ops/internal/context'
import type { OperationContext } from 'fhir-ops/context'
import { isImported } from 'fhir-ops/internal/code-system'
import { keptWhile, type Kept } from 'fhir-ops/internal/content'
import { stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { allMatches, type Storage } from 'fhir-ops/storage'
import manifest from '../package.json' with { type: 'json' }
import { DEFINITION_TYPES } from './content/definition-shelf.js'
import type { Route } from './exchange.js'
import { mostDeletions } from './content/write.js'
import type { SmartConfiguration } from './auth/issuer.js'
import { FHIR_PATH, type Service } from './service.js'

type RestResource = Omit<CapabilityStatementRestResource, 'type' | 'searchParam' | 'searchInclude'> & {
  readonly type: string
  readonly searchInclude?: readonly string[]
  readonly searchParam?: readonly { readonly name: string; readonly type: string }[]
}

/** Described in words, because `rest.resource` can only name types of R4. */
const BOTS =
  'Bots, for which R4 has no resource type, are stored and read at Bot like other resources. $execute runs one: on an instance, or on the type with an identifier.'

const DEFINITIONS =
  'Read and search give the definitions of this server, too: those of FHIR R4, of packages and of imported code systems. They come after what is stored and cannot be changed; a resource that is stored under the id of one takes its place.'

const OAUTH = { system: 'http://terminology.hl7.org/CodeSystem/restful-security-service', code: 'OAuth' }

const { version } = manifest
/** Release date of this version, set together with the version. */
const RELEASED = '2026-01-01'

/** Input of a CapabilityStatement. */
interface Stated {
  readonly service: Service
  readonly routes: readonly Route[]
  /** The host's SMART configuration of the authorization server. */
  readonly authorization: SmartConfiguration
}

/** Makes the CapabilityStatement from the route table. */
export function capabilityStatement({
  service,
  routes,
  authorization,
}: Stated): Omit<CapabilityStatement, 'rest'> & { readonly rest: readonly object[] } {
  const fhir = routes.filter(({ path }) => path.startsWith(`${FHIR_PATH}/`))
  return {
    resourceType: 'CapabilityStatement',
    id: 'server',
    extension: features(),
    url: `${service.baseUrl}${FHIR_PATH}/metadata`,
    version,
    name: 'FhirOps',
    title: 'fhir-ops',
    status: 'active',
    date: service.startedAt,
    kind: 'instance',
    instantiates: ['http://hl7.org/fhir/CapabilityStatement/terminology-server'],
    software: { name: 'fhir-ops', version, releaseDate: RELEASED },
    implementation: { description: 'fhir-ops', url: `${service.baseUrl}${FHIR_PATH}` },
    fhirVersion: '4.0.1',
    format: ['application/fhir+json', 'application/json'],
    patchFormat: ['application/json-patch+json', 'application/fhir+json'],
    rest: [
      {
        mode: 'server',
        documentation: BOTS,
        interaction: systemInteractions(service, routes),
        operation: operationsOf(fhir.filter(isSystemLevel)),
        security: { ...oauthUris(authorization), service: [{ coding: [OAUTH], text: 'OAuth 2.0 bearer tokens' }] },
        ...(service.ctx.search !== undefined && { compartment: [...COMPARTMENTS] }),
        resource: resourceTypes()
          .filter((type) => type !== 'Bot')
          .map((type) => resourceEntry(service, type, fhir)),
      },
    ],
  }
}

/** Describes the terminology operations, with the urls of supported code systems. */
export function terminologyStatement(
  { baseUrl, startedAt }: Service,
  codeSystems: readonly string[],
): ReturnType<typeof terminologyCapabilities> {
  const base = `${baseUrl}${FHIR_PATH}`
  const url = `${base}/metadata?mode=terminology`
  return terminologyCapabilities({ url, base, version, name: 'FhirOps', title: 'fhir-ops', date: startedAt, codeSystems })
}

/** OAuth endpoints, for clients that do not read `smart-configuration`. @see https://hl7.org/fhir/smart-app-launch/conformance.html */
function oauthUris(authorization: SmartConfiguration): object {
  const endpoints = Object.entries(OAUTH_URIS).flatMap(([url, name]) => {
    const valueUri = authorization[name]
    return typeof valueUri === 'string' ? [{ url, valueUri }] : []
  })
  return endpoints.length === 0
    ? {}
    : { extension: [{ url: 'http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris', extension: endpoints }] }
}

/** Names in the extension, with those in the discovery documents. */
const OAUTH_URIS = {
  authorize: 'authorization_endpoint',
  token: 'token_endpoint',
  register: 'registration_endpoint',
  introspect: 'introspection_endpoint',
  revoke: 'revocation_endpoint',
} as const

function resourceEntry(service: Service, type: string, routes: readonly Route[]): RestResource {
  const { ctx } = service
  const own = routes.filter((route) => !isSystemLevel(route) && (route.types === undefined || route.types.includes(type)))
  const operations = operationsOf(own)
  const parameters = ctx.search?.parameters.of(type) ?? []
  return {
    type,
    interaction: own.flatMap(({ interaction }) => interactionOf(interaction)),
    ...(DEFINITION_TYPES.has(type) && (ctx.definitions ?? []).length > 0 && { documentation: DEFINITIONS }),
    versioning: 'versioned-update',
    readHistory: ctx.storage.history !== undefined,
    conditionalRead: 'full-support',
    updateCreate: true,
    ...(ctx.search !== undefined && { conditionalCreate: true, conditionalUpdate: true, conditionalDelete: conditionalDelete(service) }),
    ...(parameters.length > 0 && { searchParam: parameters.map(({ code, type: kind }) => ({ name: code, type: kind })) }),
    ...(parameters.length > 0 && { searchInclude: ['*', ...referencesOf(type, parameters)] }),
    ...(operations.length > 0 && { operation: operations }),
  }
}

function conditionalDelete(service: Service): 'single' | 'multiple' {
  return mostDeletions(service) > 1 ? 'multiple' : 'single'
}

function referencesOf(type: string, parameters: readonly SearchParameter[]): readonly string[] {
  return parameters.flatMap((parameter) => (parameter.type === 'reference' && !parameter.canonical ? [`${type}:${parameter.code}`] : []))
}

/** Transactions need a storage with atomic writes and the search parameters, by which links are found. */
function isTransactional({ ctx }: Service): boolean {
  return ctx.search !== undefined && ctx.storage.capabilities.atomic
}

function isSystemLevel({ path }: Route): boolean {
  return path.startsWith(`${FHIR_PATH}/$`)
}

function systemInteractions(service: Service, routes: readonly Route[]): CapabilityStatementRestInteraction[] {
  const found = routes.flatMap(({ interaction }) => (isOfSystem(interaction) ? [{ code: interaction }] : []))
  return isTransactional(service) ? [...found, { code: 'transaction' }] : found
}

function interactionOf(interaction: Route['interaction']): CapabilityStatementRestResourceInteraction[] {
  return interaction === undefined || isOfSystem(interaction) ? [] : [{ code: interaction }]
}

function isOfSystem(interaction: Route['interaction']): interaction is 'batch' | 'history-system' | 'search-system' {
  return interaction === 'batch' || interaction === 'history-system' || interaction === 'search-system'
}

function operationsOf(routes: readonly Route[]): CapabilityStatementRestResourceOperation[] {
  const byName = new Map(
    routes.flatMap(({ operation }) => (operation === undefined ? [] : [[operation.name, operation.definition] as const])),
  )
  return [...byName].map(([name, definition]) => ({ name: name.slice(1), definition }))
}

const FEATURE = 'http://hl7.org/fhir/uv/application-feature/StructureDefinition/feature'

/** Version of HL7's tests for terminology servers that this version passes; test runners choose their expectations by it. */
const TESTS_PASSED = '1.9.3'

/** Features that terminology clients look up by name, in this order. */
function features(): NonNullable<CapabilityStatement['extension']> {
  return [
    feature('http://hl7.org/fhir/uv/tx-tests/FeatureDefinition/test-version', { valueCode: TESTS_PASSED }),
    feature('http://hl7.org/fhir/uv/tx-ecosystem/FeatureDefinition/CodeSystemAsParameter', { valueBoolean: true }),
  ]
}

function feature(
  definition: string,
  value: { valueCode: string } | { valueBoolean: boolean },
): NonNullable<CapabilityStatement['extension']>[number] {
  return {
    url: FEATURE,
    extension: [
      { url: 'definition', valueCanonical: definition },
      { url: 'value', ...value },
    ],
  }
}

/** Options of `supportedSystems`. */
interface SupportedSystemsOptions {
  readonly ctx: OperationContext
  /** True if callers without a token may learn what is stored. */
  readonly withStored: boolean
}

/**
 * Lists the code systems that the terminology operations support besides those of the FHIR release: computed, imported, from packages and, if
 * `withStored` is set, stored ones. Stored ones require a storage that reports its revision. The list is made again after a change.
 *
 * @returns A function that returns their urls, each once, in ascending order.
 */
export function supportedSystems({ ctx, withStored }: SupportedSystemsOptions): () => Promise<readonly string[]> {
  const { definitions = [], concepts, storage } = ctx
  const stored = withStored && storage.revision !== undefined ? [storage] : []
  const unchanged = keptWhile([...definitions, ...stored, ...(concepts === undefined ? [] : [concepts])])
  let last: { readonly kept: Kept; readonly urls: Promise<readonly string[]> } | undefined
  return async () => {
    const kept = await unchanged()
    if (kept !== undefined && last?.kept === kept) return last.urls
    const urls = urlsIn(ctx, stored)
    if (kept !== undefined) last = { kept, urls }
    urls.catch(() => {
      if (last?.urls === urls) last = undefined
    })
    return urls
  }
}

async function urlsIn(ctx: OperationContext, stored: readonly Storage[]): Promise<readonly string[]> {
  const computed = (ctx.codeSystems ?? []).filter((system) => !isImported(system))
  const imported = (await ctx.concepts?.systems()) ?? []
  const urls = [...computed, ...imported].map(({ url }) => url)
  urls.push(...(await packagedSystems(ctx)))
  for (const storage of stored) urls.push(...(await storedSystems(storage, ctx)))
  return [...new Set(urls)].sort()
}

/** Code systems from packages. Those of the FHIR release are omitted: they follow from its version, which the CapabilityStatement states. */
async function packagedSystems({ definitions = [], scheduler }: OperationContext): Promise<readonly string[]> {
  const pace = createPace({ scheduler })
  const urls: string[] = []
  for (const layer of definitions)
    for (const definition of (await layer.all?.('CodeSystem')) ?? []) {
      if (definition.isOfRelease === true) continue
      await pace.step()
      if (hasConcepts(definition.resource)) urls.push(definition.url)
    }
  return urls
}

async function storedSystems(storage: Storage, { scheduler }: OperationContext): Promise<readonly string[]> {
  const pace = createPace({ scheduler })
  const urls: string[] = []
  for await (const match of allMatches(storage, { type: 'CodeSystem', where: { kind: 'and', conditions: [] }, maxBytes: PAGE_BYTES })) {
    await pace.step()
    const resource = await pacedResource(match, scheduler)
    const url = stringAt(resource, 'url')
    if (url !== undefined && hasConcepts(resource)) urls.push(url)
  }
  return urls
}

const PAGE_BYTES = 4 * 1024 * 1024

/** True unless the concepts are stored elsewhere, or supplement those of another code system. */
function hasConcepts(resource: JsonObject): boolean {
  const content = stringAt(resource, 'content')
  return content === 'complete' || content === 'fragment' || content === 'example'
}
