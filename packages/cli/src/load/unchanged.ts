import { allMatches, stampedText, type PutEntry, type Storage, type StoredResource } from 'fhir-ops/storage'

/** As many ids as the address of a search on another server holds. */
const IDS_AT_ONCE = 100

/** The entries without those whose resource is stored with the same content; of several with one address, all stay. */
export async function withoutUnchanged(entries: readonly PutEntry[], storage: Storage): Promise<readonly PutEntry[]> {
  const stored = new Map<string, StoredResource>()
  for (const [type, ofType] of Map.groupBy(entries, (entry) => entry.type)) {
    const ids = ofType.map(({ id }) => id)
    for await (const found of resourcesOf(storage, type, ids)) stored.set(addressOf(found), found)
  }
  const byAddress = Map.groupBy(entries, addressOf)
  return entries.filter((entry) => {
    const found = stored.get(addressOf(entry))
    return found === undefined || !isSame(found, entry) || byAddress.get(addressOf(entry))?.length !== 1
  })
}

function isSame({ type, id, versionId, lastUpdated, text }: StoredResource, entry: PutEntry): boolean {
  return text === stampedText({ type, id, versionId, lastUpdated, text: entry.text })
}

async function* resourcesOf(storage: Storage, type: string, ids: readonly string[]): AsyncGenerator<StoredResource> {
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    yield* allMatches(storage, { type, where: { kind: 'id', ids: ids.slice(at, at + IDS_AT_ONCE) } })
  }
}

function addressOf({ type, id }: { readonly type: string; readonly id: string }): string {
  return `${type}/${id}`
}
