import type { OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import type { OperationRequest } from '../operation/index.js'
import type { ParameterReader } from '../parameters/index.js'
import { readLanguages, readVersionRules, storedValueSet } from '../terminology/index.js'
import type { ExpandInput } from './expand-input.js'

/**
 * Reads the inputs of `$expand`.
 *
 * @throws {OperationError} `not-found` for the id of no value set; `parameter-required` when no value set is named; `parameter-value` and
 *   `parameter-invalid` for malformed inputs; `parameter-unsupported` for `context`, `profile`, `date` and the like.
 */
export async function readExpandInput(ctx: OperationContext, request: OperationRequest, reader: ParameterReader): Promise<ExpandInput> {
  // Codes made by a grammar are never listed, whatever is asked for.
  reader.boolean('excludePostCoordinated')
  reader.refuse('context', 'contextDirection', 'date', 'exclude-system')
  const input = {
    url: reader.text('url'),
    valueSet: reader.resource('valueSet') ?? (await storedValueSet(ctx, request)),
    valueSetVersion: reader.text('valueSetVersion'),
    filter: blankIsNone(reader.freeText('filter')),
    tolerateTypo: reader.boolean('_tolerateTypo'),
    offset: reader.count('offset'),
    count: reader.count('count'),
    activeOnly: reader.boolean('activeOnly'),
    excludeNotForUI: reader.boolean('excludeNotForUI'),
    excludeNested: reader.boolean('excludeNested'),
    includeDesignations: reader.boolean('includeDesignations'),
    includeDefinition: reader.boolean('includeDefinition'),
    designations: reader.texts('designation'),
    properties: reader.texts('property'),
    useSupplement: reader.texts('useSupplement'),
    ...readLanguages(reader, request),
    rules: readVersionRules(reader),
    explain: reader.boolean('_explain'),
  }
  if (input.url !== undefined || input.valueSet !== undefined) return input
  throw new OperationError('parameter-required', 'Parameter url is missing: it names the value set to expand.', { expression: ['url'] })
}

function blankIsNone(filter: string | undefined): string | undefined {
  return filter === undefined || filter.trim() === '' ? undefined : filter
}
