import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../../../..')

const PAGES = ['README.md', ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((file) => join('docs', file))]
  .filter((file) => file.endsWith('.md'))
  .map((page) => ({ page, text: readFileSync(join(ROOT, page), 'utf8') }))

test.each(PAGES)('the sources that $page names are there', ({ text }) => {
  const named = [...text.matchAll(/`([a-z0-9-]+\/(?:src|test)(?:\/[\w./-]*)?)`/g)].map(([, path = '']) => path)
  expect(named.filter((path) => !existsSync(join(ROOT, 'packages', path)))).toEqual([])
})

test.each(PAGES)('the links of $page lead somewhere', ({ page, text }) => {
  const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link)
  expect(links.filter((link) => !leadsSomewhere(join(ROOT, page), link))).toEqual([])
})

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const file = path === '' ? page : resolve(dirname(page), path)
  return existsSync(file) && (anchor === undefined || anchorsOf(readFileSync(file, 'utf8')).has(anchor))
}

function anchorsOf(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)))
}

/** As the usual hosts of Markdown make it: lower case, letters, digits and hyphens, blanks as hyphens. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
