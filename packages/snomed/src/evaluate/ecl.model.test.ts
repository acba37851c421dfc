import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { expand } from 'fhir-ops/expand'
import { memoryConceptStore, memoryStorage } from 'fhir-ops/memory'
import { rounds } from '../../../../test/effort.js'
import { snomedBuilder } from '../build/snomed-parts.js'
import { SCT, SNOMED } from '../sctid.js'
import { conceptId } from '../synthetic.fixture.js'
import { snomed } from '../snomed.js'

type Operator = '' | '<' | '<<' | '<!' | '<<!' | '>' | '>>' | '>!' | '>>!' | '!!>' | '!!<'

interface Attribute {
  readonly cardinality: string
  readonly reversed: boolean
  readonly name: number
  readonly equal: boolean
  readonly value: Constraint
}

interface Group {
  readonly cardinality: string
  readonly attributes: readonly Attribute[]
}

type Constraint =
  | { readonly kind: 'any' }
  | { readonly kind: 'focus'; readonly operator: Operator; readonly id: string }
  | { readonly kind: 'nested'; readonly operator: Operator; readonly of: Constraint }
  | { readonly kind: 'joined'; readonly by: 'AND' | 'OR' | 'MINUS'; readonly left: Constraint; readonly right: Constraint }
  | { readonly kind: 'dotted'; readonly of: Constraint; readonly name: number }
  | { readonly kind: 'refined'; readonly of: Constraint; readonly by: 'AND' | 'OR'; readonly parts: readonly (Attribute | Group)[] }

/** A concept under earlier ones, with attributes: name, value, role group. */
interface Concept {
  readonly parents: readonly number[]
  readonly attributes: readonly (readonly [name: number, value: number, group: number])[]
}

const SIZE = 9
const ATTRIBUTES = [conceptId(101), conceptId(102)] as const
const FIXED = new Map<string, readonly string[]>([
  [SCT.root, []],
  [SCT.conceptModelAttribute, [SCT.root]],
  [SCT.isA, [SCT.conceptModelAttribute]],
  ...ATTRIBUTES.map((id): [string, readonly string[]] => [id, [SCT.conceptModelAttribute]]),
])

const place = fc.nat(SIZE - 1)
const name = fc.nat(ATTRIBUTES.length - 1)
const cardinality = fc.constantFrom('', '', '[0..0]', '[0..1]', '[1..1]', '[1..*]', '[2..*]')
const anyOperator = fc.constantFrom<Operator>('', '<', '<<', '<!', '<<!', '>', '>>', '>!', '>>!')

const release: fc.Arbitrary<readonly Concept[]> = fc.array(
  fc.record({
    parents: fc.uniqueArray(place, { maxLength: 2 }),
    attributes: fc.uniqueArray(fc.tuple(name, place, fc.nat(2)), { maxLength: 4, selector: (one) => one.join() }),
  }),
  { minLength: SIZE, maxLength: SIZE },
)

const { constraint } = fc.letrec<{ constraint: Constraint; attribute: Attribute; group: Group }>((tie) => {
  const within = tie('constraint')
  const attribute = (reversed: fc.Arbitrary<boolean>): fc.Arbitrary<Attribute> =>
    fc.record({ cardinality, reversed, name, equal: fc.boolean(), value: within })
  const ids = fc.constantFrom(...FIXED.keys(), ...Array.from({ length: SIZE }, (_, i) => conceptId(i)))
  const focus = fc.record({ kind: fc.constant('focus' as const), operator: anyOperator, id: ids })
  return {
    attribute: attribute(fc.boolean()),
    group: fc.record({ cardinality, attributes: fc.array(attribute(fc.constant(false)), { minLength: 1, maxLength: 2 }) }),
    constraint: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      focus,
      focus,
      fc.constant({ kind: 'any' } as const),
      fc.record({
        kind: fc.constant('nested' as const),
        operator: fc.oneof(anyOperator, fc.constantFrom<Operator>('!!>', '!!<')),
        of: within,
      }),
      fc.record({ kind: fc.constant('joined' as const), by: fc.constantFrom('AND', 'OR', 'MINUS'), left: within, right: within }),
      fc.record({ kind: fc.constant('dotted' as const), of: within, name }),
      fc.record({
        kind: fc.constant('refined' as const),
        of: within,
        by: fc.constantFrom('AND', 'OR'),
        parts: fc.array(fc.oneof(tie('attribute'), tie('attribute'), tie('group')), { minLength: 1, maxLength: 2 }),
      }),
    ),
  }
})

function written(one: Constraint): string {
  switch (one.kind) {
    case 'any':
      return '*'
    case 'focus':
      return `${one.operator} ${one.id}`
    case 'nested':
      return `${one.operator} (${written(one.of)})`
    case 'joined':
      return `(${written(one.left)}) ${one.by} (${written(one.right)})`
    case 'dotted':
      return `(${written(one.of)}) . ${ATTRIBUTES[one.name]}`
    case 'refined':
      return `(${written(one.of)}) : ${one.parts.map(writtenPart).join(` ${one.by} `)}`
  }
}

function writtenPart(part: Attribute | Group): string {
  if ('attributes' in part) return `${part.cardinality} { ${part.attributes.map(writtenPart).join(', ')} }`
  const value = `${part.equal ? '=' : '!='} (${written(part.value)})`
  return `${part.cardinality} ${part.reversed ? 'R ' : ''}${ATTRIBUTES[part.name]} ${value}`
}

interface Relationship {
  readonly source: string
  readonly name: number
  readonly value: string
  readonly group: number
}

interface Model {
  readonly parents: ReadonlyMap<string, readonly string[]>
  readonly relationships: readonly Relationship[]
}

