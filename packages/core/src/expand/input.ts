import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import type { OperationRequest } from '../operation/index.js'
import type { ParameterReader } from '../parameters/index.js'
import { readLanguages, readValueSetName, readVersionRules } from '../terminology/index.js'
import type { ExpandInput } from './expand-input.js'

/**
 * Reads the inputs of `$expand`.
 *
 * @throws {OperationError} as `readValueSetName`; `parameter-value` and `parameter-invalid` for malformed inputs; `parameter-unsupported` for `date`.
 */
export async function readExpandInput(ctx: OperationContext, request: OperationRequest, reader: ParameterReader): Promise<ExpandInput> {
  reader.refuse('date')
  readDirection(reader)
  return {
    ...(await readValueSetName(ctx, request, reader)),
    filter: blankIsNone(reader.freeText('filter')),
    tolerateTypo: reader.boolean('_tolerateTypo'),
    offset: reader.count('offset'),
    count: reader.count('count'),
    activeOnly: reader.boolean('activeOnly'),
    excludeNotForUI: reader.boolean('excludeNotForUI'),
    excludePostCoordinated: reader.boolean('excludePostCoordinated'),
    excludeNested: reader.boolean('excludeNested'),
    includeDesignations: reader.boolean('includeDesignations'),
    includeDefinition: reader.boolean('includeDefinition'),
    designations: reader.texts('designation'),
    properties: reader.texts('property'),
    excludeSystems: reader.texts('exclude-system'),
    useSupplement: reader.texts('useSupplement'),
    ...readLanguages(reader, request),
    rules: readVersionRules(reader),
    explain: reader.boolean('_explain'),
  }
}

/** A binding is the same in both directions. */
function readDirection(reader: ParameterReader): void {
  const direction = reader.text('contextDirection')
  if (direction === undefined || direction === 'incoming' || direction === 'outgoing') return
  throw new OperationError('parameter-value', `Parameter 'contextDirection' must be incoming or outgoing, not ${quoted(direction)}.`, {
    expression: [reader.expressionOf('contextDirection')],
  })
}

function blankIsNone(filter: string | undefined): string | undefined {
  return filter === undefined || filter.trim() === '' ? undefined : filter
}
