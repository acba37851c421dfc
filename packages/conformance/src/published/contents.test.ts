import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root, workspacePackages } from '../../../../scripts/packages.mjs'

interface Packed {
  readonly name: string
  readonly files: readonly { readonly path: string }[]
}

const published = workspacePackages().filter(({ manifest }) => manifest.private !== true)

/** What npm would publish of these folders, by package. */
function packed(folders: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const text = execFileSync('npm', ['pack', '--dry-run', '--json', ...folders], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const packages: readonly Packed[] = JSON.parse(text)
  return new Map(packages.map(({ name, files }) => [name, files.map(({ path }) => path)]))
}

const contents = packed(published.map(({ dir }) => dir))

test.each(published.map(({ manifest }) => manifest.name))('%s is published with its page and its build, and nothing else', (name) => {
  const files = contents.get(name) ?? []
  expect(files).toContain('README.md')
  expect(files.filter((path) => !/^(README\.md|LICENSE|package\.json|dist\/|sample\/|fhir-ops\.config\.schema\.json$)/.test(path))).toEqual(
    [],
  )
})

test('the command is published with the content that it demonstrates', () => {
  expect(contents.get('@fhir-ops/cli')).toContain(join('sample', 'patients.json'))
})
