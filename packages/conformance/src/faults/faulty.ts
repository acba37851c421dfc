import { OperationError } from 'fhir-ops/errors'

/** One failure of a storage. */
export interface Fault {
  /** `after`: the call is executed, but its answer is lost, as with a commit on a connection that breaks. */
  readonly when: 'before' | 'after'
  /** Whether it has happened. */
  readonly struck: boolean
  /** Counts a call. True for the call that fails. */
  strikes(): boolean
  /** Lets everything succeed from now on. */
  end(): void
}

/** Creates a fault of the n-th call, counted from 0. */
export function faultAt(n: number, when: Fault['when']): Fault {
  let calls = 0
  let over = false
  return {
    when,
    get struck() {
      return calls > n
    },
    strikes: () => !over && calls++ === n,
    end() {
      over = true
    },
  }
}

/** Wraps a storage or session store with a fault. */
export function faulty<T extends object>(target: T, fault: Fault): T {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name)
      if (typeof member !== 'function') return member
      // The only synchronous call.
      if (name === 'revision') {
        return (): unknown => {
          if (fault.strikes()) throw away()
          return Reflect.apply(member, object, [])
        }
      }
      return async (...args: readonly unknown[]) => {
        const fails = fault.strikes()
        if (fails && fault.when === 'before') throw away()
        const result: unknown = await Reflect.apply(member, object, [...args])
        if (fails) throw away()
        return result
      }
    },
  })
}

function away(): OperationError {
  return new OperationError('storage-unavailable', 'The storage is away.')
}
