import { Command } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { openEngine } from '../engine.js'
import { Exit } from '../exit.js'
import type { Io } from '../io.js'
import { load } from '../load/loader.js'
import { reportLoad } from '../load/report.js'

/** `fhir-ops load`. */
export function loadCommand(io: Io): Command {
  return new Command('load')
    .description('Load resources into a storage. Exit status 1 when some were refused; the others are loaded.')
    .argument('<paths...>', 'JSON, Bundle or NDJSON files (also .gz), or folders of them')
    .requiredOption('--storage <storage>', 'sqlite:FILE, postgres:URL or http:URL')
    .addHelpText('after', '\nExample:\n  fhir-ops load packages/cli/sample --storage sqlite:content.db')
    .action((paths: readonly string[], options: { readonly storage: string }) => loadInto(paths, options.storage, io))
}

async function loadInto(paths: readonly string[], storage: string, io: Io): Promise<void> {
  if (storage === 'memory')
    throw new OperationError(
      'parameter-value',
      'What is loaded into memory is gone when the command ends: name another storage, or use --load of serve.',
    )
  const engine = await openEngine({ storage }, io)
  try {
    const onProgress = (count: number): void => io.err(`… ${count} resources`)
    const summary = await load(paths, { storage: engine.ctx.storage, indexer: engine.indexer, onProgress })
    reportLoad(summary, io)
    if (summary.refused.length > 0) throw new Exit(1)
  } finally {
    await engine.close()
  }
}
