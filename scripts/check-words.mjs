// Words that readers stumble over in messages, docstrings and docs, with what to write instead. `--strict` fails when there are any.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { filesBelow, root, sourceFiles } from './packages.mjs'

const WORDS = new Map([
  [/\b(is|are|was|were|be|been|not) told\b|\btold (so|by|to|apart)\b/i, 'reported, said'],
  [/\bmend(s|ed|ing)?\b/i, 'fix, repair'],
  [/\banew\b/i, 'again'],
  [/\bcome by\b|\bcame by\b/i, 'seen, found'],
  [/\bparted by\b/i, 'separated by'],
  [/\bat hand\b/i, 'available'],
  [/\blook-ups?\b/i, 'lookup'],
  [/\bwhat stands\b|\bstands (here|there|side by side)\b/i, 'is, appears'],
  [/\bbrought along\b|\bbrought by\b/i, 'supplied by'],
  [/\bslips?\b/i, 'mistake, syntax error'],
  [/\bin place of\b/i, 'instead of'],
  [/\bpassed over\b/i, 'ignored, skipped'],
  [/\blest\b/i, 'so that ... not'],
  [
    /(?<!\b(?:there|such|where|what there) )\b(?:is|are|was|were) no (?!longer|more|less|slower|faster|other|better|reason|limit|such|second|different|further|one|use|way|need|sign)\w/i,
    'is not a',
  ],
])
/** Phrases that are right as they are, each with its reason. */
const ALLOWED = new Map([['slip of the pen', 'an idiom']])

const found = [...sources().flatMap(inSource), ...pages().flatMap(inPage)]
for (const { place, text, instead } of found) console.log(`  ${place}: ${text.trim().slice(0, 120)} (${instead})`)
console.log(`  ${found.length} odd words`)
process.exit(process.argv.includes('--strict') && found.length > 0 ? 1 : 0)

function sources() {
  return sourceFiles().filter((file) => !/\.(test|fixture)\.ts$/.test(file))
}

function pages() {
  return [
    ...filesBelow(join(root, 'docs')).filter((file) => file.endsWith('.md')),
    ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].map((name) => join(root, name)),
  ]
}

/** Texts of literals, and comments of declarations. */
function inSource(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  const texts = []
  const visit = (node) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart())
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) texts.push([line, node.text])
    for (const comment of node.jsDoc ?? []) texts.push([source.getLineAndCharacterOfPosition(comment.getStart()).line, comment.getText()])
    ts.forEachChild(node, visit)
  }
  visit(source)
  return texts.flatMap(([line, text]) => oddIn(text, `${relative(root, file)}:${line + 1}`))
}

function inPage(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((text, index) => oddIn(text, `${relative(root, file)}:${index + 1}`))
}

function oddIn(text, place) {
  const plain = [...ALLOWED.keys()].reduce((rest, phrase) => rest.replaceAll(phrase, ''), text)
  return [...WORDS]
    .filter(([word]) => word.test(plain))
    .map(([word, instead]) => ({ place, text: text.slice(Math.max(0, text.search(word) - 40)), instead }))
}
