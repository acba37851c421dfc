import fc from 'fast-check'
import { expect, it } from 'vitest'
import { rounds, SEED } from '../../../../test/effort.js'
import { OperationError } from '../errors/index.js'
import { memorySessionStore } from '../memory/index.js'
import type { SessionStore } from '../storage/index.js'
import { createSessions, rejectionReason, type Principal, type Sessions } from './index.js'

const HOUR = 3_600_000
const USERS = ['ann', 'ben'] as const
type User = (typeof USERS)[number]

/** One call. Sessions are chosen by a number, among those that there are when the call begins. */
interface Step {
  readonly kind:
    | 'create'
    | 'adopt'
    | 'verify'
    | 'logout'
    | 'revoke'
    | 'revokeOthers'
    | 'signOutEverywhere'
    | 'disable'
    | 'enable'
    | 'delete'
    | 'disableUser'
    | 'enableUser'
    | 'purge'
  readonly instance: 0 | 1
  readonly user: User
  readonly session: number
}

/** Calls that are under way at the same time, and what happens before them. */
interface Batch {
  readonly steps: readonly Step[]
  /** The clock jumps. */
  readonly jump: number
  /** Nothing can be stored meanwhile. */
  readonly isFull: boolean
}

/** A session, and what has become of it as far as calls that have ended say. */
interface Known {
  readonly user: User
  readonly loginId: string
  readonly expiresAt: number
  readonly verify: (sessions: Sessions) => Promise<Principal>
  /** An end of it was acknowledged. */
  isEnded: boolean
  /** An end of it, or of what it depends on, was asked for at the same time as something else, or could not be stored. */
  isUnsure: boolean
  isDisabled: boolean
  /** Instances that must refuse it, whatever is stored. */
  readonly refusedBy: Set<number>
}

interface Caller {
  readonly principal: Principal
  readonly chosen: Known
  /** What there was when the call began. */
  readonly before: readonly Known[]
}

const KINDS: readonly Step['kind'][] = [
  'create',
  'create',
  'adopt',
  'verify',
  'logout',
  'revoke',
  'revokeOthers',
  'signOutEverywhere',
  'disable',
  'disable',
  'enable',
  'enable',
  'delete',
  'disableUser',
  'enableUser',
  'purge',
]
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...KINDS),
  instance: fc.constantFrom(0, 1),
  user: fc.constantFrom(...USERS),
  session: fc.nat({ max: 3 }),
})
const batch: fc.Arbitrary<Batch> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
  jump: fc.constantFrom(0, 0, 0, HOUR, -HOUR, 24 * HOUR, -24 * HOUR),
  isFull: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
})

/** A store whose calls end in an order of their own. */
function shuffled(scheduler: fc.Scheduler, isFull: () => boolean): SessionStore {
  const store = memorySessionStore()
  const full = (): void => {
    if (isFull()) throw new OperationError('storage-full', 'The disk is full.')
  }
  const later = scheduler.scheduleFunction(async () => {})
  const wait = async (): Promise<void> => {
    await later()
  }
  return {
    ...store,
    session: async (id) => wait().then(() => store.session(id)),
    sessionByDigest: async (digest) => wait().then(() => store.sessionByDigest(digest)),
    user: async (sub) => wait().then(() => store.user(sub)),
    putUser: async (sub, claims) => wait().then(() => (full(), store.putUser(sub, claims))),
    addSession: async (session) => wait().then(() => (full(), store.addSession(session))),
    changeSession: async (...change) => wait().then(() => (full(), store.changeSession(...change))),
    endOthers: async (...others) => wait().then(() => (full(), store.endOthers(...others))),
    raiseEpoch: async (...user) => wait().then(() => (full(), store.raiseEpoch(...user))),
    setUserState: async (...user) => wait().then(() => (full(), store.setUserState(...user))),
  }
}

class World {
  time = Date.UTC(2026, 0, 1)
  isFull = false
  readonly known: Known[] = []
  readonly #foreign = new Map<User, Known>()
  readonly #disabled = new Map<User, boolean | 'unsure'>()
  readonly instances: readonly [Sessions, Sessions]
  readonly scheduler: fc.Scheduler

