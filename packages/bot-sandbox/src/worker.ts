import type { ReplyMessage, FromWorker, RunMessage, ToWorker } from './protocol.js'
import { readFile } from 'node:fs/promises'
import { constants, platform, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { createRealm, type Realm } from './realm.js'
import { runCode } from './run-code.js'

// The entry of a worker thread: one run after the other, each in a realm in which nothing has run before.
if (parentPort === null) throw new Error('This file is the entry of a worker thread.')
const port = parentPort
// Bots yield to whatever serves requests. Only Linux has a priority for a single thread; elsewhere it would be the whole process's.
if (platform() === 'linux') setPriority(constants.priority.PRIORITY_LOW)
const post = (message: FromWorker) => port.postMessage(message)
const bundle = await readFile(new URL('./prelude/index.js', import.meta.url), 'utf8')
const prelude = `(function () { ${bundle}; return prelude.furnish })()`
/** Realms that were made for the same grants and limit; a host has one or two kinds. */
const realms = new Map<string, Promise<Realm>>()
const MAX_REALMS = 4
let current = { run: 0, replies: replyQueue() }

port.on('message', (message: ToWorker) => {
  if (message.type === 'run') void run(message)
  // A run may end before its calls do; what they give is not for the next one.
  else if (message.run === current.run) current.replies.add(message)
})
post({ type: 'ready' })

async function run(message: RunMessage): Promise<void> {
  const { run: id } = message
  const replies = replyQueue()
  current = { run: id, replies }
  const call = (number: number, method: string, args: string) => post({ type: 'call', run: id, call: number, method, args })
  const done = await runCode(message, { realm: await realmFor(message), call, nextReply: replies.next })
  // Realms take memory that nobody collects in an idle thread.
  post({ type: 'done', run: id, ...done, isReusable: done.isReusable && realms.size <= MAX_REALMS })
}

function realmFor({ grants, limits: { memoryBytes } }: RunMessage): Promise<Realm> {
  const key = JSON.stringify([grants, memoryBytes])
  const realm = realms.get(key) ?? createRealm({ prelude, grants, memoryBytes })
  realms.set(key, realm)
  return realm
}

/** Answers of the host in the order they came. */
interface ReplyQueue {
  add(reply: ReplyMessage): void
  /** The next answer; `undefined` when none comes within that many milliseconds. */
  readonly next: (waitMs: number) => Promise<ReplyMessage | undefined>
}

/** Makes the queue of one run. */
function replyQueue(): ReplyQueue {
  const waiting: ReplyMessage[] = []
  let wake: (() => void) | undefined
  return {
    add(reply) {
      waiting.push(reply)
      wake?.()
    },
    async next(waitMs) {
      if (waiting.length === 0) await woken(waitMs, (resolve) => (wake = resolve))
      return waiting.shift()
    },
  }
}

function woken(waitMs: number, register: (resolve: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.max(0, waitMs))
    register(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
