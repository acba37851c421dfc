import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storageContract } from '@fhir-ops/storage-contract'
import { openFileStorage } from './file-storage.js'

storageContract(
  'a file',
  async ({ now }) => {
    const folder = await mkdtemp(join(tmpdir(), 'adapter-'))
    const open = () => openFileStorage(join(folder, 'content.json'), { now })
    return { storage: await open(), reopen: open, dispose: () => rm(folder, { recursive: true }) }
  },
  {
    history: 'replaced versions are not kept',
    contained: 'contained resources are not found',
    conditionalWrites: 'puts do not depend on other resources',
  },
)
