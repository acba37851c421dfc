import { canonicalOf } from '../../content/index.js'
import type { OperationContext } from '../../context/index.js'
import { OperationError } from '../../errors/index.js'
import type { JsonObject } from '../../json/index.js'
import { storedInstance, type OperationRequest } from '../../operation/index.js'
import type { ParameterReader } from '../../parameters/index.js'
import { boundValueSet } from './bound-value-set.js'
import { bothNames, type ValueSetName } from './named-value-set.js'

/**
 * How a request names a value set: the id in its path, `valueSet`, `url`, or `context`, an element that is bound to it.
 *
 * @throws {OperationError} `not-found` for an unknown id; `parameter-required` when nothing names one; `parameter-invalid` for a second name,
 *   except the url of what has the id; as `boundValueSet`.
 */
export async function readValueSetName(ctx: OperationContext, request: OperationRequest, reader: ParameterReader): Promise<ValueSetName> {
  const [url, valueSet, context] = [reader.text('url'), reader.resource('valueSet'), reader.text('context')]
  const valueSetVersion = reader.text('valueSetVersion')
  const stored = (await storedInstance(ctx, request))?.resource
  if (stored !== undefined) {
    refuseBeside(reader, ['valueSet', 'context'])
    if (url !== undefined && !isNamed(stored, url)) refuseBeside(reader, ['url'])
    return { valueSet: stored, valueSetVersion }
  }
  if (context !== undefined) {
    refuseBeside(reader, ['url', 'valueSet'])
    return { url: await boundValueSet(ctx, context), valueSetVersion }
  }
  if (url !== undefined && valueSet !== undefined) throw bothNames(['url', 'valueSet'].map((name) => reader.expressionOf(name)))
  if (url !== undefined) return { url, valueSetVersion }
  if (valueSet !== undefined) return { valueSet, valueSetVersion }
  throw new OperationError('parameter-required', 'Parameter url is missing: it names the value set.', { expression: ['url'] })
}

function isNamed(stored: JsonObject, canonical: string): boolean {
  const { url, version, fragment } = canonicalOf(canonical)
  return url === stored['url'] && fragment === undefined && (version === undefined || version === stored['version'])
}

function refuseBeside(reader: ParameterReader, names: readonly string[]): void {
  const name = names.find((one) => reader.all(one).length > 0)
  if (name === undefined) return
  throw new OperationError('parameter-invalid', `Parameter '${name}' cannot be given where something else names the value set.`, {
    expression: [reader.expressionOf(name)],
  })
}
