/** What is loaded by the first call, and kept. What could not be loaded is tried again by the next one. */
export function onDemand<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  const forget = (): void => {
    loaded = undefined
  }
  return () => {
    if (loaded === undefined) {
      loaded = load()
      loaded.catch(forget)
    }
    return loaded
  }
}
