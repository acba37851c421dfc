import { Command } from 'commander'
import { openDependencies } from 'fhir-ops/packages'
import { isObject, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import { openEngine, type EngineOptions } from '../engine.js'
import { Exit, type Io, counted } from '../io.js'
import {
  findDependencies,
  foundPackage,
  countResourceFiles,
  resourcesOf,
  type FoundPackage,
  type PackageFolder,
} from '../ig/guide-files.js'
import { dependencyNote } from '../load/loader.js'
import type { Source } from '../load/sources.js'
import { progressOn } from '../progress.js'
import { checkInOrder, checkSource } from '../validate/check-in-order.js'
import { formatOption, threadsOption, RESOURCE_TIMEOUT_MS, threadsOf, REPORTS, type ReportFormat } from '../validate/reports.js'
import { askedBy, withPolicyOptions, type PolicyOptions } from '../validate/policy-options.js'
import type { Checked } from '../validate/report.js'
import { parsedJson } from '../json-fault.js'
import { repeated, suppressOption } from './options.js'

interface IgOptions extends PolicyOptions {
  readonly dependency?: readonly string[]
  readonly packages?: readonly string[]
  readonly format: ReportFormat
  readonly suppress?: string
  readonly threads?: string
}

/** `fhir-ops ig`. */
export function igCommand(io: Io): Command {
  return withPolicyOptions(new Command('ig'))
    .description(
      'Validate a package of an implementation guide, definitions and examples, and compare with the results that it states. Exit status as for validate. Nothing is downloaded.',
    )
    .argument('<package>', 'FHIR package (.tgz), or the folder that it was unpacked to')
    .option('--dependency <package>', 'package that it needs, .tgz or folder; repeatable', repeated)
    .option('--packages <folder>', 'folder in which such packages are looked for, as in that of the package; repeatable', repeated)
    .addOption(formatOption())
    .addOption(threadsOption())
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
    const asked = askedBy(options)
    const threads = threadsOf(options.threads)
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

const SUMMARY = 'other/validation-summary.json'
const OUTCOMES = 'other/validation-oo.json'

/** Numbers of errors by `Type/id`, as determined by a package's publisher; empty if the package does not state any. */
type DeclaredErrors = ReadonlyMap<string, number>

/** Reads the results that HL7's publisher writes into packages: a summary by resource, or the OperationOutcomes on which it is based. */
async function declaredErrors({ files }: PackageFolder): Promise<DeclaredErrors> {
  let outcomes: DeclaredErrors = new Map()
  for await (const { name, text } of files((file) => file === SUMMARY || file === OUTCOMES)) {
    const value = parsedJson(text)
    if (!isObject(value)) continue
    if (name === SUMMARY) return errorsInSummary(value)
    outcomes = errorsInOutcomes(value)
  }
  return outcomes
}

function errorsInSummary(summary: JsonObject): DeclaredErrors {
  return new Map(
    Object.entries(summary).flatMap(([address, counts]): [string, number][] => {
      const errors = isObject(counts) ? counts['errors'] : undefined
      return typeof errors === 'number' ? [[address, errors]] : []
    }),
  )
}

/** Reads OperationOutcomes; each has the id `Type-id` of its resource. */
function errorsInOutcomes(bundle: JsonObject): DeclaredErrors {
  return new Map(
    objectsAt(bundle, 'entry').flatMap(({ resource }): [string, number][] => {
      const id = isObject(resource) ? stringAt(resource, 'id') : undefined
      if (!isObject(resource) || id === undefined) return []
      const errors = objectsAt(resource, 'issue').filter(({ severity }) => severity === 'error' || severity === 'fatal')
      return [[id.replace('-', '/'), errors.length]]
    }),
  )
}

/** Compares results with those that a package declares. */
export interface Comparison {
  readonly add: (checked: Checked) => void
  /** Lists the differences by resource, and the number of agreements; empty if the package declares nothing. */
  readonly lines: () => readonly string[]
}

/** Creates a comparison of verdicts only, because the number of findings depends on how they are worded. */
function comparisonWith(declared: DeclaredErrors): Comparison {
  const differences: string[] = []
  let agreed = 0
  return {
    add: ({ source, result: { findings } }) => {
      const address = addressIn(source.text)
      const theirs = address === undefined ? undefined : declared.get(address)
      if (address === undefined || theirs === undefined) return
      const ours = findings.filter(({ severity }) => severity === 'error' || severity === 'fatal').length
      if (ours > 0 === theirs > 0) agreed++
      else differences.push(`  ${address}: ${counted(ours, 'error')} here, ${counted(theirs, 'error')} there`)
    },
    lines: () => {
      const compared = agreed + differences.length
      if (compared === 0) return []
      return [
        `compared with the package's own results: ${counted(compared, 'resource')}, ${agreed} with the same verdict, ${differences.length} with another`,
        ...differences,
      ]
    },
  }
}

function addressIn(text: string): string | undefined {
  const resource = parsedJson(text)
  const [type, id] = isObject(resource) ? [stringAt(resource, 'resourceType'), stringAt(resource, 'id')] : []
  return type === undefined || id === undefined ? undefined : `${type}/${id}`
}
