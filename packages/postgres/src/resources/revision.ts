import { randomUUID } from 'node:crypto'
import type { Executor } from '../database/database.js'
import { textAt, prepared, sql } from '../database/sql.js'
import { shared } from '../database/replicas.js'

/**
 * Makes every process look up again what it has kept. It is the last statement of a transaction, as transactions wait here for each other. The state
 * is never one that there was before, so that a restored database is noticed, too.
 */
export async function revise(executor: Executor): Promise<void> {
  await executor.rows(prepared('revise', sql`UPDATE fhir_revision SET state = ${randomUUID()}`))
}

/**
 * Counts the states of the definitions that were noticed. The database is asked every time, so that nothing that any process has
 * acknowledged is missed; those who ask while a question is under way share the next one.
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
