import type { FromWorker, RunMessage } from './protocol.js'
import { readFile } from 'node:fs/promises'
import { constants, getPriority, platform, setPriority } from 'node:os'
import { MessagePort, workerData } from 'node:worker_threads'
import { claimRun, sentCount, sleepUntilSent, tellBegun, tellComputed } from './claims.js'
import { createInbox } from './inbox.js'
import { createRealm, type Realm } from './realm.js'
import { runCode } from './run-code.js'

// The entry of a worker thread: one run after the other, each in a realm in which nothing has run before.
const { port, claims } = workerData
if (!(port instanceof MessagePort) || !(claims instanceof Int32Array)) throw new Error('This file is the entry of a worker thread.')
// Bots yield to whatever serves requests. Only Linux has a priority for a single thread; elsewhere it would be the whole process's. With the lowest
// priority, other programs on a busy machine would leave them nothing; that of a process with a lower one may not be raised.
if (platform() === 'linux') setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL))
const post = (message: FromWorker) => port.postMessage(message)
const bundle = await readFile(new URL('./prelude/index.js', import.meta.url), 'utf8')
const prelude = `(function () { ${bundle}; return prelude.furnish })()`
/** Realms that were made for the same grants and limit; a host has one or two kinds. */
const realms = new Map<string, Promise<Realm>>()
const MAX_REALMS = 4
const inbox = createInbox(port, claims)

post({ type: 'ready' })
for (let isReusable = true; isReusable;) {
  const next = inbox.nextRun()
  if (claimRun(claims, next)) isReusable = await run(next)
}
// What it has sent is read before it is killed.
for (;;) sleepUntilSent(claims, sentCount(claims), Infinity)

/** False when nothing may run here any more. */
async function run(message: RunMessage): Promise<boolean> {
  const { run: id } = message
  tellComputed(claims, 0)
  const realm = await realmFor(message)
  tellBegun(claims, message)
  const done = await runCode(message, {
    realm,
    call: (number, method, args) => post({ type: 'call', run: id, call: number, method, args }),
    nextReply: (waitMs) => inbox.nextReply(id, waitMs),
    onLook: (ms) => tellComputed(claims, ms),
  })
  // Realms take memory that is not collected in an idle thread.
  const isReusable = done.isReusable && realms.size <= MAX_REALMS
  post({ type: 'done', run: id, ...done, isReusable })
  // The host reads the answer while the memory is set back.
  if (isReusable) realm.reset()
  return isReusable
}

function realmFor({ grants, limits: { memoryBytes } }: RunMessage): Promise<Realm> {
  const key = JSON.stringify([grants, memoryBytes])
  const realm = realms.get(key) ?? createRealm({ prelude, grants, memoryBytes })
  realms.set(key, realm)
  return realm
}
