import { parentPort } from 'node:worker_threads'
import { checkSqlite } from '@fhir-ops/sqlite'
import { answerMessages } from './thread.js'

/** The thread behind `fhir-ops check`, which reports the damage in a file: for some gigabytes, that takes minutes, in a single call of SQLite. */
if (parentPort !== null) answerMessages(parentPort, (file: string) => checkSqlite(file))
