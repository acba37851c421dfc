// Every regular expression of the published packages runs in linear time. The private ones (tests and benches) read nothing of strangers.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { checkSync } from 'recheck'
import ts from 'typescript'
import { root, sourceFiles, workspacePackages } from './packages.mjs'

// An attack that takes longer than its limit counts as one that succeeds, and a busy machine takes long.
const LIMITS = { timeout: 300_000, attackTimeout: 150_000, incubationTimeout: 150_000 }

const found = sources().flatMap(literals)
// A verdict depends on the expression alone.
const CACHE = join(root, 'node_modules', '.fhir-ops', 'regexes.json')
const verdicts = new Map(existsSync(CACHE) ? JSON.parse(readFileSync(CACHE, 'utf8')) : [])
const problems = found.filter(({ text }) => verdict(text) === 'vulnerable')
const undecided = found.filter(({ text }) => verdict(text) === 'unknown')
for (const { place, text } of [...problems, ...undecided]) console.error(`  ${place}: ${text} is ${verdict(text)}`)
console.log(`  ${found.length} expressions, ${problems.length} super-linear, ${undecided.length} undecided`)
mkdirSync(dirname(CACHE), { recursive: true })
writeFileSync(CACHE, JSON.stringify([...verdicts].filter(([, status]) => status !== 'unknown')))
process.exit(problems.length + undecided.length === 0 ? 0 : 1)

function sources() {
  const published = workspacePackages().filter(({ manifest }) => manifest.private !== true)
  return sourceFiles().filter((file) => !file.endsWith('.test.ts') && published.some(({ dir }) => file.startsWith(dir + sep)))
}

function literals(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const list = []
  const visit = (node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart())
      list.push({ place: `${relative(root, file)}:${line + 1}`, text: node.text })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return list
}

function verdict(text) {
  if (!verdicts.has(text)) {
    const end = text.lastIndexOf('/')
    verdicts.set(text, checkSync(text.slice(1, end), text.slice(end + 1).replace(/[vd]/g, ''), LIMITS).status)
  }
  return verdicts.get(text)
}
