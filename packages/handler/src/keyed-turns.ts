/** Lets pieces of work that share a key run one after the other, in the order in which they came. */
export type KeyedTurns = <T>(keys: readonly string[], work: () => Promise<T>) => Promise<T>

/** Makes the keyed turns of a service. All keys of a piece of work are taken at once, so that no two wait for each other. */
export function createKeyedTurns(): KeyedTurns {
  const last = new Map<string, Promise<void>>()
  return (keys, work) => {
    const before = Promise.all(keys.map((key) => last.get(key) ?? Promise.resolve()))
    const done = before.then(work)
    const end = done.then(ended, ended)
    for (const key of keys) last.set(key, end)
    void end.then(() => {
      for (const key of keys) if (last.get(key) === end) last.delete(key)
    })
    return done
  }
}

function ended(): void {}
