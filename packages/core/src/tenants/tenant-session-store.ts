import type { KnownSession, SessionRecord, SessionStore, UserRecord } from '../storage/index.js'
import { checkTenant } from './tenant-storage.js'

/**
 * A tenant's part of a session store: its own users, sessions and tokens. A token or login id of another part is unknown here. `purge` is
 * of the whole store, as it forgets only what nobody can use any more.
 *
 * @throws {TypeError} for a name that is not 1 to 32 small letters, digits and hyphens.
 */
export function tenantSessionStore(store: SessionStore, tenant: string): SessionStore {
  // No subject has a blank, and no digest.
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
    async sessionsOf(sub, limit, state) {
      const sessions = await store.sessionsOf(prefix + sub, limit, state)
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
