import { Command, Option } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { openEngine, type Engine, type EngineOptions } from '../engine.js'
import { Exit, interrupted, type Io } from '../io.js'
import { isStandardInput, type Source } from '../load/sources.js'
import { progressOn } from '../progress.js'
import { checkInOrder, checkSource, type Asked } from '../validate/check-in-order.js'
import { fixAll, writeFixed } from '../validate/fix-source.js'
import { changedFiles, inputsAt, type Inputs } from '../validate/input-files.js'
import { formatOption, threadsOption, RESOURCE_TIMEOUT_MS, threadsOf, REPORTS, type ReportFormat } from '../validate/reports.js'
import { askedBy, withPolicyOptions, type PolicyOptions } from '../validate/policy-options.js'
import type { Checked } from '../validate/report.js'
import { loadOption, storageOption, suppressOption } from './options.js'
import { SAMPLE_PATH } from '../files.js'

interface ValidateOptions extends PolicyOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly suppress?: string
  readonly format: ReportFormat
  readonly json?: true
  readonly fix?: true
  readonly threads?: string
  readonly watch?: true
}

/** `fhir-ops validate`. */
export function validateCommand(io: Io): Command {
  return withPolicyOptions(new Command('validate'))
    .description('Validate resources. Exit status 0 when none has an error, 1 when one has or the command failed, 2 on wrong use.')
    .argument(
      '[paths...]',
      'JSON or NDJSON files (also .gz), patterns such as "**/*.json", or folders; - or nothing for one resource or NDJSON from standard input',
    )
    .addOption(formatOption())
    .addOption(new Option('--json', 'the same as --format json'))
    .addOption(new Option('--fix', 'apply the fixes of findings to the files, show what was changed, and report what is left'))
    .addOption(threadsOption())
    .addOption(new Option('--watch', 'keep running, and validate files again when they change').conflicts('fix'))
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(suppressOption())
    .addHelpText(
      'after',
      `\nExample:\n  fhir-ops validate --load ${SAMPLE_PATH} ${SAMPLE_PATH}/patients.json\n  curl -s https://example.org/fhir/Patient/1 | fhir-ops validate --format json\n  fhir-ops validate --load profiles.tgz --format sarif "resources/**/*.json" > findings.sarif`,
    )
    .action((paths: readonly string[], options: ValidateOptions) => validateAll(paths, options, io))
}

/** With this number of bytes, threads are worth starting from the beginning, and the reporting thread need not load the definitions. */
const MANY_BYTES = 4_000_000

async function validateAll(paths: readonly string[], options: ValidateOptions, io: Io): Promise<void> {
  if (options.watch && isStandardInput(paths)) throw new OperationError('parameter-value', '--watch needs files or folders.')
  const inputs = await inputsAt(paths, io)
  const engine = engineWhenNeeded(options, io)
  const asked = askedBy(options)
  const reported = (on: Inputs): Promise<number> => reportOn(on, { engine, asked, options, io })
  try {
    // Open the engine first, because it reports what it loads and refuses invalid options.
    if (options.load.length > 0 || options.suppress !== undefined || options.storage !== 'memory') await engine.opened()
    const invalid = await reported(inputs)
    if (options.watch) await watchAll(paths, reported, io)
    else if (invalid > 0) throw new Exit(1)
  } finally {
    await engine.close()
  }
}

/** An engine that is opened only when needed: if threads do all the work, the definitions need not be in memory once more. */
interface LazyEngine {
  readonly opened: () => Promise<Engine>
  readonly close: () => Promise<void>
}

function engineWhenNeeded(options: ValidateOptions, io: Io): LazyEngine {
  let engine: Promise<Engine> | undefined
  return {
    opened: () => (engine ??= openEngine(engineOptions(options), io)),
    close: async () => (await engine)?.close(),
  }
}

function engineOptions({ storage, load, suppress }: Pick<ValidateOptions, 'storage' | 'load' | 'suppress'>): EngineOptions {
  return { storage, load, ...(suppress !== undefined && { suppress }), limits: { operationTimeoutMs: RESOURCE_TIMEOUT_MS } }
}

interface Reporting {
  readonly engine: LazyEngine
  readonly asked: Asked
  readonly options: ValidateOptions
  readonly io: Io
}

/** Validates and reports; returns the number of resources with errors. */
async function reportOn({ sources, bytes, shareAt }: Inputs, { engine, asked, options, io }: Reporting): Promise<number> {
  const report = REPORTS[options.json ? 'json' : options.format](io)
  const progress = progressOn(io)
  const fixed: { source: Source; text: string }[] = []
  const damaged = new Set<string>()
  let [checkedCount, invalid] = [0, 0]
  const alone = async (source: Source): Promise<Checked> =>
    options.fix ? fix(source, await engine.opened(), { asked, fixed, io }) : checkSource(source, await engine.opened(), asked)
  const threads = options.fix ? 0 : threadsOf(options.threads)
  const areMany = bytes > MANY_BYTES
  for await (const checked of checkInOrder(sources(), { alone, threads, areMany, options: { engine: engineOptions(options), asked } })) {
    report.add(checked)
    invalid += Number(!checked.result.valid)
    if (checked.source.problem !== undefined) damaged.add(checked.source.file)
    progress.show({ doing: 'validating', done: ++checkedCount, thing: 'resource', share: shareAt(checked.source) })
  }
  progress.end()
  // A file that cannot be read to its end would lose the rest.
  await writeFixed(fixed.filter(({ source }) => !damaged.has(source.file)))
  report.end()
  return invalid
}

/** Validates changed files until the user stops it. */
async function watchAll(paths: readonly string[], reported: (inputs: Inputs) => Promise<number>, io: Io): Promise<void> {
  const end = new AbortController()
  void interrupted().then(() => end.abort())
  const validateFiles = async (files: readonly string[]): Promise<unknown> => reported(await inputsAt(files, io))
  io.err('watching for changes')
  for await (const files of changedFiles(paths, end.signal)) {
    await validateFiles(files).catch((error: unknown) => {
      // A file that was deleted or is being written is not a reason to stop.
      if (!(error instanceof OperationError)) throw error
      io.err(`error: ${error.message}`)
    })
  }
}

/** Applies fixes to a resource, and prints them. */
async function fix(
  source: Source,
  engine: Engine,
  { asked, fixed, io }: { asked: Asked; fixed: { source: Source; text: string }[]; io: Io },
): Promise<Checked> {
  const { text, diffs, result } = await fixAll(
    source.text,
    async (current) => (await checkSource({ ...source, text: current }, engine, asked)).result,
  )
  if (diffs.length > 0) fixed.push({ source, text })
  for (const diff of diffs) io.out(`${source.place}\n${diff}`)
  return { source: { ...source, text }, result }
}
