import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The repository. */
export const ROOT: string = resolve(import.meta.dirname, '../../../..')

/** A block of TypeScript or JavaScript on a page. */
export interface Block {
  /** Page and first line of the block, such as `docs/handler.md:6`. */
  readonly place: string
  readonly language: string
  readonly code: string
  /** How it is tested. Its first line states this, also for readers. */
  readonly kind: BlockKind
}

/**
 * - `whole`: compiles and runs as it is.
 * - `test`: compiles, and runs in vitest.
 * - `needs`: begins with `// Needs ...`, which names a server or file that tests do not have; only compiles.
 * - `bot`: the code of a bot, which the tests of the sandbox run.
 * - `jest`: the code of a test for Jest, which the tests of the packed packages run.
 */
type BlockKind = 'whole' | 'test' | 'needs' | 'bot' | 'jest'

/** Pages of users: README, docs, and the README of each package. */
export function pages(): readonly string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  const packages = readdirSync(join(ROOT, 'packages')).map((name) => join('packages', name, 'README.md'))
  return [
    'README.md',
    ...docs.filter((file) => file.endsWith('.md')).map((file) => join('docs', file)),
    ...packages.filter((file) => existsSync(join(ROOT, file))),
  ]
}

/** All code blocks of a page in languages that are compiled. */
export function blocksOf(page: string): readonly Block[] {
  const blocks: Block[] = []
  let open: { readonly language: string; readonly line: number; readonly code: string[] } | undefined
  for (const [index, line] of readFileSync(join(ROOT, page), 'utf8').split('\n').entries()) {
    if (open === undefined) {
      const language = /^```(ts|tsx|js)\b/.exec(line)?.[1]
      if (language !== undefined) open = { language, line: index + 1, code: [] }
    } else if (line.startsWith('```')) {
      const code = `${open.code.join('\n')}\n`
      blocks.push({ place: `${page}:${open.line}`, language: open.language, code, kind: kindOf(page, code) })
      open = undefined
    } else open.code.push(line)
  }
  return blocks
}

function kindOf(page: string, code: string): BlockKind {
  if (code.startsWith('// Needs ')) return 'needs'
  if (code.includes("'@fhir-ops/testing/jest'")) return 'jest'
  if (page === 'docs/bots.md' && /^export (?:async )?function handler\(/m.test(code)) return 'bot'
  return /from '(?:vitest|@fhir-ops\/storage-contract)'/.test(code) ? 'test' : 'whole'
}
