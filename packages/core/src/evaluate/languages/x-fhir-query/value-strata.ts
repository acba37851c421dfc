import { createPace, type OperationContext } from '../../../context/index.js'
import { OperationError, quoted } from '../../../errors/index.js'
import {
  compileFhirPath,
  decimalOf,
  isNode,
  isQuantity,
  PENDING,
  rootNode,
  textOfValue,
  toSystem,
  type FhirNode,
  type Item,
} from '../../../fhirpath/index.js'
import { isObject, stringAt, type JsonObject } from '../../../json/index.js'
import { isConcept } from '../../concept.js'
import type { Criterion } from '../../measure-plan.js'
import { stratumKey, type Stratum, type StratumValue, type Tally } from '../../totals/sums.js'
import { searchOptions, withPlace } from './criterion-query.js'

/** One value for each criterion of a stratifier. */
type Values = readonly StratumValue[]

/** Reads the resource that a reference (`Patient/p1`) names. Returns each combination of its values once, under its key. */
type ReadValues = (member: string) => Promise<ReadonlyMap<string, Values>>

/** Divides populations, given with their members, by the members' values, in the order in which these occur. */
type DivideByValues = (populations: readonly Tally[]) => Promise<readonly Stratum[]>

/**
 * Compiles the FHIRPath criteria of a stratifier.
 *
 * @returns A function that divides the populations of a group. Members without a value are in the stratum of `null`; members that were deleted meanwhile
 *   are in none. It rejects with `definition-invalid` for a result that is not a value, with `too-costly` for more strata, and members of them, than
 *   `limits.maxExpansion`, and as FHIRPath does.
 * @throws {OperationError} `fhirpath-invalid` for an expression that cannot be parsed, with its place.
 */
export async function valueDivider(ctx: OperationContext, criteria: readonly Criterion[]): Promise<DivideByValues> {
  const readValues = await valuesReader(ctx, criteria)
  return async (populations) => {
    const known = new Map<string, ReadonlyMap<string, Values>>()
    const strata = openStrata(ctx, populations.length)
    const pace = createPace(ctx)
    for (const [population, { members = [] }] of populations.entries()) {
      for (const member of members) {
        pace.check()
        await pace.step()
        const combinations = known.get(member) ?? (await readValues(member))
        known.set(member, combinations)
        for (const [key, values] of combinations) strata.membersOf(key, values)[population]?.push(member)
      }
    }
    return strata.all()
  }
}

interface OpenStrata {
  /** The members so far of each population in the stratum with these values. The caller adds one member. */
  membersOf(key: string, values: Values): readonly string[][]
  all(): readonly Stratum[]
}

function openStrata({ limits }: OperationContext, populations: number): OpenStrata {
  const strata = new Map<string, { readonly values: Values; readonly members: readonly string[][] }>()
  let size = 0
  return {
    membersOf(key, values) {
      const known = strata.get(key)
      size += known === undefined ? populations : 1
      if (size > limits.maxExpansion)
        throw new OperationError(
          'too-costly',
          `The strata of a stratifier can have at most ${limits.maxExpansion} populations and members.`,
        )
      const stratum = known ?? { values, members: Array.from({ length: populations }, () => []) }
      strata.set(key, stratum)
      return stratum.members
    },
    all: () =>
      [...strata.values()].map(({ values, members }) => ({
        values,
        populations: members.map((all) => ({ count: all.length, members: all })),
      })),
  }
}

async function valuesReader(ctx: OperationContext, criteria: readonly Criterion[]): Promise<ReadValues> {
  const { model } = searchOptions(ctx).parameters
  const readers: ((root: FhirNode) => Promise<Values>)[] = []
  for (const criterion of criteria) readers.push(await criterionReader(ctx, criterion))
  return async (member) => {
    const [type = '', id = ''] = member.split('/')
    ctx.authorize?.('search', type)
    const stored = await ctx.storage.read(type, id)
    if (stored === undefined) return new Map()
    const root = rootNode(model, stored.resource)
    let combinations: readonly Values[] = [[]]
    for (const read of readers) combinations = combined(ctx, combinations, await read(root))
    const found = new Map<string, Values>()
    for (const values of combinations) {
      const key = JSON.stringify(values.map(({ concept }) => stratumKey({ concept })))
      if (!found.has(key)) found.set(key, values)
    }
    return found
  }
}

async function criterionReader(ctx: OperationContext, criterion: Criterion): Promise<(root: FhirNode) => Promise<Values>> {
  const { model } = searchOptions(ctx).parameters
  const host = ctx.convertUnit === undefined ? {} : { convertUnit: ctx.convertUnit }
  const path = await withPlace(criterion, async () => compileFhirPath(criterion.expression, { model }))
  return (root) =>
    withPlace(criterion, async () => {
      const items = path.evaluate({ resource: root, host, now: ctx.now }, root)
      return items === PENDING || items.length === 0 ? [NO_VALUE] : items.map((item) => stratumValue(item) ?? refuse(criterion))
    })
}

function refuse({ expression }: Criterion): never {
  throw new OperationError('definition-invalid', `${quoted(expression)} does not return a value that a stratum can have.`)
}

function combined({ limits }: OperationContext, combinations: readonly Values[], values: Values): readonly Values[] {
  if (combinations.length * values.length > limits.maxExpansion)
    throw new OperationError('too-costly', `A resource belongs to more than ${limits.maxExpansion} strata.`)
  return combinations.flatMap((one) => values.map((value) => [...one, value]))
}

const NO_VALUE: StratumValue = { concept: { text: 'null' } }

/** `undefined` for resources and other elements with more than one value. */
function stratumValue(item: Item): StratumValue | undefined {
  if (isNode(item) && item.value === undefined) return NO_VALUE
  if (isNode(item) && isObject(item.value)) return valueOfElement(item.type, item.value)
  const value = toSystem(item)
  if (value === undefined) return undefined
  return isQuantity(value) ? amount({ value: value.value.value, unit: value.unit }) : { concept: { text: textOfValue(value) } }
}

function valueOfElement({ name, system }: FhirNode['type'], value: JsonObject): StratumValue | undefined {
  if (name === 'CodeableConcept' || name === 'Coding') {
    const concept = name === 'Coding' ? { coding: [value] } : value
    return isConcept(concept) ? { concept } : undefined
  }
  return system === 'Quantity' ? amount(value) : undefined
}

function amount(quantity: JsonObject): StratumValue {
  const { value } = quantity
  const number = typeof value === 'number' ? textOfValue(decimalOf(value)) : undefined
  const unit = stringAt(quantity, 'code') ?? stringAt(quantity, 'unit')
  const text = [stringAt(quantity, 'comparator'), number, unit === '1' ? undefined : unit].filter((part) => part !== undefined).join(' ')
  return { concept: { text }, quantity }
}
