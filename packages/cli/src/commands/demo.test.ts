import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoGuide, serveSamples } from './demo.js'

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

test('what is printed names the playground first and can be pasted from top to bottom: the call that ends the token is the last', () => {
  const guide = demoGuide({ url: 'http://127.0.0.1:8080', token: 'fo_x', otherLoginId: 'other', tokenCommand: 'fhir-ops token create' })
  const lines = guide.split('\n').filter((line) => line !== '')
  expect(lines[1]).toBe('# http://127.0.0.1:8080/#token=fo_x')
  expect(lines.findIndex((line) => line.includes('/oauth2/logout'))).toBe(lines.length - 1)
  for (const line of lines) expect(line).toMatch(/^(# |TOKEN=|curl -s |fhir-ops token)/)
})
