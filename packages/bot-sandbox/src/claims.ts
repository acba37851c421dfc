// Memory shared by host and thread: the number of messages that the host has sent, on which a thread sleeps; the computing time of the thread; the run whose
// code it has begun; and a slot for each run that it was given.
const SENT = 0
const COMPUTED = 1
const BEGUN = 2
const FIRST_SLOT = 3

/** A run as its thread knows it. */
export interface Ticket {
  /** Greater than 0; unique among all runs of the thread. */
  readonly run: number
  /** Unique among the runs that the thread has at the same time. */
  readonly slot: number
}

/** Creates the memory that a host shares with one thread. */
export function sharedClaims(slots: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer((FIRST_SLOT + slots) * Int32Array.BYTES_PER_ELEMENT))
}

/** Offers a run to the thread, before it is sent. */
export function offerRun(claims: Int32Array, { run, slot }: Ticket): void {
  Atomics.store(claims, FIRST_SLOT + slot, run)
}

/** Withdraws an offer. False if the thread has begun the run. */
export function takeRunBack(claims: Int32Array, { run, slot }: Ticket): boolean {
  return Atomics.compareExchange(claims, FIRST_SLOT + slot, run, 0) === run
}

/** Claims a run for the thread. False if the offer was withdrawn. */
export function claimRun(claims: Int32Array, { run, slot }: Ticket): boolean {
  return Atomics.compareExchange(claims, FIRST_SLOT + slot, run, -run) === run
}

/** Reports to the host that the code of the run begins, because everything that it needs is ready. */
export function tellBegun(claims: Int32Array, { run }: Pick<Ticket, 'run'>): void {
  Atomics.store(claims, BEGUN, run)
}

/** Whether the thread has begun the code of the run. */
export function hasBegun(claims: Int32Array, { run }: Pick<Ticket, 'run'>): boolean {
  return Atomics.load(claims, BEGUN) === run
}

/** Reports to the host the computing time of the current run in milliseconds. */
export function tellComputed(claims: Int32Array, ms: number): void {
  Atomics.store(claims, COMPUTED, ms)
}

/** The last reported computing time of the current run in milliseconds. */
export function computedMs(claims: Int32Array): number {
  return Atomics.load(claims, COMPUTED)
}

/** Wakes the thread, if it sleeps. */
export function announceSent(claims: Int32Array): void {
  Atomics.add(claims, SENT, 1)
  Atomics.notify(claims, SENT)
}

/** Number of messages that the host has sent. */
export function sentCount(claims: Int32Array): number {
  return Atomics.load(claims, SENT)
}

/** Sleeps until the host has sent more messages than `seen`, at most `ms` milliseconds. */
export function sleepUntilSent(claims: Int32Array, seen: number, ms: number): void {
  Atomics.wait(claims, SENT, seen, ms)
}
