import { Command } from 'commander'
import type { FindingLevel } from 'fhir-ops/internal/context'
import { openDependencies } from 'fhir-ops/packages'
import { openEngine, type EngineOptions } from '../engine.js'
import { Exit } from '../exit.js'
import { comparisonWith, declaredErrors } from '../ig/declared-results.js'
import { findDependencies, foundPackage, countResourceFiles, resourcesOf, type FoundPackage } from '../ig/guide-files.js'
import type { Io } from '../io.js'
import { dependencyNote } from '../load/report.js'
import type { Source } from '../load/sources.js'
import { progressOn } from '../progress.js'
import { checkInOrder, checkSource } from '../validate/check-in-order.js'
import {
  formatOption,
  jobsOption,
  levelOption,
  RESOURCE_TIMEOUT_MS,
  threadsOf,
  REPORTS,
  type ReportFormat,
} from '../validate/report-options.js'
import type { Checked } from '../validate/report.js'
import { repeated, suppressOption } from './options.js'

interface IgOptions {
  readonly dependency?: readonly string[]
  readonly packages?: readonly string[]
  readonly format: ReportFormat
  readonly level?: FindingLevel
  readonly suppress?: string
  readonly jobs?: string
}

/** `fhir-ops ig`. */
export function igCommand(io: Io): Command {
  return new Command('ig')
    .description(
      'Validate a package of an implementation guide, definitions and examples, and compare with the results that it states. Exit status as for validate. Nothing is downloaded.',
    )
    .argument('<package>', 'FHIR package (.tgz), or the folder that it was unpacked to')
    .option('--dependency <package>', 'package that it needs, .tgz or folder; repeatable', repeated)
    .option('--packages <folder>', 'folder in which such packages are looked for, as in that of the package; repeatable', repeated)
    .addOption(formatOption())
    .addOption(levelOption())
    .addOption(jobsOption())
    .addOption(suppressOption())
    .addHelpText(
      'after',
      '\nExample:\n  fhir-ops ig hl7.fhir.us.mcode-4.0.0.tgz --packages ~/.fhir/packages\n  fhir-ops ig package --dependency hl7.fhir.us.core-6.1.0.tgz --format junit > findings.xml',
    )
    .action((path: string, options: IgOptions) => validateGuide(path, options, io))
}

async function validateGuide(path: string, options: IgOptions, io: Io): Promise<void> {
  const own = await foundPackage(path)
  const given = await Promise.all((options.dependency ?? []).map(foundPackage))
  const dependencies = await findDependencies(own, { folders: options.packages ?? [], given })
  describe(own, dependencies, io)
  const engineOptions = await engineFor([...dependencies, own], options)
  const engine = await openEngine(engineOptions, io)
  try {
    const asked = { level: options.level }
    const threads = threadsOf(options.jobs)
    const report = REPORTS[options.format](io)
    const comparison = comparisonWith(await declaredErrors(own.folder))
    const count = await countResourceFiles(own.folder)
    const progress = progressOn(io)
    let [done, invalid] = [0, 0]
    const alone = (source: Source): Promise<Checked> => checkSource(source, engine, asked)
    for await (const checked of checkInOrder(resourcesOf(own.folder), { alone, threads, options: { engine: engineOptions, asked } })) {
      report.add(checked)
      comparison.add(checked)
      invalid += Number(!checked.result.valid)
      progress.show({ doing: 'validating', done: ++done, thing: 'resource', share: done / count })
    }
    progress.end()
    report.end()
    for (const line of comparison.lines()) io.err(line)
    if (invalid > 0) throw new Exit(1)
  } finally {
    await engine.close()
  }
}

/** Prints which packages are used, and which are missing: without these, what depends on them is not checked. */
function describe(own: FoundPackage, dependencies: readonly FoundPackage[], io: Io): void {
  const named = ({ manifest: { name, version } }: FoundPackage): string => `${name}#${version}`
  const others = dependencies.map(named)
  io.err(`${named(own)}${others.length > 0 ? ` with ${others.join(', ')}` : ''}`)
  for (const open of openDependencies([own, ...dependencies].map(({ manifest }) => manifest))) io.err(dependencyNote(open))
}

async function engineFor(packages: readonly FoundPackage[], { suppress }: IgOptions): Promise<EngineOptions> {
  const load = (await Promise.all(packages.map(({ folder }) => folder.definitionPaths()))).flat()
  return {
    storage: 'memory',
    load,
    knowsPackages: true,
    ...(suppress !== undefined && { suppress }),
    limits: { operationTimeoutMs: RESOURCE_TIMEOUT_MS },
  }
}