  constructor(scheduler: fc.Scheduler) {
    this.scheduler = scheduler
    const store = shuffled(scheduler, () => this.isFull)
    const make = (): Sessions => createSessions({ store, now: () => new Date(this.time) })
    this.instances = [make(), make()]
  }

  async run({ steps, jump, isFull }: Batch): Promise<void> {
    this.time += jump
    this.isFull = isFull
    const before = [...this.known]
    const isAlone = steps.length === 1
    await this.scheduler.waitFor(Promise.all(steps.map(async (one) => this.#step(one, before, isAlone))))
    this.isFull = false
    await this.#check()
  }

  async #step(asked: Step, before: readonly Known[], isAlone: boolean): Promise<void> {
    const { kind, user, instance, session } = asked
    const sessions = this.instances[instance]
    const ofUser = before.filter((one) => one.user === user)
    if (kind === 'create') return this.#create(sessions, user)
    if (kind === 'adopt') return this.#adopt(sessions, user)
    if (kind === 'purge') return void (await succeeds(() => sessions.purge()))
    if (kind === 'disableUser' || kind === 'enableUser') return this.#setUser(sessions, kind, user, { ofUser, isAlone })
    if (kind === 'signOutEverywhere') {
      await this.#ending(instance, ofUser, () => sessions.signOutEverywhere(user))
      return isAlone ? undefined : this.#unsure(user)
    }
    const chosen = before[session % Math.max(1, before.length)]
    if (chosen === undefined) return
    if (kind === 'enable' || kind === 'disable' || kind === 'delete') return this.#setSession(sessions, kind, chosen, isAlone)
    const principal = await chosen.verify(sessions).catch(() => undefined)
    if (principal !== undefined) await this.#asCaller(asked, { principal, chosen, before })
  }

  /** What a caller does with the token of the chosen session. */
  async #asCaller({ kind, instance, session }: Step, { principal, chosen, before }: Caller): Promise<void> {
    const sessions = this.instances[instance]
    const own = before.filter((one) => one.user === chosen.user)
    const others = own.filter((one) => one !== chosen)
    const target = own[session % own.length] ?? chosen
    if (kind === 'logout') await this.#ending(instance, [chosen], () => sessions.logout(principal))
    if (kind === 'revokeOthers') await this.#ending(instance, others, () => sessions.revokeOthers(principal))
    if (kind === 'revoke') await this.#ending(instance, [target], () => sessions.revoke({ principal, loginId: target.loginId }))
  }

  /** Does a call that ends sessions: once it is acknowledged they are ended; if it cannot be stored, at least this instance refuses them. */
  async #ending(instance: number, those: readonly Known[], call: () => Promise<unknown>): Promise<void> {
    const isDone = await succeeds(call)
    for (const one of those) {
      if (isDone) one.isEnded = true
      else one.isUnsure = true
      if (!isDone && this.isFull) one.refusedBy.add(instance)
    }
  }

