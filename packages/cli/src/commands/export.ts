import { Command, InvalidArgumentError } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { isResourceType } from 'fhir-ops/storage'
import { resourceTypes } from 'fhir-ops/internal/storage'
import { counted } from '../text.js'
import { openEngine } from '../engine.js'
import { exportResources } from '../export/export-resources.js'
import { folder, lines } from '../export/export-resources.js'
import type { Io } from '../io.js'

interface ExportCommandOptions {
  readonly storage: string
  readonly type?: readonly string[]
  readonly since?: number
  readonly out?: string
}

/** `fhir-ops export`. */
export function exportCommand(io: Io): Command {
  return new Command('export')
    .description('Write the resources of a storage as NDJSON, with their versions and times, which `load` passes over.')
    .requiredOption('--storage <storage>', 'sqlite:FILE, postgres:URL or http:URL')
    .option('--type <type>', 'only this type; repeatable', resourceType)
    .option('--since <instant>', 'only what was written at this time or later, such as 2026-01-31T00:00:00Z', instant)
    .option('--out <folder>', 'write a file <Type>.ndjson for each type, instead of printing all')
    .addHelpText('after', '\nExample:\n  fhir-ops export --storage sqlite:content.db --out ./exported')
    .action((options: ExportCommandOptions) => exportFrom(options, io))
}

async function exportFrom({ storage, type: types = resourceTypes(), since, out }: ExportCommandOptions, io: Io): Promise<void> {
  if (storage === 'memory') throw new OperationError('parameter-value', 'There is nothing in memory to export: name another storage.')
  const engine = await openEngine({ storage }, io)
  try {
    const sink = out === undefined ? lines(io.out) : await folder(out)
    const counts = await exportResources(engine.ctx.storage, { types, since, sink })
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
    io.err(
      `exported ${counted(total, 'resource')}${counts.size > 0 ? ` (${[...counts].map(([type, count]) => `${type} ${count}`).join(', ')})` : ''}`,
    )
  } finally {
    await engine.close()
  }
}

function resourceType(text: string, before: readonly string[] = []): readonly string[] {
  if (!isResourceType(text)) throw new InvalidArgumentError('It must be a resource type of R4, or Bot.')
  return [...before, text]
}

function instant(text: string): number {
  const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(time)) throw new InvalidArgumentError('It must be a date, or a time with seconds and zone.')
  return time
}
