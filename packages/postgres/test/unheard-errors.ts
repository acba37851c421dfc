import pg from 'pg'

/** Connections for a pool, and the errors of them that nobody listened for, each of which would have ended the process. */
export function unheardErrors(): {
  readonly Client: new (config?: string | pg.ClientConfig) => pg.Client
  readonly unheard: readonly unknown[]
} {
  const unheard: unknown[] = []
  class Client extends pg.Client {
    override emit(event: string | symbol, ...args: readonly unknown[]): boolean {
      if (event !== 'error' || this.listenerCount('error') > 0) return super.emit(event, ...args)
      unheard.push(args[0])
      return false
    }
  }
  return { Client, unheard }
}
