import type { Definition } from '../../../content/index.js'
import type { OperationContext } from '../../../context/index.js'
import type { JsonObject } from '../../../json/index.js'
import type { ConceptStore, StoredSystem } from '../../../storage/index.js'
import type { CodeSystemProvider } from '../../code-system/provider.js'
import { storedVersions } from '../../code-system/stored-systems.js'
import { mainText } from '../../concept-texts.js'
import { readHeader } from '../index/header.js'
import { refsetTable } from '../index/refset-table.js'
import { sectionReader } from '../index/section-reader.js'
import { SNOMED } from '../sctid.js'
import { implicitUrl } from './implicit-url.js'

/** What associations of inactive concepts mean for a translation. @see https://hl7.org/fhir/R4/snomedct.html#implicit-cm */
const EQUIVALENCE: ReadonlyMap<string, string> = new Map([
  ['900000000000523009', 'inexact'],
  ['900000000000526001', 'equivalent'],
  ['900000000000527005', 'equal'],
  ['900000000000530003', 'inexact'],
])

/**
 * The ConceptMap that an implicit url names: an association reference set from inactive concepts to their targets.
 *
 * @returns `undefined` when the url is none, no version is known, or there is no such reference set.
 */
export async function implicitMap(ctx: OperationContext, url: string): Promise<Definition | undefined> {
  const asked = implicitUrl(url, 'fhir_cm')
  if (asked?.value === undefined || ctx.concepts === undefined) return undefined
  const provider = (await storedVersions(ctx, SNOMED)).provider(asked.version)
  const stored = (await ctx.concepts.systems()).find((one) => one.url === SNOMED && one.version === provider?.header.version)
  if (provider === undefined || stored === undefined) return undefined
  const rows = await associations(ctx.concepts, stored, asked.value)
  if (rows === undefined) return undefined
  const { version } = stored
  const group = [{ source: SNOMED, target: SNOMED, element: elements(rows, EQUIVALENCE.get(asked.value) ?? 'relatedto', provider) }]
  const resource = { resourceType: 'ConceptMap', url, version, status: 'active', group }
  return { type: 'ConceptMap', url, version, status: 'active', resource, key: `${stored.key} ${url}` }
}

interface Association {
  readonly source: string
  readonly target: string
}

/** The active rows of a reference set; `undefined` when it associates nothing. */
async function associations(concepts: ConceptStore, stored: StoredSystem, id: string): Promise<readonly Association[] | undefined> {
  const reader = sectionReader(await concepts.open(stored.key))
  const refsets = refsetTable(reader, readHeader(stored.header), stored.concepts)
  const target = refsets.find(id)?.fields.indexOf('targetComponentId') ?? -1
  if (target < 0) return undefined
  const rows = [...refsets.rows(id)].filter(({ active }) => active)
  return rows.map(({ referencedComponentId, fields }) => ({ source: referencedComponentId, target: fields[target] ?? '' }))
}

function elements(rows: readonly Association[], equivalence: string, provider: CodeSystemProvider): readonly JsonObject[] {
  const bySource = Map.groupBy(rows, ({ source }) => source)
  return Array.from(bySource, ([source, found]) =>
    mapped(provider, source, { target: found.map(({ target }) => mapped(provider, target, { equivalence })) }),
  )
}

/** A concept of the map. Its display is read when it is found. */
function mapped(provider: CodeSystemProvider, code: string, more: JsonObject): JsonObject {
  return {
    code,
    get display() {
      const concept = provider.find(code)
      return concept === undefined ? undefined : mainText(provider, concept)?.value
    },
    ...more,
  }
}
