import { Command } from 'commander'
import { generateSnapshot } from 'fhir-ops/snapshot'
import { openEngine } from '../engine.js'
import { Exit } from '../exit.js'
import type { Io } from '../io.js'
import { readResource } from '../read-resource.js'
import { loadOption, storageOption } from './options.js'

interface SnapshotOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly url?: true
}

/** `fhir-ops snapshot`. */
export function snapshotCommand(io: Io): Command {
  return new Command('snapshot')
    .description(
      'Print a StructureDefinition with the snapshot that its differential makes of its base. What cannot be applied goes to standard error.',
    )
    .argument('<file>', 'JSON file with a StructureDefinition')
    .option('--url', 'the argument is the canonical of a definition that is stored or loaded')
    .addOption(storageOption())
    .addOption(loadOption())
    .addHelpText('after', '\nExample:\n  fhir-ops snapshot --url http://hl7.org/fhir/StructureDefinition/bp')
    .action((file: string, options: SnapshotOptions) => printSnapshot(file, options, io))
}

async function printSnapshot(file: string, options: SnapshotOptions, io: Io): Promise<void> {
  const given = options.url ? { url: file } : { definition: await readResource(file) }
  const engine = await openEngine(options, io)
  try {
    const { definition, problems } = await generateSnapshot(engine.ctx, given)
    io.out(JSON.stringify(definition, null, 2))
    for (const { severity, text, expression } of problems) io.err(`${severity}: ${expression}: ${text}`)
    if (problems.some(({ severity }) => severity === 'error')) throw new Exit(1)
  } finally {
    await engine.close()
  }
}
