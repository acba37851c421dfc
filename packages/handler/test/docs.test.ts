import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createContext, DEFAULT_LIMITS } from 'fhir-ops/context'
import { ERRORS } from 'fhir-ops/errors'
import { createBots } from 'fhir-ops/execute'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { searchParameters } from 'fhir-ops/search'
import { createSessions } from 'fhir-ops/sessions'
import { r4SearchParameters, r4TypeModel } from '@fhir-ops/r4'
import { describe, expect, it } from 'vitest'
import { createHandler, DEFAULT_HANDLER_LIMITS, type RouteDescription } from '../src/index.js'

/** The rows of the table that follows a heading, cells trimmed. */
function tableAfter(heading: string, file: string): readonly (readonly string[])[] {
  const text = readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8')
  const lines = text.slice(text.indexOf(`\n## ${heading}\n`)).split('\n')
  const start = lines.findIndex((line) => line.startsWith('|---'))
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  return lines.slice(start + 1, end).map((line) =>
    line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

function routes(): readonly RouteDescription[] {
  const parameters = searchParameters(r4SearchParameters(), r4TypeModel())
  return createHandler({
    context: createContext({ storage: memoryStorage(), search: { parameters } }),
    sessions: createSessions({ store: memorySessionStore() }),
    baseUrl: 'http://x',
    defaultPolicy: 'deny',
    bots: createBots(),
  }).routes
}

/** One row for the methods of a path that need and do the same. */
function documented(route: RouteDescription): readonly string[] {
  return [pathOf(route), route.access === 'public' ? 'nothing' : route.needs, route.summary]
}

function rows(): readonly (readonly string[])[] {
  const byText = Map.groupBy(routes(), (route) => JSON.stringify(documented(route)))
  return [...byText.values()].map((same) => [
    same
      .map(({ method }) => method)
      .sort()
      .join(', '),
    ...documented(same[0]!),
  ])
}

const HANDLER_PAGE = fileURLToPath(new URL('../../../docs/handler.md', import.meta.url))
const TABLE_HEAD = '| Method | Path | Needs | What it does |\n|---|---|---|---|\n'

const lineOf = ([methods, path, ...rest]: readonly string[]): string => `| ${[methods, `\`${path}\``, ...rest].join(' | ')} |\n`

const pathOf = ({ path, types }: RouteDescription): string =>
  path
    .replace(':type', types?.join(', ') ?? '<Type>')
    .replace(':id', '<id>')
    .replace(':version', '<version>')
    .replace(':member', '<Member>')

/** The options that the refusal of an unknown one lists. */
function contextOptions(): readonly string[] {
  try {
    Reflect.apply(createContext, undefined, [{ storage: memoryStorage(), nothing: 1 }])
    return []
  } catch (error) {
    return (/There are (.*)\.$/.exec(String(error))?.[1] ?? '').split(', ')
  }
}

describe('the documentation', () => {
  it('docs/handler.md lists the route table', async () => {
    const page = readFileSync(HANDLER_PAGE, 'utf8')
    expect(page).toContain(TABLE_HEAD)
    const start = page.indexOf(TABLE_HEAD)
    const end = page.indexOf('\n\n', start) + 1
    const table = `${TABLE_HEAD}${rows().map(lineOf).join('')}`
    await expect(`${page.slice(0, start)}${table}${page.slice(end)}`).toMatchFileSnapshot(HANDLER_PAGE)
  })

  it('docs/handler.md lists the limits', () => {
    const written = tableAfter('Limits', 'handler.md')
    expect(written.map(([name, value]) => [name, value])).toEqual(
      Object.entries(DEFAULT_HANDLER_LIMITS).map(([name, value]) => [name, value.toLocaleString('en')]),
    )
  })

  it('docs/getting-started.md lists the limits of an operation, and every option of a context', () => {
    const written = tableAfter('Limits of an operation', 'getting-started.md')
    expect(written.map(([name, value]) => [name, value])).toEqual(
      Object.entries(DEFAULT_LIMITS).map(([name, value]) => [name, value.toLocaleString('en')]),
    )
    const options = tableAfter('Options of a context', 'getting-started.md').flatMap(([names = '']) => names.split(', '))
    expect(options.toSorted()).toEqual(contextOptions().toSorted())
  })

  it('docs/errors.md lists every code with its status and issue type', () => {
    const written = tableAfter('Codes', 'errors.md')
    expect(written.map(([code, status, issue]) => [code, Number(status), issue])).toEqual(
      Object.entries(ERRORS).map(([code, { status, issue }]) => [code, status, issue]),
    )
    expect(written.every(([, , , meaning = '']) => meaning.length > 10)).toBe(true)
  })
})
