// Every published symbol has a docstring, what can be called has an example, no entry re-exports wholesale, every subpath that is named exists, and pages
// of users name no function that only our packages can import.
import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { listedOnPage, PAGE, publishedEntries } from './api-page.mjs'
import { filesBelow, root, sourceEntries, workspacePackages } from './packages.mjs'

const IMPORTED = /from '((?:@fhir-ops\/|fhir-ops)[\w/-]*)'/g
const NAMED_IN_PROSE = /(?:from '|`)((?:@fhir-ops|fhir-ops)\/[\w/-]+)['`]/g

/** Names of options that a function of core has too: a limit of the handler. */
const SAME_NAME = new Set(['jsonMembers'])

const entries = publishedEntries()
const pages = [join(root, 'README.md'), ...files(join(root, 'docs'), /\.md$/), ...files(join(root, 'examples'), /\.(ts|md)$/)]
const readmes = workspacePackages().map(({ dir }) => join(dir, 'README.md'))
/** Code that people copy: the examples, and the blocks of the pages, which a test compiles. */
const examples = [...pages, ...readmes]
  .filter((file) => file !== PAGE && existsSync(file))
  .map((file) => (file.endsWith('.md') ? blocksIn(readFileSync(file, 'utf8')) : readFileSync(file, 'utf8')))
  .join('\n')

const problems = [
  ...entries.flatMap(undocumented),
  ...entries.flatMap(wholesale),
  ...listedOnPage(entries).flatMap(withoutExample),
  ...unlisted(),
  ...deadSubpaths(),
  ...unpublishedNames(),
]
for (const problem of problems) console.error(`  ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)

function undocumented({ name, symbols }) {
  return symbols.filter(({ isDocumented }) => !isDocumented).map((symbol) => `${name}: ${symbol.name} has no docstring`)
}

function wholesale({ name, file }) {
  return /^export \*/m.test(readFileSync(file, 'utf8')) ? [`${name}: lists its exports with a star`] : []
}

function blocksIn(page) {
  return [...page.matchAll(/^```[\w ]*\n(.*?)^```/gms)].map(([, code]) => code).join('\n')
}

/** What can be called has an example; types are explained by what takes and gives them. */
function withoutExample({ name, symbols }) {
  return symbols
    .filter((symbol) => symbol.isValue && !new RegExp(`\\b${symbol.name}\\b`).test(examples))
    .map((symbol) => `${name}: no example uses ${symbol.name}; add one to its page, or leave it to fhir-ops/internal`)
}

function unlisted() {
  const sections = new Map(
    readFileSync(PAGE, 'utf8')
      .split(/^## /m)
      .map((text) => [text.split('\n', 1)[0], text]),
  )
  return listedOnPage(entries).flatMap(({ name, symbols }) =>
    symbols
      .filter((symbol) => !(sections.get(name) ?? '').includes(`\`${symbol.name}\``))
      .map((symbol) => `${name}: ${symbol.name} is not in docs/api.md; run node scripts/api-page.mjs`),
  )
}

function deadSubpaths() {
  const known = new Set(workspacePackages().flatMap((pkg) => sourceEntries(pkg).map(([subpath]) => pkg.manifest.name + subpath.slice(1))))
  const places = [...files(join(root, 'packages'), /\.ts$/), ...files(join(root, 'docs'), /\.md$/), join(root, 'README.md')]
  return places.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(file.endsWith('.md') ? NAMED_IN_PROSE : IMPORTED)]
      .filter(([, name]) => !known.has(name))
      .map(([, name]) => `${relative(root, file)}: there is no ${name}`),
  )
}

/** Functions in the prose of pages that core gives to our own packages only. */
function unpublishedNames() {
  const published = new Set(entries.flatMap(({ symbols }) => symbols.map(({ name }) => name)))
  const internal = filesBelow(join(root, 'packages/core/src'))
    .filter((file) => file.endsWith('/index.ts'))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/^export \{([^}]*)\} from/gm)].flatMap(([, names]) => names.split(',')))
    .map((name) => name.trim())
    .filter((name) => /^[a-z]+[A-Z]\w*$/.test(name) && !published.has(name) && !SAME_NAME.has(name))
  const hidden = new Set(internal)
  return pages
    .filter((file) => file.endsWith('.md') && relative(root, file) !== join('docs', 'architecture.md'))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/`(\w+)(?:\([^`\n]*)?`/g)].map(([, name]) => ({ file, name })))
    .filter(({ name }) => hidden.has(name))
    .map(({ file, name }) => `${relative(root, file)}: ${name} cannot be imported; publish it, or say what to do without it`)
}

function files(dir, wanted) {
  return filesBelow(dir).filter((file) => wanted.test(file))
}
