/** What a statement takes as a value. */
export type PostgresValue = string | number | boolean | null | Uint8Array | readonly (string | number | null)[]

/** One statement, as `pg` takes it. */
export interface PostgresQuery {
  /** Statements with a name are prepared once for each connection. */
  readonly name?: string
  readonly text: string
  readonly values: PostgresValue[]
  /** Milliseconds after which the driver gives up on the server's answer. */
  readonly query_timeout: number
}

/** The part of a pooled connection that this adapter calls. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<{ readonly rows: readonly unknown[] }>
  /** Gives the connection back; `true` closes it instead. */
  release(destroy?: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  on(event: 'notification', listener: () => void): unknown
}

/** The part of a pool that this adapter calls; `Pool` of `pg` fits. Each connection must be a session of its own. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  /** Tells of a connection that was lost while nobody used it. */
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Tells who is handed over next: a connection that is listened to from then on ends no process. Other pools than that of `pg` may tell nothing. */
  on(event: 'acquire', listener: (client: PostgresClient) => void): unknown
  end(): Promise<unknown>
}
