// The pages of the site: those of docs and the front pages of the repository, with links that lead somewhere here.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CHARTS, chartOf } from '../scripts/charts.mjs'
import { tablesIn } from '../scripts/tables.mjs'

const SITE = dirname(fileURLToPath(import.meta.url))
const ROOT = resolve(SITE, '..')
const DOCS = join(ROOT, 'docs')
const PAGES = join(SITE, '.pages')
const REPOSITORY = 'https://github.com/fhir-ops/fhir-ops/blob/main/'

/** Pages of the repository's root and where they are on the site. */
const FRONT = {
  'README.md': 'index.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security-policy.md',
  'CHANGELOG.md': 'changelog.md',
}

/** Operations of the playground by the page that has them. */
const TRIED = [
  'closure',
  'collect-data',
  'compare',
  'cql',
  'data-requirements',
  'evaluate-measure',
  'execute',
  'expand',
  'lookup',
  'snapshot',
  'subsumes',
  'translate',
  'validate',
  'validate-code',
]

/** Writes all pages and what they show. @throws {Error} when the playground is not built, or a chart has no table. */
export function writePages() {
  rmSync(PAGES, { recursive: true, force: true })
  for (const file of docsPages()) writePage(join(DOCS, file), file)
  for (const [file, page] of Object.entries(FRONT)) writePage(join(ROOT, file), page)
  const built = join(ROOT, 'packages/playground/dist/page')
  if (!existsSync(join(built, 'index.html'))) throw new Error('The playground is not built: run npm run setup.')
  cpSync(built, join(PAGES, 'public/playground'), { recursive: true, filter: (file) => !file.endsWith('.map') })
  cpSync(join(ROOT, 'packages/playground/page/icon.svg'), join(PAGES, 'public/icon.svg'))
  for (const [index, chart] of CHARTS.entries()) write(`public/charts/${index}.svg`, chartOf(chart))
}

/** The pages at the side, in groups. */
export function sidebar() {
  const pages = docsPages().map((file) => ({ file, link: `/${file.replace(/\.md$/, '')}`, text: titleOf(join(DOCS, file)) }))
  const within = (folder) => pages.filter(({ file }) => dirname(file) === folder)
  const top = ['getting-started.md', 'playground.md']
  return [
    { text: 'Start', items: [{ text: 'Overview', link: '/' }, ...top.flatMap((name) => pages.filter(({ file }) => file === name))] },
    { text: 'Operations', items: within('operations') },
    { text: 'Terminology', items: [...pages.filter(({ file }) => file === 'terminology.md'), ...within('terminology')] },
    { text: 'Storage', items: within('storage') },
    { text: 'More', collapsed: true, items: within('.').filter(({ file }) => ![...top, 'terminology.md'].includes(file)) },
    {
      text: 'Project',
      collapsed: true,
      items: Object.values(FRONT)
        .slice(1)
        .map((page) => ({ text: titleOf(join(ROOT, sourceOf(page))), link: `/${page.replace(/\.md$/, '')}` })),
    },
  ]
}

function sourceOf(page) {
  return Object.keys(FRONT).find((file) => FRONT[file] === page)
}

function docsPages() {
  return readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .toSorted()
}

function titleOf(file) {
  return /^# (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? relative(ROOT, file)
}

function writePage(source, page) {
  write(page, withTry(page, withCharts(page, withLinks(source, page, readFileSync(source, 'utf8')))))
}

/** Links to pages of the site stay in it, pictures are copied, and all others lead to the repository. */
function withLinks(source, page, text) {
  return text.replaceAll(/(!?\[[^\]]*\])\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)/g, (_, label, path, anchor = '') => {
    const target = resolve(dirname(source), path)
    const here = pageOf(target)
    if (here !== undefined) return `${label}(${fromPage(page, here)}${anchor})`
    if (!existsSync(target)) throw new Error(`${relative(ROOT, source)} links to ${path}, which is not there.`)
    if (!label.startsWith('!')) return `${label}(${REPOSITORY}${relative(ROOT, target)}${anchor})`
    const picture = `pictures/${relative(ROOT, target).replaceAll('/', '-')}`
    mkdirSync(join(PAGES, 'public/pictures'), { recursive: true })
    cpSync(target, join(PAGES, 'public', picture))
    return `${label}(/${picture})`
  })
}

function pageOf(target) {
  const front = FRONT[relative(ROOT, target)]
  if (front !== undefined) return front
  const inDocs = relative(DOCS, target)
  return inDocs.endsWith('.md') && !inDocs.startsWith('..') && existsSync(target) && statSync(target).isFile() ? inDocs : undefined
}

function fromPage(page, target) {
  const path = relative(dirname(page), target)
  return path.startsWith('.') ? path : `./${path}`
}

/** A chart below the table that it is made from. */
function withCharts(page, text) {
  const lines = text.split('\n')
  const pictures = CHARTS.flatMap((chart, index) => {
    const table = chart.page === page ? tablesIn(text).find(({ headings }) => headings[0] === chart.table) : undefined
    return table === undefined ? [] : [{ end: table.end, line: `\n![${chart.title}](/charts/${index}.svg)\n` }]
  })
  for (const { end, line } of pictures.toSorted((one, other) => other.end - one.end)) lines.splice(end, 0, line)
  return lines.join('\n')
}

function withTry(page, text) {
  const operation = /^operations\/([\w-]+)\.md$/.exec(page)?.[1]
  if (!TRIED.includes(operation)) return text
  return `${text.replace(/^(# .+\n)/, '$1\n[Try it](#try-it) at the end of this page.\n')}\n## Try it\n\n\`\`\`playground\n${operation}\n\`\`\`\n`
}

function write(file, text) {
  mkdirSync(dirname(join(PAGES, file)), { recursive: true })
  writeFileSync(join(PAGES, file), text)
}
