import { cqlLanguage } from '@fhir-ops/cql'
import { openWorkerTranslator } from '@fhir-ops/cql/node'
import { r4TypeModel } from '@fhir-ops/r4'
import { Command } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { measureOperations } from 'fhir-ops/evaluate'
import { objectAt, objectsAt, stringAt, type JsonObject } from 'fhir-ops/internal/json'
import type { Operation } from 'fhir-ops/operation'
import type { Io } from '../io.js'
import { table } from '../text.js'
import { jsonOption, loadOption, storageOption } from './options.js'
import { idOf, printAnswer } from './run-operation.js'

interface DataRequirementsOptions {
  readonly storage: string
  readonly load: readonly string[]
  readonly periodStart?: string
  readonly periodEnd?: string
  readonly json?: true
}

/** `fhir-ops data-requirements`. */
export function dataRequirementsCommand(io: Io): Command {
  return new Command('data-requirements')
    .description('Say what data a Measure or Library looks at: types, codes, dates and elements. No data is read.')
    .argument('<resource>', 'id of a Measure, Measure/<id> or Library/<id>')
    .option('--period-start <date>', 'YYYY, YYYY-MM or YYYY-MM-DD; needed for a Measure')
    .option('--period-end <date>', 'YYYY, YYYY-MM or YYYY-MM-DD; needed for a Measure')
    .addOption(storageOption())
    .addOption(loadOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExample:\n  fhir-ops data-requirements heart-rate-count --period-start 2026 --period-end 2026 --load packages/cli/sample',
    )
    .action((resource: string, options: DataRequirementsOptions) => tell(resource, options, io))
}

async function tell(resource: string, options: DataRequirementsOptions, io: Io): Promise<void> {
  const type = resource.startsWith('Library/') ? 'Library' : 'Measure'
  const { periodStart, periodEnd } = options
  const translator = openWorkerTranslator({ model: r4TypeModel() })
  const call = {
    operation: operationOf(measureOperations({ languages: [cqlLanguage({ translator })] }), type),
    type,
    id: idOf(type, resource),
    values: { periodStart, periodEnd },
  }
  try {
    await printAnswer(call, options, io, (library) => {
      for (const line of table(objectsAt(library, 'dataRequirement').map(cellsOf))) io.out(line)
    })
  } finally {
    await translator.close()
  }
}

function operationOf(operations: readonly Operation[], type: string): Operation {
  const found = operations.find(({ name, types }) => name === '$data-requirements' && types.includes(type))
  if (found === undefined) throw new OperationError('not-supported', `${type} has no $data-requirements.`)
  return found
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
