import { formatCanonical } from '../../content/index.js'
import { quoted } from '../../errors/index.js'
import type { ExplanationReason, ExplanationStep } from '../../explain/index.js'
import type { SystemChoice } from '../code-system/system-family.js'
import type { VersionOrigin } from '../versions.js'

const REASONS: Readonly<Record<VersionOrigin, ExplanationReason>> = {
  force: 'force-system-version',
  include: 'include',
  fallback: 'system-version',
  check: 'check-system-version',
  value: 'coding',
  newest: 'newest',
}

const BECAUSE: ReadonlyMap<ExplanationReason, string> = new Map<ExplanationReason, string>([
  ['coding', 'the coding states it'],
  ['include', 'the include states it'],
  ['newest', 'it is the newest that is not retired'],
  ['request', 'the request states it'],
])

const MOST_VERSIONS = 10

/**
 * Which version of a code system was used, and why.
 *
 * @param stated What a version that is stated beside the request's rules stands in.
 * @param value Version of the coding that is validated.
 */
export function versionStep(choice: SystemChoice, stated: 'include' | 'request' | 'coding', value?: string): ExplanationStep {
  const { family, provider, wished, violates } = choice
  const known = family.versions.length === 0 ? '' : ` Known versions: ${listed(family.versions)}.`
  if (provider === undefined) {
    const definition = formatCanonical(family.url, wished)
    const text = `The code system ${quoted(definition)} is not known.${known}`
    return { kind: 'code-system', outcome: 'unknown', reason: 'unknown-system', definition, text }
  }
  const { version } = provider.header
  const reason = reasonOf(choice, stated, value !== undefined && version === value && wished !== value)
  const definition = formatCanonical(family.url, version)
  const because = version === undefined ? 'it has no versions' : becauseOf(reason, wished, version)
  const outcome = violates === undefined ? 'chosen' : 'fails'
  return { kind: 'code-system', outcome, reason, definition, text: `${quoted(definition)} was used: ${because}.${known}` }
}

function reasonOf({ origin }: SystemChoice, stated: ExplanationReason, isOfValue: boolean): ExplanationReason {
  if (isOfValue) return 'coding'
  return origin === 'include' ? stated : REASONS[origin]
}

function becauseOf(reason: ExplanationReason, wished: string | undefined, version: string): string {
  const because = BECAUSE.get(reason) ?? `the parameter ${reason} asks for it`
  return wished === undefined || wished === version ? because : `${because} as ${quoted(wished)}`
}

function listed(versions: readonly string[]): string {
  const more = versions.length - MOST_VERSIONS
  const last = versions.slice(-MOST_VERSIONS).map(quoted).join(', ')
  return more > 0 ? `${last} and ${more} older` : last
}
