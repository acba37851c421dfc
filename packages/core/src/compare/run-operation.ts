import type { OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import type { JsonObject } from '../json/index.js'
import { storedInstance, type OperationRequest, type OperationResponse } from '../operation/index.js'
import type { ParameterReader } from '../parameters/index.js'
import { bothNames, readTerminologyCall, readVersionRules, type ValueSetName } from '../terminology/index.js'
import { compare, toParameters, type CompareInput } from './compare.js'
import type { VersionPolicy } from './compare-definitions.js'

/** Runs `$compare`. @throws {OperationError} as `readInput` and `compare`. */
export async function runCompare(base: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const { ctx, input } = await readTerminologyCall(base, request, readInput)
  const { diagnostics, ...asked } = input
  return { status: 200, resource: { ...toParameters(await compare(ctx, asked), { diagnostics }) } }
}

interface CompareCall extends CompareInput {
  /** True: add the codes and whether an expansion was needed. */
  readonly diagnostics: boolean
}

/** @throws {OperationError} `parameter-required` when a value set is not named; `parameter-value` for an unknown policy. */
async function readInput(ctx: OperationContext, request: OperationRequest, reader: ParameterReader): Promise<CompareCall> {
  const stored = await storedInstance(ctx, request)
  const valueSetVersion = reader.text('valueSetVersion')
  const named = (side: 'this' | 'other', instance?: JsonObject): ValueSetName => {
    const [url, valueSet] = [reader.text(`${side}Url`), reader.resource(`${side}ValueSet`)]
    const given = [...(url === undefined ? [] : [`${side}Url`]), ...(valueSet === undefined ? [] : [`${side}ValueSet`])]
    if (given.length + Number(instance !== undefined) > 1) throw bothNames(given)
    if (url !== undefined) return { url, valueSetVersion }
    const resource = valueSet ?? instance
    if (resource !== undefined) return { valueSet: resource, valueSetVersion }
    throw new OperationError('parameter-required', `Parameter ${side}Url or ${side}ValueSet must name a value set.`, {
      expression: [`${side}Url`],
    })
  }
  return {
    thisValueSet: named('this', stored?.resource),
    otherValueSet: named('other'),
    versionPolicy: readPolicy(reader),
    rules: readVersionRules(reader),
    explain: reader.boolean('_explain'),
    diagnostics: reader.boolean('diagnostics') === true,
  }
}

function readPolicy(reader: ParameterReader): VersionPolicy | undefined {
  const stated = reader.text('version-policy')
  if (stated === undefined || stated === 'as-needed' || stated === 'always' || stated === 'never') return stated
  throw new OperationError('parameter-value', `version-policy must be always, as-needed or never, not ${quoted(stated)}.`, {
    expression: [reader.expressionOf('version-policy')],
  })
}
