import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import { threadArguments } from 'fhir-ops/internal/work'
import { announceSent } from './claims.js'
import type { FromWorker, ReplyMessage, RunMessage, ToWorker } from './protocol.js'
import { codeSender } from './sent-codes.js'

/** A thread, and the port for its messages. */
export interface Thread {
  /** Sends a message and wakes the thread. Does nothing if the thread was ended. */
  send(message: RunMessage | ReplyMessage): void
  /** Delivers all messages of the thread immediately. */
  receiveAll(): void
  /** Keeps the process alive until `unref`. */
  ref(): void
  unref(): void
  isEnded(): boolean
  /** Kills the thread. Resolves when it has ended. */
  end(): Promise<void>
}

/** Callbacks about a thread. */
interface ThreadOwner {
  readonly onMessage: (message: FromWorker) => void
  /** The thread has ended by itself. @param cause Its error, if any. */
  readonly onExit: (cause: unknown) => void
}

/** Starts a thread that gets nothing of the process but shared memory and a port: no environment, no arguments, no standard streams. */
export function startThread(claims: Int32Array, { onMessage, onExit }: ThreadOwner): Thread {
  const { port1: port, port2 } = new MessageChannel()
  const worker = newWorker(port2, claims)
  const sentCode = codeSender()
  let isEnded = false
  let cause: unknown
  port.on('message', onMessage)
  // An idle thread does not keep the process alive.
  port.unref()
  worker.unref()
  worker.on('error', (error) => {
    cause = error
  })
  worker.on('exit', () => {
    if (!isEnded) onExit(cause)
  })
  return {
    send(message) {
      if (isEnded) return
      const sent: ToWorker = message.type === 'run' ? { ...message, code: sentCode(message.code) } : message
      port.postMessage(sent)
      announceSent(claims)
    },
    receiveAll() {
      for (let next = receiveMessageOnPort(port); next !== undefined && !isEnded; next = receiveMessageOnPort(port)) onMessage(next.message)
    },
    ref: () => port.ref(),
    unref: () => port.unref(),
    isEnded: () => isEnded,
    async end() {
      isEnded = true
      port.close()
      await worker.terminate()
    },
  }
}

function newWorker(port: MessagePort, claims: Int32Array): Worker {
  return new Worker(new URL('../dist/worker.js', import.meta.url), {
    workerData: { port, claims },
    transferList: [port],
    env: {},
    argv: [],
    execArgv: threadArguments(process, import.meta.url),
    stdin: true,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4, stackSizeMb: 4 },
  })
}
