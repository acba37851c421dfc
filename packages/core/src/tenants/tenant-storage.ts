import { checkHas } from '../errors/index.js'
import {
  checkEntries,
  checkQuery,
  checkRead,
  checkScan,
  containedType,
  isContainedType,
  isResourceType,
  storedResource,
  wrappedStorage,
  type Condition,
  type EntryTest,
  type HistoryQuery,
  type IndexEntry,
  type KnownSession,
  type PutEntry,
  type ReadResult,
  type ResourceHistory,
  type ResourceVersion,
  type ScanPage,
  type ScanQuery,
  type SearchPage,
  type SearchQuery,
  type SessionRecord,
  type SessionStore,
  type Storage,
  type StorageChanges,
  type StoredResource,
  type UserRecord,
  type WriteEntry,
} from '../storage/index.js'

/**
 * Creates the storage of one tenant, with its own ids, versions and histories, in a storage that tenants share. Resources are stored under types that
 * begin with the tenant's name (`acme.Patient`), so that no query of another tenant finds them, whatever its conditions.
 *
 * @param storage Any storage that accepts such types; an adapter for another FHIR server does not.
 * @throws {TypeError} for a name other than 1 to 32 lower-case letters, digits and hyphens.
 */
export function tenantStorage(storage: Storage, tenant: string): Storage {
  checkHas('The storage', storage, ['read', 'search', 'write'])
  const names = namesOf(checkTenant(tenant))
  const { history, revision, scan, changes } = storage
  return wrappedStorage({
    capabilities: storage.capabilities,
    revision,
    history: history && tenantHistory(history, names),
    async read(type, id): Promise<ReadResult> {
      checkRead(type, id)
      const stored = await storage.read(names.inner(type), id)
      return stored && outerResource(stored, names)
    },
    async search(query): Promise<SearchPage> {
      checkQuery(query)
      const { items, ...page } = await storage.search(innerQuery(query, names))
      return { ...page, items: items.map((stored) => outerResource(stored, names)) }
    },
    scan: scan && ((query) => tenantScan(scan, query, names)),
    changes: changes && (async (since) => tenantChanges(await changes(since), names)),
    async count(query) {
      checkQuery(query)
      return storage.count(innerQuery(query, names))
    },
    async write(entries) {
      checkEntries(entries, storage.capabilities)
      const results = await storage.write(entries.map((entry) => innerEntry(entry, names)))
      return results.map((result) => ({ ...result, type: names.outer(result.type) }))
    },
    // The storage belongs to all tenants.
    close: () => Promise.resolve(),
  })
}

/** Maps types of a tenant to types of the shared storage. */
interface Names {
  readonly inner: (type: string) => string
  readonly outer: (type: string) => string
  /** True if a type of the shared storage belongs to the tenant. */
  readonly owns: (type: string) => boolean
}

function namesOf(tenant: string): Names {
  const prefix = `${tenant}.`
  const inner = (type: string): string => prefix + type
  const outer = (type: string): string => type.slice(prefix.length)
  return { inner: mappedType(inner), outer: mappedType(outer), owns: (type) => type.startsWith(prefix) }
}

function mappedType(map: (type: string) => string): (type: string) => string {
  return (type) => (isContainedType(type) ? containedType(map(type.slice(1))) : map(type))
}

function innerEntry(entry: WriteEntry, names: Names): WriteEntry {
  const type = names.inner(entry.type)
  if (entry.op !== 'put') return { ...entry, type }
  const innerEntries = (entries: readonly IndexEntry[]): readonly IndexEntry[] => entries.map((one) => innerIndexEntry(one, names))
  return {
    ...entry,
    type,
    text: retyped(entry.text, entry.type, type),
    entries: innerEntries(entry.entries),
    contained: entry.contained?.map((within) => ({ ...within, type: names.inner(within.type), entries: innerEntries(within.entries) })),
    ifOnlyMatch: entry.ifOnlyMatch && innerCondition(entry.ifOnlyMatch, names),
  }
}

/** Changes the type in the text of a resource; a text without the expected beginning is left for the storage to refuse. */
function retyped(text: string, from: string, to: string): PutEntry['text'] {
  const start = `{"resourceType":"${from}"`
  return text.startsWith(start) ? `{"resourceType":"${to}"${text.slice(start.length)}` : text
}

/** Renames the type in an entry of a reference, because queries join by it. */
function innerIndexEntry(entry: IndexEntry, names: Names): IndexEntry {
  return entry.system === undefined ? entry : { ...entry, system: innerSystem(entry.system, names) }
}

/** Renames everything that looks like a type, in entries and queries alike, so that equal values stay equal. */
function innerSystem(system: string, names: Names): string {
  return isResourceType(system) || isContainedType(system) ? names.inner(system) : system
}

/** Drops `parameters`, which use the tenant's type names: only adapters for other FHIR servers need them. */
function innerQuery({ parameters: _ofOuterTypes, ...query }: SearchQuery, names: Names): SearchQuery {
  return { ...query, type: names.inner(query.type), where: innerCondition(query.where, names) }
}

async function tenantScan(scan: NonNullable<Storage['scan']>, query: ScanQuery, names: Names): Promise<ScanPage> {
  checkScan(query)
  const { referring = [] } = query
  const { items, ...page } = await scan({
    ...innerQuery(query, names),
    referring: referring.map(({ params, ...one }) => ({ ...innerQuery(one, names), params })),
  })
  const outer = (stored: StoredResource): StoredResource => outerResource(stored, names)
  return { ...page, items: items.map((item) => ({ stored: outer(item.stored), referring: item.referring.map(outer) })) }
}

