// What host and thread share: a count of what the host has sent, which a thread sleeps on, for how long the thread has computed, which run's code it has begun, and a slot for each run
// that it was given.
const SENT = 0
const COMPUTED = 1
const BEGUN = 2
const FIRST_SLOT = 3

/** A run as its thread knows it. */
export interface Ticket {
  /** Above 0; no other run of the thread has it. */
  readonly run: number
  /** No other run that the thread has now is in it. */
  readonly slot: number
}

/** Makes the memory that a host shares with one thread. */
export function sharedClaims(slots: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer((FIRST_SLOT + slots) * Int32Array.BYTES_PER_ELEMENT))
}

/** Offers a run to the thread, before it is sent. */
export function offerRun(claims: Int32Array, { run, slot }: Ticket): void {
  Atomics.store(claims, FIRST_SLOT + slot, run)
}

/** Takes an offer back. False when the thread has begun the run. */
export function takeRunBack(claims: Int32Array, { run, slot }: Ticket): boolean {
  return Atomics.compareExchange(claims, FIRST_SLOT + slot, run, 0) === run
}

/** Claims a run for the thread. False when it was taken back. */
export function claimRun(claims: Int32Array, { run, slot }: Ticket): boolean {
  return Atomics.compareExchange(claims, FIRST_SLOT + slot, run, -run) === run
}

/** Reports to the host that the code of the run begins: all that it needs is there. */
export function tellBegun(claims: Int32Array, { run }: Pick<Ticket, 'run'>): void {
  Atomics.store(claims, BEGUN, run)
}

/** Whether the thread has begun the code of the run. */
export function hasBegun(claims: Int32Array, { run }: Pick<Ticket, 'run'>): boolean {
  return Atomics.load(claims, BEGUN) === run
}

/** Reports to the host for how many milliseconds the thread has computed in the run that it is at. */
export function tellComputed(claims: Int32Array, ms: number): void {
  Atomics.store(claims, COMPUTED, ms)
}

/** For how many milliseconds the thread has computed in the run that it is at, as last reported. */
export function computedMs(claims: Int32Array): number {
  return Atomics.load(claims, COMPUTED)
}

/** Wakes the thread, if it sleeps. */
export function announceSent(claims: Int32Array): void {
  Atomics.add(claims, SENT, 1)
  Atomics.notify(claims, SENT)
}

/** How much the host has sent. */
export function sentCount(claims: Int32Array): number {
  return Atomics.load(claims, SENT)
}

/** Sleeps until the host has sent more than was `seen`, or for that many milliseconds. */
export function sleepUntilSent(claims: Int32Array, seen: number, ms: number): void {
  Atomics.wait(claims, SENT, seen, ms)
}
