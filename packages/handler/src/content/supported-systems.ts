import type { OperationContext } from 'fhir-ops/context'
import { isImported } from 'fhir-ops/internal/code-system'
import { keptWhile, type Kept } from 'fhir-ops/internal/content'
import { createPace, pacedResource } from 'fhir-ops/internal/context'
import { stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { allMatches, type Storage } from 'fhir-ops/storage'

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
