/** Resolves at the first SIGINT or SIGTERM. Others change nothing: npm passes on what the terminal has sent to all of its processes. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
  })
}
