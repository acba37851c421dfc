import { isImported, type CodeSystemProvider, type ComputedSystem } from '../../code-system/index.js'
import { newestOf, type Definition } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { definedValueSet } from '../value-set/defined-value-set.js'
import { computedProvider } from './computed-provider.js'

/** Gives the provider for a version; the current one when none is asked for, `undefined` when that version is not known. */
export type SystemSource = (version?: string) => CodeSystemProvider | undefined

/** The code system of this url among those that the context brings; `undefined` when there is none. */
export async function computedSystem(ctx: OperationContext, url: string): Promise<SystemSource | undefined> {
  const system = ctx.codeSystems?.find((one) => one.url === url && !isImported(one))
  return system === undefined || isImported(system) ? undefined : sourceOf(ctx, system)
}

async function sourceOf(ctx: OperationContext, system: ComputedSystem): Promise<SystemSource> {
  const found = await firstKnown(ctx, system.common ?? [])
  const provider = computedProvider(system, found === undefined ? undefined : definedValueSet(ctx.cache, found))
  return (version) => (version === undefined || version === system.version ? provider : undefined)
}

async function firstKnown(ctx: OperationContext, urls: readonly string[]): Promise<Definition | undefined> {
  for (const url of urls) {
    const found = newestOf(await ctx.content.find('ValueSet', 'url', url))
    if (found !== undefined) return found
  }
  return undefined
}
