import { canonicalOf } from '../content/index.js'
import { createPace, type OperationContext, type Pace } from '../context/index.js'
import { systemFamily, type SystemFamily } from './code-system/system-family.js'
import { refusal } from './refusal.js'
import { NO_RULES, type VersionRules } from './versions.js'

/** What one request works with: its rules, and everything that it has looked up so far. */
export interface TerminologyScope {
  readonly ctx: OperationContext
  readonly rules: VersionRules
  readonly pace: Pace
  /** Every version of a code system; looked up once. */
  family(url: string): Promise<SystemFamily>
}

/** How a scope works. */
export interface ScopeOptions {
  readonly rules?: VersionRules
  /** Canonicals of the supplements that must be used, from the request and from the value set. */
  readonly supplements?: readonly string[]
}

/**
 * Opens the scope of one request.
 *
 * @throws {OperationError} `content-not-found` when a supplement does not exist.
 */
export async function terminologyScope(ctx: OperationContext, options: ScopeOptions = {}): Promise<TerminologyScope> {
  const supplements = options.supplements ?? []
  await Promise.all(supplements.map((canonical) => demandSupplement(ctx, canonical)))
  const families = new Map<string, Promise<SystemFamily>>()
  return {
    ctx,
    rules: options.rules ?? NO_RULES,
    pace: createPace(ctx),
    family: (url) => {
      const found = families.get(url) ?? systemFamily(ctx, url, { supplements })
      families.set(url, found)
      return found
    },
  }
}

async function demandSupplement(ctx: OperationContext, canonical: string): Promise<void> {
  const { url, version } = canonicalOf(canonical)
  const found = await ctx.content.find('CodeSystem', 'url', url)
  const exists = found.some(
    (definition) => definition.resource['content'] === 'supplement' && (version === undefined || definition.version === version),
  )
  if (!exists) throw refusal('VALUESET_SUPPLEMENT_MISSING', { supplement: canonical })
}
