/** Asks one question at a time, for all who ask meanwhile. An answer never comes from a question that began before the call. */
export function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined
  let next: Promise<T> | undefined
  const begin = async (): Promise<T> => {
    next = undefined
    underWay = ask()
    try {
      return await underWay
    } finally {
      underWay = undefined
    }
  }
  return async () => (underWay === undefined ? begin() : (next ??= underWay.then(begin, begin)))
}
