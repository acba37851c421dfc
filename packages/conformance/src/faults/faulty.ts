import { OperationError } from 'fhir-ops/errors'

/** One failure of a storage. */
export interface Fault {
  /** `after`: the call is carried out and its answer lost, as with a commit on a connection that breaks. */
  readonly when: 'before' | 'after'
  /** Whether it has happened. */
  readonly struck: boolean
  /** Counts a call; true for the one that fails. */
  strikes(): boolean
  /** Lets everything succeed from now on. */
  end(): void
}

/** The fault that the n-th call meets, counted from 0. */
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

/** The same storage or session store with the fault in it. */
export function faulty<T extends object>(target: T, fault: Fault): T {
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name)
      if (typeof member !== 'function') return member
      // The one call that is answered at once.
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
