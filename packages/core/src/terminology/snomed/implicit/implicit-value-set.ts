import type { Definition } from '../../../content/index.js'
import type { OperationContext } from '../../../context/index.js'
import type { JsonObject } from '../../../json/index.js'
import { storedVersions } from '../../code-system/stored-systems.js'
import type { CodeSystemProvider } from '../../code-system/provider.js'
import { readHeader } from '../index/header.js'
import { SNOMED } from '../sctid.js'
import { implicitUrl } from './implicit-url.js'

/**
 * The value set that an implicit url names: all codes, `isa/X`, `refset`, `refset/X` or `ecl/E`.
 *
 * @returns `undefined` when the url is none, no version is known, or X is neither a concept nor a reference set.
 */
export async function implicitValueSet(ctx: OperationContext, url: string): Promise<Definition | undefined> {
  const asked = implicitUrl(url, 'fhir_vs')
  if (asked === undefined) return undefined
  const provider = (await storedVersions(ctx, SNOMED)).provider(asked.version)
  if (provider === undefined) return undefined
  const content = await contentOf(ctx, provider, asked.value)
  if (content === undefined) return undefined
  const include = { system: SNOMED, ...(asked.version !== undefined && { version: provider.header.version }), ...content.part }
  const resource = {
    resourceType: 'ValueSet',
    url,
    title: content.title,
    status: 'active',
    compose: { include: [include] },
  }
  return { type: 'ValueSet', url, status: 'active', resource }
}

/** Titled as the templates of the specification name them. @see https://hl7.org/fhir/R4/snomedct.html#implicit */
interface Content {
  readonly title: string
  readonly part: JsonObject
}

async function contentOf(ctx: OperationContext, provider: CodeSystemProvider, value: string | undefined): Promise<Content | undefined> {
  if (value === undefined) return { title: 'SNOMED CT Reference Set (All of SNOMED CT)', part: {} }
  if (value === 'refset') return allRefsets(ctx, provider)
  const [kind, ...rest] = value.split('/')
  const named = rest.join('/')
  if (kind === 'ecl') return { title: `SNOMED CT Concepts matching ${named}`, part: filtered('constraint', '=', named) }
  const place = /^[0-9]+$/.test(named) ? provider.find(named) : undefined
  if (place === undefined) return undefined
  if (kind === 'isa') return { title: `SNOMED CT Concept ${named} and descendants`, part: filtered('concept', 'is-a', named) }
  const isRefset = provider.filter?.({ property: 'concept', op: 'in', value: named }, provider) !== undefined
  return kind === 'refset' && isRefset ? { title: `SNOMED CT Reference Set ${named}`, part: filtered('concept', 'in', named) } : undefined
}

function filtered(property: string, op: string, value: string): JsonObject {
  return { filter: [{ property, op, value }] }
}

async function allRefsets(ctx: OperationContext, provider: CodeSystemProvider): Promise<Content> {
  const stored = ((await ctx.concepts?.systems()) ?? []).find(({ url, version }) => url === SNOMED && version === provider.header.version)
  const refsets = stored === undefined ? [] : readHeader(stored.header).refsets
  const concept = refsets.filter(({ id }) => provider.find(id) !== undefined).map(({ id }) => ({ code: id }))
  return { title: 'SNOMED CT Reference Sets', part: { concept } }
}
