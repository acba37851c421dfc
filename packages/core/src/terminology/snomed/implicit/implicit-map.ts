import type { Definition } from '../../../content/index.js'
import type { OperationContext } from '../../../context/index.js'
import type { JsonObject } from '../../../json/index.js'
import type { ConceptStore, StoredSystem } from '../../../storage/index.js'
import { pickSnomedVersion } from '../edition.js'
import { readHeader, SNOMED_FORMAT } from '../index/header.js'
import { refsetTable, type RefsetRow } from '../index/refset-table.js'
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
  const stored = await storedVersion(ctx.concepts, asked.version)
  const element = stored === undefined ? undefined : await elementsOf(ctx.concepts, stored, asked.value)
  if (stored === undefined || element === undefined) return undefined
  const { version } = stored
  const group = [{ source: SNOMED, target: SNOMED, element }]
  const resource = { resourceType: 'ConceptMap', url, version, status: 'active', group }
  return { type: 'ConceptMap', url, version, status: 'active', resource, key: `${stored.key} ${url}` }
}

async function storedVersion(concepts: ConceptStore, asked: string | undefined): Promise<StoredSystem | undefined> {
  const systems = (await concepts.systems()).filter(({ url, format }) => url === SNOMED && format === SNOMED_FORMAT)
  const picked = pickSnomedVersion(
    systems.map(({ version }) => version),
    asked,
  )
  return systems.find(({ version }) => version === picked)
}

async function elementsOf(concepts: ConceptStore, stored: StoredSystem, id: string): Promise<readonly JsonObject[] | undefined> {
  const reader = sectionReader(await concepts.open(stored.key))
  const refsets = refsetTable(reader, readHeader(stored.header), stored.concepts)
  const target = refsets.find(id)?.fields.indexOf('targetComponentId') ?? -1
  return target < 0 ? undefined : elements([...refsets.rows(id)], target, EQUIVALENCE.get(id) ?? 'relatedto')
}

function elements(rows: readonly RefsetRow[], target: number, equivalence: string): readonly JsonObject[] {
  const bySource = Map.groupBy(
    rows.filter(({ active }) => active),
    (row) => row.referencedComponentId,
  )
  return Array.from(bySource, ([code, found]) => ({
    code,
    target: found.map(({ fields }) => ({ code: fields[target], equivalence })),
  }))
}
