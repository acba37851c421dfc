import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readResource } from './read-resource.js'

it('one resource is read, and how many there are instead is said', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-read-resource-'))
  const lines = join(folder, 'some.ndjson')
  try {
    await expect(readResource(folder, { stdin: async () => '' })).rejects.toThrow(`${folder} has no resource.`)
    await writeFile(lines, '{"resourceType":"Patient"}\n{"resourceType":"Group"}\n')
    await expect(readResource(lines, { stdin: async () => '' })).rejects.toThrow(`${lines} has 2 resources: one is expected.`)
    await writeFile(lines, '{"resourceType":"Patient"}\n')
    expect(await readResource(lines, { stdin: async () => '' })).toEqual({ resourceType: 'Patient' })
  } finally {
    await rm(folder, { recursive: true })
  }
})
