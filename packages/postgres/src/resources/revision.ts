import { randomUUID } from 'node:crypto'
import type { Executor } from '../database/database.js'
import { textAt, prepared, sql } from '../database/sql.js'
import { shared } from '../database/replicas.js'

/**
 * Invalidates what all processes have cached. Must be the last statement of a transaction, because transactions wait for each other here. The new state
 * never occurred before, so that a restored database is noticed too.
 */
export async function revise(executor: Executor): Promise<void> {
  await executor.rows(prepared('revise', sql`UPDATE fhir_revision SET state = ${randomUUID()}`))
}

/**
 * Returns a function that counts observed states of the definitions. It queries the database each time, so that nothing acknowledged by any process is
 * missed; callers during a query share the next one.
 */
export function revisionOf(db: Executor): () => Promise<number> {
  let last: string | undefined
  let changes = 0
  return shared(async () => {
    const [row] = await db.rows(prepared('revision', sql`SELECT state FROM fhir_revision`))
    const state = textAt(row ?? {}, 'state')
    if (state !== last) changes++
    last = state
    return changes
  })
}
