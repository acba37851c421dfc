// Finds what a source file exports although no other file names it: `export` is to mean that something is used elsewhere. Entries and folders' index.ts
// list what others may use, so their own exports are not asked about. Names are compared as words, so a name that other files use for something else passes.
import { readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { filesBelow, root } from './packages.mjs'

const EXPORTED = /^export (?:async )?(?:function\*?|const|interface|type|class) ([A-Za-z_$][\w$]*)/gm
const FOLDERS = ['packages', 'examples', 'test', 'scripts']

const texts = new Map(
  FOLDERS.flatMap((folder) => filesBelow(join(root, folder)))
    .filter((file) => /\.(ts|mjs)$/.test(file) && !file.endsWith('.d.ts'))
    .map((file) => [relative(root, file), readFileSync(file, 'utf8')]),
)
const users = new Map()
for (const [file, text] of texts) {
  for (const word of new Set(text.match(/[A-Za-z_$][\w$]*/g))) users.set(word, [...(users.get(word) ?? []), file])
}
const unused = [...texts].filter(([file]) => isSource(file)).flatMap(([file, text]) => unusedIn(file, text))
for (const { name, file } of unused) console.error(`  ${name} of ${file} is exported, and no other file names it`)
console.log(`  ${unused.length} exports that nothing uses`)
process.exit(unused.length > 0 ? 1 : 0)

function isSource(file) {
  return (
    file.includes('/src/') && !/\.(test|test-d|fixture|generated)\.ts$/.test(file) && !['index.ts', 'public.ts'].includes(basename(file))
  )
}

function unusedIn(file, text) {
  const names = Array.from(text.matchAll(EXPORTED), ([, name]) => name)
  return names.filter((name) => users.get(name).length === 1).map((name) => ({ name, file }))
}
