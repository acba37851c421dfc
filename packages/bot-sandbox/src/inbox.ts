import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads'
import { sentCount, sleepUntilSent } from './claims.js'
import type { ReplyMessage, RunMessage, ToWorker } from './protocol.js'
import { codeReceiver } from './sent-codes.js'

/** What the host has sent, read without the event loop: to sleep on shared memory, and to go from one run to the next, takes microseconds. */
export interface Inbox {
  /** The next run; sleeps until there is one. */
  nextRun(): RunMessage
  /** The next answer to a call of the run; `undefined` when none comes within that many milliseconds. */
  nextReply(run: number, waitMs: number): ReplyMessage | undefined
}

/** Makes the inbox of a thread. */
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
  /** Takes a message; sleeps while there is none. */
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
        // A run may end before its calls do; what they give is not for the next one.
        replies = replies.filter((reply) => reply.run === run)
        const next = replies.shift()
        const left = until - performance.now()
        if (next !== undefined || left <= 0) return next
        takeOrSleep(left)
      }
    },
  }
}
