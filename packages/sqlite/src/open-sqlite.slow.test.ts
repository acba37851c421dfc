import { conceptStoreContract, sessionStoreContract, storageContract } from '@fhir-ops/storage-contract'
import { temporaryFolder } from '../test/temporary-folder.js'
import { openSqlite, type SqliteFile } from './index.js'

// Each test starts threads of its own; `sqlite-storage.test.ts` has the contract without them.

storageContract('SQLite with its threads', async (clock) => {
  const folder = await temporaryFolder()
  const open = async () => (await openSqlite(folder.file('data.db'), clock)).storage
  return { storage: await open(), reopen: open, dispose: folder.remove }
})

sessionStoreContract('SQLite with its threads', async () => {
  const folder = await temporaryFolder()
  const db = await openSqlite(folder.file('data.db'))
  const dispose = async (): Promise<void> => {
    await db.close()
    await folder.remove()
  }
  return { store: db.sessions, dispose }
})

conceptStoreContract('SQLite with its threads', async () => {
  const folder = await temporaryFolder()
  const opened: SqliteFile[] = []
  const open = async () => {
    const db = await openSqlite(folder.file('data.db'))
    opened.push(db)
    return db.concepts
  }
  const dispose = async (): Promise<void> => {
    for (const db of opened) await db.close()
    await folder.remove()
  }
  return { store: await open(), reopen: open, dispose }
})
