import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { inWork, type ImportWork } from './work.js'

const folder = mkdtempSync(join(tmpdir(), 'import-work-'))
const work = join(folder, 'work')
const source = { release: 'a release', files: [] }
const options = { work, progress: (): void => undefined }

afterAll(() => rmSync(folder, { recursive: true }))

it('a full disk is told with the place of the work, which stays as far as it came', async () => {
  const filling = inWork(options, source, async (opened) => {
    opened.keep('some', 'value')
    // As a full disk does: no page can be added any more.
    opened.db.exec('PRAGMA max_page_count = 1')
    opened.keep('more', 'x'.repeat(100_000))
  })
  await expect(filling).rejects.toMatchObject({ code: 'storage-full', message: expect.stringContaining(work) })
  const kept = async (opened: ImportWork): Promise<unknown> => [opened.kept('some'), opened.kept('more')]
  expect(await inWork(options, source, kept)).toEqual(['value', undefined])
  expect(existsSync(work)).toBe(false)
})
