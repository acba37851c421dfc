// `npm run bench`: runs benches, keeps their tables, or compares them with those that were kept or with another checkout.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { comparison, speedBetween } from './bench-figures.mjs'
import { root } from './packages.mjs'

const RESULTS = join('packages', 'bench', 'results')
const PROGRAM = join('packages', 'bench', 'dist', 'main.js')
/** They run when they are named: each takes long, or needs another program. */
const NAMED_ONLY = new Set(['cluster-faults', 'java', 'memory', 'soak', 'validate-files'])
const USAGE = `npm run bench -- [NAME...] [--save | --against last|FOLDER [--rounds N]]

  NAME...            the benches to run, one after the other; --list names them; when none is named, all that need no other program and
                     end within minutes: ${[...NAMED_ONLY].join(', ')} are left out
  --save             keeps the tables in ${RESULTS}; npm run docs writes them into docs/performance.md
  --against last     compares with the kept tables: times as good, set right by the calibration of both runs
  --against FOLDER   compares with another checkout that has been set up, in turns, on the same machine
  --rounds N         of a comparison (default 3)

Figures that are worse by more than a tenth in every round make the comparison fail.`

const { values, positionals } = arguments_()
if (values.help) console.log(USAGE)
else if (values.list) console.log(benches().join('\n'))
else process.exit(main() ? 0 : 1)

function arguments_() {
  const options = {
    save: { type: 'boolean', default: false },
    against: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  }
  try {
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    return wrong(error.message)
  }
}

function main() {
  const unknown = positionals.find((name) => !benches().includes(name))
  if (unknown !== undefined) wrong(`There is no bench '${unknown}'; there are ${benches().join(', ')}.`)
  const names = positionals.length > 0 ? positionals : benches().filter((name) => !NAMED_ONLY.has(name))
  if (values.save && values.against !== undefined) wrong('--save and --against exclude each other.')
  if (values.against === undefined) return names.map((name) => shown(name)).every(Boolean)
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) wrong('--rounds takes a whole number from 1.')
  return names.map((name) => compared(name, rounds)).every(Boolean)
}

/** Runs a bench and prints its tables as they come; keeps them with `--save`. */
function shown(name) {
  if (!values.save) return started(name, root, 'inherit').status === 0
  const text = output(name, root)
  console.log(text)
  mkdirSync(join(root, RESULTS), { recursive: true })
  writeFileSync(join(root, RESULTS, `${name}.md`), text)
  return true
}

function compared(name, rounds) {
  const isKept = values.against === 'last'
  const before = isKept ? keptRun(name) : otherCheckout(name)
  const pairs = Array.from({ length: rounds }, (_, round) => {
    console.error(`${name}: round ${round + 1} of ${rounds}`)
    const [old, now] = [before(), output(name, root)]
    return { before: old, now, speed: isKept ? speedBetween(old, now) : 1 }
  })
  const rows = comparison(pairs)
  const confidence = Math.round(100 * (1 - 2 ** (1 - rounds)))
  console.log(`| ${name} | before | now | times as good | least | most | |\n| --- | --- | --- | --- | --- | --- | --- |`)
  for (const { name: figure, before: old, now, middle, least, most, verdict } of rows)
    console.log(`| ${figure} | ${old} | ${now} | ${middle.toFixed(2)} | ${least.toFixed(2)} | ${most.toFixed(2)} | ${verdict} |`)
  console.log(`\n${rounds} rounds: the true middle lies between least and most with ${confidence} % confidence.\n`)
  return rows.every(({ verdict }) => verdict !== 'worse')
}

function keptRun(name) {
  const file = join(root, RESULTS, `${name}.md`)
  if (!existsSync(file)) wrong(`${file} does not exist; npm run bench -- ${name} --save makes it.`)
  const text = readFileSync(file, 'utf8')
  return () => text
}

function otherCheckout(name) {
  const folder = resolve(process.env.INIT_CWD ?? '.', values.against)
  if (!existsSync(join(folder, PROGRAM))) wrong(`${folder} is no checkout that has been set up (npm run setup).`)
  return () => output(name, folder)
}

function output(name, folder) {
  const { status, stdout } = started(name, folder, ['ignore', 'pipe', 'inherit'])
  if (status !== 0) wrong(`The bench ${name} of ${folder} ended with status ${status}.`)
  // What libraries print while they start is not part of the tables.
  return stdout.slice(Math.max(0, stdout.search(/^\|/m)))
}

function started(name, folder, stdio) {
  return spawnSync('node', ['--expose-gc', PROGRAM, name], { cwd: folder, stdio, encoding: 'utf8' })
}

function benches() {
  return started('--list', root, ['ignore', 'pipe', 'inherit']).stdout.trim().split('\n')
}

function wrong(message) {
  console.error(`${message}\n\n${USAGE}`)
  process.exit(2)
}
