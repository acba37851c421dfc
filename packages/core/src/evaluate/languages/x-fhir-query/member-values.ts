import type { OperationContext } from '../../../context/index.js'
import { OperationError, quoted } from '../../../errors/index.js'
import { compileFhirPath, PENDING, rootNode, type FhirNode } from '../../../fhirpath/index.js'
import type { Criterion } from '../../measure-plan.js'
import type { StratumValue } from '../../stratum.js'
import { placed, searchOptions } from './criterion-query.js'
import { inTurn } from './in-turn.js'
import { NO_VALUE, stratumValue } from './stratum-value.js'

/** One value for each criterion. */
export type Values = readonly StratumValue[]

/** Tells what the criteria find in the resource that a reference (`Patient/p1`) names: every combination of their values, each once by its own key. */
export type ReadValues = (member: string) => Promise<ReadonlyMap<string, Values>>

/**
 * Compiles FHIRPath criteria.
 *
 * @returns Reads the values of a member: `null` where an expression finds nothing, no combination when the resource was deleted meanwhile.
 *   It rejects with `definition-invalid` for what is not a value, `too-costly` for more combinations than `limits.maxExpansion`, and as FHIRPath does.
 * @throws {OperationError} `fhirpath-invalid` for an expression that cannot be read, with its place.
 */
export async function memberValues(ctx: OperationContext, criteria: readonly Criterion[]): Promise<ReadValues> {
  const { model } = searchOptions(ctx).parameters
  const readers = await inTurn(criteria, (criterion) => valuesReader(ctx, criterion))
  return async (member) => {
    const [type = '', id = ''] = member.split('/')
    ctx.authorize?.('search', type)
    const stored = await ctx.storage.read(type, id)
    if (stored === undefined) return new Map()
    const root = rootNode(model, stored.resource)
    let combinations: readonly Values[] = [[]]
    for (const read of readers) combinations = combined(ctx, combinations, await read(root))
    return new Map(combinations.map((values) => [JSON.stringify(values), values]))
  }
}

async function valuesReader(ctx: OperationContext, criterion: Criterion): Promise<(root: FhirNode) => Promise<Values>> {
  const { model } = searchOptions(ctx).parameters
  const host = ctx.convertUnit === undefined ? {} : { convertUnit: ctx.convertUnit }
  const path = await placed(criterion, async () => compileFhirPath(criterion.expression, { model }))
  return (root) =>
    placed(criterion, async () => {
      const items = path.evaluate({ resource: root, host, now: ctx.now }, root)
      return items === PENDING || items.length === 0 ? [NO_VALUE] : items.map((item) => stratumValue(item) ?? refuse(criterion))
    })
}

function refuse({ expression }: Criterion): never {
  throw new OperationError('definition-invalid', `${quoted(expression)} does not give a single value.`)
}

function combined({ limits }: OperationContext, combinations: readonly Values[], values: Values): readonly Values[] {
  if (combinations.length * values.length > limits.maxExpansion)
    throw new OperationError('too-costly', `A resource lies in more than ${limits.maxExpansion} strata.`)
  return combinations.flatMap((one) => values.map((value) => [...one, value]))
}
