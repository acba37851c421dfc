import { readFile } from 'node:fs/promises'
import { constants, platform, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { newEngine } from './engine.js'
import type { FromWorker, RunMessage, ToWorker } from './protocol.js'
import { createRealm, type Realm } from './realm.js'
import { replyQueue } from './reply-queue.js'
import { runCode } from './run-code.js'

// The entry of a worker thread: one run after the other, each in a realm of its own. The next realm is made while the host is busy with
// the last answer.
if (parentPort === null) throw new Error('This file is the entry of a worker thread.')
const port = parentPort
// Bots yield to whatever serves requests. Only Linux has a priority for a single thread; elsewhere it would be the whole process's.
if (platform() === 'linux') setPriority(constants.priority.PRIORITY_LOW)
const post = (message: FromWorker) => port.postMessage(message)
const furnish = await script('index', '.furnish')
const hl7Script = await script('hl7', '')
let engine = await newEngine()
let next = Promise.resolve(createRealm(engine, furnish))
let replies = replyQueue()

port.on('message', (message: ToWorker) => {
  if (message.type === 'reply') replies.add(message)
  else void run(message)
})
post({ type: 'ready' })

async function run(message: RunMessage): Promise<void> {
  replies = replyQueue()
  const call = (number: number, method: string, args: string) => post({ type: 'call', call: number, method, args })
  const { outcome, log, isClean } = await runCode(message, { realm: await next, hl7Script, call, nextReply: replies.next })
  post({ type: 'done', outcome, log })
  next = nextRealm(isClean)
}

async function nextRealm(isClean: boolean): Promise<Realm> {
  if (!isClean) engine = await newEngine()
  return createRealm(engine, furnish)
}

/** An expression that gives a bundle of the prelude, or a member of it. */
async function script(file: string, member: string): Promise<string> {
  const bundle = await readFile(new URL(`./prelude/${file}.js`, import.meta.url), 'utf8')
  return `(function () { ${bundle}; return prelude${member} })()`
}
