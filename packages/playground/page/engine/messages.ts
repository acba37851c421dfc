import type { Call } from './call.js'

/** What the page asks of its worker. */
export interface WorkerRequest {
  readonly id: number
  readonly call: Call
}

/** What the worker says: once that it is ready, and then an answer to each request. */
export type WorkerMessage =
  | { readonly kind: 'ready'; readonly ms: number }
  | {
      readonly kind: 'answer'
      readonly id: number
      readonly status: number
      readonly type: string
      readonly text: string
      readonly ms: number
    }
  | { readonly kind: 'failed'; readonly id: number | undefined; readonly message: string }
