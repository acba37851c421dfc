import { readFile } from 'node:fs/promises'
import { constants, getPriority, platform, setPriority } from 'node:os'
import { MessagePort, workerData, receiveMessageOnPort } from 'node:worker_threads'
import {
  claimRun,
  codeReceiver,
  sentCount,
  sleepUntilSent,
  tellBegun,
  tellComputed,
  type FromWorker,
  type ReplyMessage,
  type RunMessage,
  type ToWorker,
} from './protocol.js'
import { createRealm, type Realm } from './realm.js'
import { runCode } from './run-code.js'

// The entry of a worker thread: one run after the other, each in a realm in which nothing has run before.
const { port, claims } = workerData
if (!(port instanceof MessagePort) || !(claims instanceof Int32Array)) throw new Error('This file is the entry of a worker thread.')
// Bots have a lower priority than the threads that serve requests. Only Linux has a priority per thread; elsewhere it would be that of the whole process.
// With the lowest priority, other programs on a busy machine would leave them no time. A process that has a lower priority already may not raise it.
if (platform() === 'linux') setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL))
const post = (message: FromWorker) => port.postMessage(message)
const bundle = await readFile(new URL('./prelude/index.js', import.meta.url), 'utf8')
const prelude = `(function () { ${bundle}; return prelude.furnish })()`
/** Realms by grants and limits. A host has one or two kinds. */
const realms = new Map<string, Promise<Realm>>()
const MAX_REALMS = 4
const inbox = createInbox(port, claims)

post({ type: 'ready' })
for (let isReusable = true; isReusable;) {
  const next = inbox.nextRun()
  if (claimRun(claims, next)) isReusable = await run(next)
}
// The thread waits to be killed, so that the host can read its messages first.
for (;;) sleepUntilSent(claims, sentCount(claims), Infinity)

/** False if nothing may run in this thread any more. */
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
  // An idle thread does not collect the memory of its realms.
  const isReusable = done.isReusable && realms.size <= MAX_REALMS
  post({ type: 'done', run: id, ...done, isReusable })
  // The host reads the answer while the memory is restored.
  if (isReusable) realm.reset()
  return isReusable
}

function realmFor({ grants, limits: { memoryBytes } }: RunMessage): Promise<Realm> {
  const key = JSON.stringify([grants, memoryBytes])
  const realm = realms.get(key) ?? createRealm({ prelude, grants, memoryBytes })
  realms.set(key, realm)
  return realm
}

/** Messages of the host, read without the event loop: sleeping on shared memory, and going on to the next run, takes microseconds. */
interface Inbox {
  /** The next run; sleeps until there is one. */
  nextRun(): RunMessage
  /** The next answer to a call of the run; `undefined` if none arrives within `waitMs` milliseconds. */
  nextReply(run: number, waitMs: number): ReplyMessage | undefined
}

/** Creates the inbox of a thread. */
function createInbox(port: MessagePort, claims: Int32Array): Inbox {
  const runs: RunMessage[] = []
  const codeOf = codeReceiver()
  let replies: ReplyMessage[] = []
  const take = (): boolean => {
    const received = receiveMessageOnPort(port)
    if (received === undefined) return false
    const message: ToWorker = received.message
    if (message.type === 'run') runs.push({ ...message, code: codeOf(message.code) })
    else replies.push(message)
    return true
  }
  /** Takes a message; if there is none, sleeps until one is sent or the time is over. */
  const takeOrSleep = (ms: number): void => {
    const seen = sentCount(claims)
    if (!take()) sleepUntilSent(claims, seen, ms)
  }
  return {
    nextRun() {
      for (;;) {
        const next = runs.shift()
        if (next !== undefined) return next
        takeOrSleep(Infinity)
      }
    },
    nextReply(run, waitMs) {
      const until = performance.now() + waitMs
      for (;;) {
        // A run may end before its calls; their answers are not for the next run.
        replies = replies.filter((reply) => reply.run === run)
        const next = replies.shift()
        const left = until - performance.now()
        if (next !== undefined || left <= 0) return next
        takeOrSleep(left)
      }
    },
  }
}
