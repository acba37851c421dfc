import type { OperationContext } from 'fhir-ops/context'
import { isImported } from 'fhir-ops/internal/code-system'
import { pacedResource } from 'fhir-ops/internal/context'
import { stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { allMatches } from 'fhir-ops/storage'

/** What the list of supported code systems is made with. */
export interface SupportedSystemsOptions {
  readonly ctx: OperationContext
  /** Whether callers without a token may learn what is stored. */
  readonly withStored: boolean
}

/**
 * Makes the list of code systems that the terminology operations know besides those of the FHIR release: computed, imported, of packages and, if
 * `withStored` is set, stored ones. The list is made again when the definitions have changed. Stored ones need a storage that tells its revision.
 *
 * @returns A function that gives their urls, each once, in ascending order.
 */
export function supportedSystems({ ctx, withStored }: SupportedSystemsOptions): () => Promise<readonly string[]> {
  const { definitions = [], concepts } = ctx
  const stored = withStored && ctx.storage.revision !== undefined
  const content = keptUntilChanged(
    async () => {
      const revisions = definitions.map(async (layer) => layer.revision?.() ?? 0)
      return JSON.stringify(await Promise.all([...revisions, stored && ctx.storage.revision?.()]))
    },
    async () => [...(await packagedSystems(ctx)), ...(stored ? await storedSystems(ctx) : [])],
  )
  const computed = (ctx.codeSystems ?? []).filter((system) => !isImported(system)).map(({ url }) => url)
  return async () => {
    const imported = ((await concepts?.systems()) ?? []).map(({ url }) => url)
    return [...new Set([...computed, ...imported, ...(await content())])].sort()
  }
}

/** What `make` gave last, while `revision` says the same. What failed is made again. */
function keptUntilChanged<T>(revision: () => Promise<string>, make: () => Promise<T>): () => Promise<T> {
  let kept: { readonly revision: string; readonly made: Promise<T> } | undefined
  return async () => {
    const current = await revision()
    if (kept?.revision === current) return kept.made
    const made = make()
    const entry = { revision: current, made }
    kept = entry
    made.catch(() => {
      if (kept === entry) kept = undefined
    })
    return made
  }
}

async function packagedSystems({ definitions = [] }: OperationContext): Promise<readonly string[]> {
  const listed = await Promise.all(definitions.map(async (layer) => (await layer.all?.('CodeSystem')) ?? []))
  // The definitions of the release come with its version, which the CapabilityStatement has.
  const own = listed.flat().filter(({ isOfRelease }) => isOfRelease !== true)
  return own.filter(({ resource }) => hasConcepts(resource)).map(({ url }) => url)
}

async function storedSystems({ storage, scheduler }: OperationContext): Promise<readonly string[]> {
  const urls: string[] = []
  for await (const match of allMatches(storage, { type: 'CodeSystem', where: { kind: 'and', conditions: [] }, maxBytes: PAGE_BYTES })) {
    const resource = await pacedResource(match, scheduler)
    const url = stringAt(resource, 'url')
    if (url !== undefined && hasConcepts(resource)) urls.push(url)
  }
  return urls
}

const PAGE_BYTES = 4 * 1024 * 1024

/** True unless the resource says that its concepts are elsewhere, or adds to those of another code system. */
function hasConcepts(resource: JsonObject): boolean {
  const content = stringAt(resource, 'content')
  return content === 'complete' || content === 'fragment' || content === 'example'
}
