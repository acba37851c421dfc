import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { outsideProject, ROOT, run, type OutsideProject } from './outside-project.js'
import { installedTools } from './tools.js'

const tools = installedTools()
let project: OutsideProject
beforeAll(() => {
  if (tools !== undefined) project = outsideProject()
})
afterAll(() => tools !== undefined && project.remove())

/** The block of code on a page that contains this text. */
function blockWith(page: string, text: string): string {
  const blocks = readFileSync(join(ROOT, page), 'utf8').matchAll(/^```\w+[^\n]*\n([\s\S]*?)^```/gm)
  const found = [...blocks].map(([, code = '']) => code).find((code) => code.includes(text))
  if (found === undefined) throw new Error(`${page} has no block with ${text}.`)
  return found
}

describe.skipIf(tools === undefined)('recipes of the docs, in a project of somebody else (needs tools of npm)', () => {
  test('Jest runs the test of docs/testing.md', () => {
    writeFileSync(join(project.dir, 'ward.test.js'), blockWith('docs/testing.md', '@fhir-ops/testing/jest'))
    const args = ['--experimental-vm-modules', tools?.file('jest/bin/jest.js') ?? '', '--rootDir', project.dir, '--testEnvironment', 'node']
    // What Jest says of tests is on standard error.
    const said = run('sh', ['-c', `node ${args.join(' ')} 2>&1`], project.dir)
    expect(said).toContain('1 passed')
  })

  test('the route handler of docs/handler.md for Next.js answers as Next.js calls it, with a Request', () => {
    writeFileSync(join(project.dir, 'route.ts'), blockWith('docs/handler.md', 'export const GET'))
    const query = 'url=http://hl7.org/fhir/ValueSet/administrative-gender&filter=fem'
    const program = `
      import { GET, POST } from './route.ts'
      const base = 'http://localhost:3000/fhir/R4'
      const expanded = await GET(new Request(base + '/ValueSet/$expand?${query}'))
      const body = '{"resourceType":"Patient"}'
      const stored = await POST(new Request(base + '/Patient', { method: 'POST', headers: { 'content-type': 'application/fhir+json' }, body }))
      console.log(expanded.status, (await expanded.json()).expansion.contains[0].code, stored.status)`
    writeFileSync(join(project.dir, 'calls.mjs'), program)
    expect(run('node', ['calls.mjs'], project.dir).trim()).toBe('200 female 201')
  })
})
