import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import { sentCount, sleepUntilSent } from './claims.js'
import type { ReplyMessage, RunMessage, ToWorker } from './protocol.js'
import { codeReceiver } from './sent-codes.js'

/** Messages of the host, read without the event loop: sleeping on shared memory, and going on to the next run, takes microseconds. */
interface Inbox {
  /** The next run; sleeps until there is one. */
  nextRun(): RunMessage
  /** The next answer to a call of the run; `undefined` if none arrives within `waitMs` milliseconds. */
  nextReply(run: number, waitMs: number): ReplyMessage | undefined
}

/** Creates the inbox of a thread. */
export function createInbox(port: MessagePort, claims: Int32Array): Inbox {
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