function modelOf(concepts: readonly Concept[]): Model {
  const parents = concepts.map(({ parents: places }, i): [string, readonly string[]] => {
    const earlier = places.filter((other) => other < i).map(conceptId)
    return [conceptId(i), earlier.length === 0 ? [SCT.root] : earlier]
  })
  const relationships = concepts.flatMap(({ attributes }, i) =>
    attributes.map(([attribute, value, group]) => ({ source: conceptId(i), name: attribute, value: conceptId(value), group })),
  )
  return { parents: new Map([...FIXED, ...parents]), relationships }
}

/** What ECL selects, by reading it. */
function selected(model: Model, one: Constraint): ReadonlySet<string> {
  const all = [...model.parents.keys()]
  switch (one.kind) {
    case 'any':
      return new Set(all)
    case 'focus':
      return related(model, one.operator, new Set([one.id]))
    case 'nested':
      return related(model, one.operator, selected(model, one.of))
    case 'joined': {
      const [left, right] = [selected(model, one.left), selected(model, one.right)]
      return one.by === 'AND' ? left.intersection(right) : one.by === 'OR' ? left.union(right) : left.difference(right)
    }
    case 'dotted': {
      const sources = selected(model, one.of)
      return new Set(model.relationships.filter((row) => row.name === one.name && sources.has(row.source)).map(({ value }) => value))
    }
    case 'refined': {
      const holds = (id: string): boolean => one.parts[one.by === 'AND' ? 'every' : 'some']((part) => holdsFor(model, part, id))
      return new Set([...selected(model, one.of)].filter(holds))
    }
  }
}

function related(model: Model, operator: Operator, of: ReadonlySet<string>): ReadonlySet<string> {
  const { parents } = model
  const above = (id: string): readonly string[] => (parents.get(id) ?? []).flatMap((parent) => [parent, ...above(parent)])
  const all = [...parents.keys()]
  if (operator === '') return of
  if (operator === '!!>') return new Set([...of].filter((id) => !above(id).some((other) => of.has(other))))
  if (operator === '!!<') return new Set([...of].filter((id) => ![...of].some((other) => above(other).includes(id))))
  const reached = operator.includes('!') ? (id: string) => parents.get(id) ?? [] : above
  const found = operator.startsWith('<')
    ? all.filter((id) => reached(id).some((other) => of.has(other)))
    : [...of].flatMap((id) => reached(id))
  const withSelf = operator.startsWith('<<') || operator.startsWith('>>')
  return new Set([...found, ...(withSelf ? of : [])])
}

function holdsFor(model: Model, part: Attribute | Group, id: string): boolean {
  const own = model.relationships.filter(({ source }) => source === id)
  if (!('attributes' in part)) return isMet(model, part, part.reversed ? model.relationships.filter(({ value }) => value === id) : own)
  const single = own.filter(({ group }) => group === 0).map((row) => [row])
  const groups = [
    ...single,
    ...Map.groupBy(
      own.filter(({ group }) => group > 0),
      ({ group }) => group,
    ).values(),
  ]
  return within(part.cardinality, groups.filter((rows) => part.attributes.every((attribute) => isMet(model, attribute, rows))).length)
}

/** Reversed attributes count the concepts on the other side, each once. */
function isMet(
  model: Model,
  { cardinality: limits, reversed, name: asked, equal, value }: Attribute,
  rows: readonly Relationship[],
): boolean {
  const values = selected(model, value)
  const other = (row: Relationship): string => (reversed ? row.source : row.value)
  const met = rows.filter((row) => row.name === asked && values.has(other(row)) === equal)
  return within(limits, reversed ? new Set(met.map(other)).size : met.length)
}

function within(limits: string, count: number): boolean {
  const [, least = '1', most = '*'] = /^\[(\d)\.\.(\d|\*)\]$/.exec(limits) ?? []
  return count >= Number(least) && (most === '*' || count <= Number(most))
}

async function contextOf({ parents, relationships }: Model): Promise<OperationContext> {
  const builder = snomedBuilder(`${SNOMED}/${SCT.core}/version/20240101`)
  const common = ['20240101', '1', SCT.core] as const
  for (const id of parents.keys()) builder.add('concept', [id, ...common, SCT.primitive], [])
  const isA = [...parents].flatMap(([id, above]) => above.map((parent) => [id, parent, '0', SCT.isA]))
  const others = relationships.map((row) => [row.source, row.value, String(row.group), ATTRIBUTES[row.name] ?? ''])
  for (const [i, row] of [...isA, ...others].entries())
    builder.add('relationship', [`${i + 1}020`, ...common, ...row, SCT.inferred, ''], [])
  const { system, sections } = builder.finish()
  const concepts = memoryConceptStore()
  const staged = await concepts.stage(system)
  for (const [section, bytes] of sections) await staged.put(section, bytes)
  await staged.publish()
  return createContext({ storage: memoryStorage(), concepts, codeSystems: [snomed()] })
}

test('ECL selects what a naive reading of it does', async () => {
  await fc.assert(
    fc.asyncProperty(release, fc.array(constraint, { minLength: 1, maxLength: 8 }), async (concepts, constraints) => {
      const model = modelOf(concepts)
      const ctx = await contextOf(model)
      for (const one of constraints) {
        const ecl = written(one)
        const { contains } = await expand(ctx, { url: `${SNOMED}?fhir_vs=ecl/${encodeURIComponent(ecl)}` })
        expect(contains.map(({ code }) => code).toSorted(), ecl).toEqual([...selected(model, one)].toSorted())
      }
    }),
    { numRuns: rounds({ quick: 25, all: 100 }) },
  )
})