function tenantChanges({ mark, changed }: StorageChanges, { owns, outer }: Names): StorageChanges {
  if (changed === 'unknown') return { mark, changed }
  return { mark, changed: changed.flatMap(({ type, id }) => (owns(type) ? [{ type: outer(type), id }] : [])) }
}

function innerCondition(condition: Condition, names: Names): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { ...condition, conditions: condition.conditions.map((one) => innerCondition(one, names)) }
    case 'not':
      return { ...condition, condition: innerCondition(condition.condition, names) }
    case 'refersTo':
    case 'referredBy':
      return { ...condition, query: innerQuery(condition.query, names) }
    case 'entry':
      return { ...condition, all: condition.all.map((comparison) => innerComparison(comparison, names)) }
    default:
      return condition
  }
}

function innerComparison(comparison: EntryTest['all'][number], names: Names): EntryTest['all'][number] {
  if (comparison.field !== 'system') return comparison
  if (comparison.op === 'eq') return { ...comparison, operand: innerSystem(comparison.operand, names) }
  return comparison.op === 'in' ? { ...comparison, operands: comparison.operands.map((one) => innerSystem(one, names)) } : comparison
}

function outerResource(stored: StoredResource, names: Names): StoredResource {
  const type = names.outer(stored.type)
  const { id, versionId, lastUpdated } = stored
  const row = {
    type,
    id,
    versionId,
    lastUpdated,
    get text() {
      return stored.text
    },
  }
  return storedResource(row, ({ text }) => retyped(text, stored.type, type))
}

function tenantHistory(history: ResourceHistory, names: Names): ResourceHistory {
  const outer = ({ stored, ...version }: ResourceVersion): ResourceVersion => ({
    ...version,
    type: names.outer(version.type),
    ...(stored !== undefined && { stored: outerResource(stored, names) }),
  })
  const inner = (query: HistoryQuery): HistoryQuery => ({ ...query, types: query.types.map(names.inner) })
  return {
    async version(type, id, versionId) {
      const version = await history.version(names.inner(type), id, versionId)
      return version && outer(version)
    },
    async page(query) {
      const { items, ...page } = await history.page(inner(query))
      return { ...page, items: items.map(({ created, ...version }) => ({ ...outer(version), created })) }
    },
  }
}

/** @throws {TypeError} for a name other than 1 to 32 lower-case letters, digits and hyphens. */
function checkTenant(name: string): string {
  // Otherwise the texts `undefined` and `null` would be valid names.
  if (typeof name === 'string' && /^[a-z0-9-]{1,32}$/.test(name)) return name
  throw new TypeError('The name of a tenant is 1 to 32 small letters, digits and hyphens.')
}

/**
 * Creates the session store of one tenant, with its own users, sessions and tokens, in a store that tenants share. A token or login id of another tenant
 * is unknown in it. `purge` applies to the whole store, because it removes only sessions that can no longer be used.
 *
 * @throws {TypeError} for a name other than 1 to 32 lower-case letters, digits and hyphens.
 */
export function tenantSessionStore(store: SessionStore, tenant: string): SessionStore {
  checkHas('The session store', store, ['addSession', 'session', 'user'])
  // Subjects and digests contain no blanks.
  const prefix = `${checkTenant(tenant)} `
  const outerUser = (user: UserRecord | undefined): UserRecord | undefined => user && { ...user, sub: user.sub.slice(prefix.length) }
  const outer = (session: SessionRecord | undefined): SessionRecord | undefined =>
    session?.sub.startsWith(prefix) === true
      ? { ...session, sub: session.sub.slice(prefix.length), digest: session.digest.slice(prefix.length) }
      : undefined
  const outerKnown = (known: KnownSession | undefined): KnownSession | undefined => {
    const session = outer(known?.session)
    return session && { session, user: outerUser(known?.user) }
  }
  const ofTenant = async (loginId: string): Promise<SessionRecord | undefined> => outer(await store.session(loginId))
  return {
    ...(store.news !== undefined && { news: store.news }),
    ...(store.knownByDigest !== undefined && {
      knownByDigest: async (digest) => outerKnown(await store.knownByDigest?.(prefix + digest)),
    }),
    user: async (sub) => outerUser(await store.user(prefix + sub)),
    putUser: async (sub, claims) => ({ ...(await store.putUser(prefix + sub, claims)), sub }),
    setUserState: async (sub, state, at) => outerUser(await store.setUserState(prefix + sub, state, at)),
    raiseEpoch: async (sub, at) => outerUser(await store.raiseEpoch(prefix + sub, at)),
    addSession: (session) => store.addSession({ ...session, sub: prefix + session.sub, digest: prefix + session.digest }),
    session: ofTenant,
    sessionByDigest: async (digest) => outer(await store.sessionByDigest(prefix + digest)),
    async sessionsOf(sub, limit, wanted) {
      const sessions = await store.sessionsOf(prefix + sub, limit, wanted)
      return sessions.flatMap((session) => outer(session) ?? [])
    },
    async changeSession(loginId, from, change) {
      return (await ofTenant(loginId)) && outer(await store.changeSession(loginId, from, change))
    },
    endOthers: (sub, except) => store.endOthers(prefix + sub, except),
    useOnce: (key, time) => store.useOnce(prefix + key, time),
    purge: (expiredBefore) => store.purge(expiredBefore),
  }
}
