import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The page with a table for each client. */
export const CLIENT_PAGE: string = fileURLToPath(new URL('../../../docs/clients.md', import.meta.url))

/** A call of a client, and what came of it. */
export interface CallRow {
  readonly call: string
  readonly result: string
}

/** The page with the table of a client as these rows say; those of others are as they were. */
export function clientPage(
  page: string,
  client: string,
  { version, rows }: { readonly version: string; readonly rows: readonly CallRow[] },
): string {
  const lines = rows.map(({ call, result }) => `| \`${call.replaceAll('|', '\\|')}\` | ${result} |`)
  const own = `## ${client} ${version}\n\n| Call | Result |\n|---|---|\n${lines.join('\n')}\n`
  const sections = page.split(/^(?=## )/m)
  const index = sections.findIndex((section) => section.startsWith(`## ${client} `))
  if (index < 0) return `${page.trimEnd()}\n\n${own}`
  return sections.map((section, at) => (at === index ? `${own}${at < sections.length - 1 ? '\n' : ''}` : section)).join('')
}

/** The page as it is. */
export function presentPage(): string {
  return readFileSync(CLIENT_PAGE, 'utf8')
}
