import { Command } from 'commander'
import { measureOperations } from 'fhir-ops/evaluate'
import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Io } from '../io.js'
import { table } from '../text.js'
import { PERIOD_DATE, SAMPLE_MEASURE, withContentOptions, withLanguages } from './measure-command.js'
import { idOf, operationNamed, printAnswer } from './run-operation.js'

interface DataRequirementsOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly periodStart?: string
  readonly periodEnd?: string
  readonly json?: true
}

/** `fhir-ops data-requirements`. */
export function dataRequirementsCommand(io: Io): Command {
  const command = new Command('data-requirements')
    .description('Say what data a Measure or Library looks at: types, codes, dates and elements. No data is read.')
    .argument('<resource>', 'id of a Measure, Measure/<id> or Library/<id>')
    .option('--period-start <date>', `${PERIOD_DATE}; needed for a Measure`)
    .option('--period-end <date>', `${PERIOD_DATE}; needed for a Measure`)
    .addHelpText('after', `\nExample:\n  fhir-ops data-requirements ${SAMPLE_MEASURE}`)
    .action((resource: string, options: DataRequirementsOptions) => printRequirements(resource, options, io))
  return withContentOptions(command)
}

async function printRequirements(resource: string, options: DataRequirementsOptions, io: Io): Promise<void> {
  const type = resource.startsWith('Library/') ? 'Library' : 'Measure'
  const { periodStart, periodEnd } = options
  await withLanguages(async (languages) => {
    const operation = operationNamed('$data-requirements', measureOperations({ languages }), type)
    await printAnswer({ operation, type, id: idOf(type, resource), values: { periodStart, periodEnd } }, options, io, (library) => {
      for (const line of table(objectsAt(library, 'dataRequirement').map(cellsOf))) io.out(line)
    })
  })
}

/** Type, filters and elements of a requirement. */
function cellsOf(requirement: JsonObject): readonly string[] {
  const filters = [...objectsAt(requirement, 'codeFilter').map(codesText), ...objectsAt(requirement, 'dateFilter').map(datesText)]
  const elements = requirement['mustSupport']
  return [stringAt(requirement, 'type') ?? '', filters.join('; '), Array.isArray(elements) ? elements.join(', ') : '']
}

function codesText(filter: JsonObject): string {
  const codes = objectsAt(filter, 'code').map((coding) =>
    [stringAt(coding, 'system'), stringAt(coding, 'code')].filter((part) => part !== undefined).join('|'),
  )
  return `${pathText(filter)} in ${stringAt(filter, 'valueSet') ?? codes.join(', ')}`
}

function datesText(filter: JsonObject): string {
  const period = objectAt(filter, 'valuePeriod')
  return period === undefined
    ? pathText(filter)
    : `${pathText(filter)} ${stringAt(period, 'start') ?? ''}..${stringAt(period, 'end') ?? ''}`
}

function pathText(filter: JsonObject): string {
  return stringAt(filter, 'path') ?? stringAt(filter, 'searchParam') ?? ''
}
