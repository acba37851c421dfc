import { readFile } from 'node:fs/promises'
import { parentPort } from 'node:worker_threads'
import { newEngine } from './engine.js'
import type { FromWorker, ReplyMessage, RunMessage, ToWorker } from './protocol.js'
import { replyQueue, type ReplyQueue } from './reply-queue.js'
import { runCode, type PreludeScripts } from './run-code.js'

// The entry of a worker thread: one run after the other, each in a realm of its own.
if (parentPort === null) throw new Error('This file is the entry of a worker thread.')
const port = parentPort
const post = (message: FromWorker) => port.postMessage(message)
const scripts: PreludeScripts = { main: await script('furnish', 'index'), hl7: await script('', 'hl7') }
let engine = await newEngine()
let replies: ReplyQueue = replyQueue()

port.on('message', (message: ToWorker) => {
  if (message.type === 'reply') replies.add(message)
  else void run(message)
})
post({ type: 'ready' })

async function run(message: RunMessage): Promise<void> {
  replies = replyQueue()
  const { outcome, log, isClean } = await runCode(message, {
    engine,
    scripts,
    call: (call, method, args) => post({ type: 'call', call, method, args }),
    nextReply: (waitMs: number): Promise<ReplyMessage | undefined> => replies.next(waitMs),
  })
  if (!isClean) engine = await newEngine()
  post({ type: 'done', outcome, log })
}

/** An expression that gives a bundle of the prelude, or one of its exports. */
async function script(name: string, file: string): Promise<string> {
  const bundle = await readFile(new URL(`./prelude/${file}.js`, import.meta.url), 'utf8')
  return `(function () { ${bundle}; return prelude${name === '' ? '' : `.${name}`} })()`
}
