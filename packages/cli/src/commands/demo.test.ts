import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveSamples } from './demo.js'

let folder = ''
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'fhir-ops-demo-'))))
afterAll(() => rm(folder, { recursive: true }))

/** Serves the file once. @returns What was told meanwhile. */
async function start(tell: (line: string) => void = () => {}): Promise<string> {
  const told: string[] = []
  const err = (line: string): void => {
    tell(line)
    told.push(line)
  }
  const server = await serveSamples({ port: 0, file: join(folder, 'demo.db') }, { out: () => {}, err, stdin: async () => '' })
  await server.close()
  return told.join('\n')
}

test('the samples are loaded at the first start, again when that was broken off, and never after', async () => {
  const brokenOff = start(() => {
    throw new Error('broken off')
  })
  await expect(brokenOff).rejects.toThrow('broken off')
  expect(await start()).toContain('loaded 15 resources')
  expect(await start()).toBe('')
  expect(await readdir(folder)).toEqual(['demo.db'])
})
