import type { ReplyMessage } from './protocol.js'

/** Answers of the host in the order they came. */
export interface ReplyQueue {
  add(reply: ReplyMessage): void
  /** The next answer; `undefined` when none comes within that many milliseconds. */
  readonly next: (waitMs: number) => Promise<ReplyMessage | undefined>
}

/** Makes the queue of one run. */
export function replyQueue(): ReplyQueue {
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
