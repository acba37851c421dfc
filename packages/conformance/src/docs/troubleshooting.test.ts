import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../../..')

function sources(): string {
  const folders = readdirSync(join(ROOT, 'packages')).map((name) => join(ROOT, 'packages', name, 'src'))
  const files = folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
  return files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
}

test('every message of the page of troubleshooting exists', () => {
  const page = readFileSync(join(ROOT, 'docs/troubleshooting.md'), 'utf8')
  const cells = [...page.matchAll(/^\| (`.*?`) \|/gm)].map(([, cell = '']) => cell)
  const messages = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message.replace(/ ?…$/, '')))
  const text = sources()
  expect(messages.length).toBeGreaterThan(15)
  expect(messages.filter((message) => !text.includes(message))).toEqual([])
})