  async #setSession(sessions: Sessions, kind: 'delete' | 'disable' | 'enable', chosen: Known, isAlone: boolean): Promise<void> {
    const isDone = await succeeds(() => sessions[kind](chosen.loginId))
    if (isDone && kind === 'delete') chosen.isEnded = true
    else if (isDone && isAlone) chosen.isDisabled = kind === 'disable'
    else chosen.isUnsure = true
  }

  async #create(sessions: Sessions, user: User): Promise<void> {
    const made = await sessions.create({ user, ttl: 20 * 3_600 }).catch(() => undefined)
    if (made === undefined) return
    this.#know(user, { loginId: made.loginId, expiresAt: Date.parse(made.expiresAt), verify: (by) => by.verify(made.token) })
  }

  /** The same session of another issuer each time, with a new token. */
  async #adopt(sessions: Sessions, user: User): Promise<void> {
    const expiresAt = this.time + 1_000 * HOUR
    const token = { issuer: 'https://i', sub: user, sessionKey: `sid:${user}`, issuedAt: this.time, expiresAt, scopes: [], claims: {} }
    const adopt = async (by: Sessions): Promise<Principal> => by.adopt(token)
    const principal = await adopt(sessions).catch(() => undefined)
    if (principal === undefined || this.#foreign.has(user)) return
    this.#foreign.set(user, this.#know(user, { loginId: principal.loginId, expiresAt, verify: adopt }))
  }

  #know(user: User, made: Pick<Known, 'expiresAt' | 'loginId' | 'verify'>): Known {
    // It began together with others, of which one may be an end of all that there was.
    const known = { user, ...made, isEnded: false, isUnsure: true, isDisabled: false, refusedBy: new Set<number>() }
    this.known.push(known)
    return known
  }

  #unsure(user: User): void {
    for (const one of this.known) if (one.user === user) one.isUnsure = true
  }

  async #setUser(
    sessions: Sessions,
    kind: 'disableUser' | 'enableUser',
    user: User,
    { ofUser, isAlone }: { readonly ofUser: readonly Known[]; readonly isAlone: boolean },
  ): Promise<void> {
    const isDone = await succeeds(() => sessions[kind](user))
    if (isDone && isAlone) this.#disabled.set(user, kind === 'disableUser')
    else this.#disabled.set(user, 'unsure')
    if (!isAlone) this.#unsure(user)
    if (kind === 'disableUser') for (const one of ofUser) Object.assign(one, isDone ? { isEnded: true } : { isUnsure: true })
  }

  /** What two instances say of every session, when nothing is under way. */
  async #check(): Promise<void> {
    for (const one of this.known) {
      const said: boolean[] = []
      for (const sessions of this.instances) said.push(await this.scheduler.waitFor(accepts(sessions, one)))
      for (const [instance, isAccepted] of said.entries())
        if (one.isEnded || one.refusedBy.has(instance) || one.expiresAt <= this.time) expect(isAccepted, `${one.loginId} lives`).toBe(false)
      const isSure = !one.isEnded && !one.isUnsure && this.#disabled.get(one.user) !== 'unsure'
      const isLive = !one.isDisabled && this.#disabled.get(one.user) !== true && one.expiresAt > this.time
      if (isSure) expect(said, `${one.loginId} is refused without a reason`).toEqual([isLive, isLive])
      await this.#settle(one, said)
    }
    for (const sessions of this.instances) await this.#checkLists(sessions)
  }

  /** What was unsure is known once it was looked at: what both accept lives, and is listed. */
  async #settle(one: Known, said: readonly boolean[]): Promise<void> {
    if (!one.isEnded && one.isUnsure && one.refusedBy.size === 0 && said.every(Boolean)) {
      one.isUnsure = false
      one.isDisabled = false
      this.#disabled.set(one.user, false)
    }
  }

  async #checkLists(sessions: Sessions): Promise<void> {
    for (const user of USERS) {
      const ids = new Set(this.known.map(({ loginId }) => loginId))
      // A session may have begun although the call that began it failed.
      const listed = (await this.scheduler.waitFor(sessions.list(user))).filter(({ loginId }) => ids.has(loginId))
      const accepted: string[] = []
      for (const one of this.known)
        if (one.user === user && (await this.scheduler.waitFor(accepts(sessions, one)))) accepted.push(one.loginId)
      expect(listed.map(({ loginId }) => loginId).toSorted()).toEqual(accepted.toSorted())
    }
  }
}

async function succeeds(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call()
    return true
  } catch (error) {
    if (error instanceof OperationError) return false
    throw error
  }
}

async function accepts(sessions: Sessions, { verify }: Known): Promise<boolean> {
  try {
    await verify(sessions)
    return true
  } catch (error) {
    if (rejectionReason(error) === undefined) throw error
    return false
  }
}

it('no sequence of calls, whatever runs at the same time and however clocks jump, revives a session or ends another', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(batch, { minLength: 1, maxLength: 20 }), async (scheduler, batches) => {
      const world = new World(scheduler)
      for (const one of batches) await world.run(one)
    }),
    { numRuns: rounds({ quick: 150, all: 2_000 }), seed: SEED },
  )
})
