import { parentPort } from 'node:worker_threads'
import { checkSqlite } from '@fhir-ops/sqlite'
import { answerMessages } from './thread.js'

/** The thread behind `fhir-ops check`, which tells the damages of a file: one of some gigabytes takes minutes, in one call of SQLite. */
if (parentPort !== null) answerMessages(parentPort, (file: string) => checkSqlite(file))
