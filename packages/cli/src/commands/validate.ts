import { Command, Option } from 'commander'
import { forRequest } from 'fhir-ops/context'
import type { BestPractice, FindingLevel } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { validate, type Finding, type ValidateInput } from 'fhir-ops/validate'
import { counted } from '../text.js'
import { openEngine, type Engine } from '../engine.js'
import { Exit } from '../exit.js'
import type { Io } from '../io.js'
import { sourcesIn, type Source } from '../load/sources.js'
import { jsonReport, sarifReport } from '../validate/machine-reports.js'
import type { Checked, Report } from '../validate/report.js'
import { textReport } from '../validate/text-report.js'
import { loadOption, repeated, storageOption, suppressOption } from './options.js'

/** How findings are printed. A new format is a line here. */
const REPORTS = {
  text: textReport,
  json: jsonReport,
  sarif: sarifReport,
} as const satisfies Readonly<Record<string, (io: Io) => Report>>

interface ValidateOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly suppress?: string
  readonly bestPractice?: BestPractice
  readonly level?: FindingLevel
  readonly profile?: readonly string[]
  readonly format: keyof typeof REPORTS
  readonly json?: true
}

/** `fhir-ops validate`. */
export function validateCommand(io: Io): Command {
  return new Command('validate')
    .description('Validate resources. Exit status 0 when none has an error, 1 when one has or the command failed, 2 on wrong use.')
    .argument('[paths...]', 'JSON or NDJSON files (also .gz), patterns such as "**/*.json", or folders; standard input when there is none')
    .option('--profile <canonical>', 'profile to validate against, repeatable', repeated)
    .addOption(new Option('--format <format>', 'output format of findings').choices(Object.keys(REPORTS)).default('text'))
    .addOption(new Option('--json', 'the same as --format json'))
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(suppressOption())
    .addOption(new Option('--best-practice <severity>', 'report violations of best practices, as this severity').choices(LEVELS))
    .addOption(new Option('--level <severity>', 'lowest severity to report').choices(LEVELS).default('information'))
    .addHelpText(
      'after',
      '\nExample:\n  fhir-ops validate --load packages/cli/sample packages/cli/sample/patients.json\n  curl -s https://example.org/fhir/Patient/1 | fhir-ops validate --format json\n  fhir-ops validate --load profiles.tgz --format sarif "resources/**/*.json" > findings.sarif',
    )
    .action((paths: readonly string[], options: ValidateOptions) => validateAll(paths, options, io))
}

const LEVELS = ['information', 'warning', 'error']
const PROGRESS_MS = 1_000
/** For one resource. Nobody else waits here, and many resources may follow. */
const PATIENCE_MS = 60_000

async function validateAll(
  paths: readonly string[],
  { profile = [], bestPractice, level, ...options }: ValidateOptions,
  io: Io,
): Promise<void> {
  const report = REPORTS[options.json ? 'json' : options.format](io)
  const engine = await openEngine({ ...options, limits: { operationTimeoutMs: PATIENCE_MS } }, io)
  const progress = progressOn(io)
  let invalid = 0
  try {
    for await (const source of inputs(paths, io)) {
      const checked = await check(source, engine, { profiles: profile, bestPractice, level })
      report.add(checked)
      invalid += Number(!checked.result.valid)
      progress()
    }
  } finally {
    await engine.close()
  }
  report.end()
  if (invalid > 0) throw new Exit(1)
}

/** Tells about once a second how many resources were checked. */
function progressOn(io: Io): () => void {
  let count = 0
  let said = performance.now()
  return () => {
    count++
    if (performance.now() - said < PROGRESS_MS) return
    io.err(`… ${counted(count, 'resource')}`)
    said = performance.now()
  }
}

async function* inputs(paths: readonly string[], io: Io): AsyncGenerator<Source> {
  if (paths.length === 0) yield { text: await io.stdin(), place: 'stdin', file: 'stdin', line: 1 }
  for (const path of paths) {
    let isEmpty = true
    for await (const source of sourcesIn(path)) {
      isEmpty = false
      yield source
    }
    // A wrong folder must not look like a folder without mistakes.
    if (isEmpty) throw new OperationError('body-invalid', `There is no resource in ${path}.`)
  }
}

async function check(source: Source, { ctx }: Engine, asked: Omit<ValidateInput, 'resource'>): Promise<Checked> {
  const { valid, findings } = await validate(forRequest(ctx, {}), { ...asked, resource: source.text, places: true })
  return { source, result: { valid, findings: findings.map((finding) => inFile(finding, source)) } }
}

/** A resource may begin further down in its file. */
function inFile({ line = 1, ...finding }: Finding, source: Source): Finding {
  return { ...finding, line: line + source.line - 1 }
}
