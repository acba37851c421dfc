import fhirpath from 'fhirpath'
import r4 from 'fhirpath/fhir-context/r4'
import { expect, test } from 'vitest'
import { describeSuite } from '../../../../test/suites.js'
import { constraintsByPath, definitionsOf, examples, r4Model, type Constraint } from '../../test/fhirpath/r4.js'
import { OperationError } from '../errors/index.js'
import { stringAt, type JsonObject } from '../json/index.js'
import { compileFhirPath, isNode, pushAllChildren, rootNode, toSystem, type CompiledPath, type FhirNode, type Item } from './index.js'

/** Where fhirpath.js 5.2.0 answers otherwise than we do, by constraint, with what it answers and why. We answer `true` to each. */
const KNOWN_DIFFERENCES: Readonly<Record<string, readonly [theirs: Outcome, reason: string][]>> = {
  'ele-1': [
    ['error', 'throws on a number that is evaluated outside its resource'],
    ['false', 'does not see that a primitive evaluated outside its resource has a value'],
  ],
  'ras-1': [['error', 'throws on a number that is evaluated outside its resource']],
  'dom-3': [['error', 'refuses as() on a collection, which R4 allows']],
  'ctm-1': [['error', 'resolves references asynchronously only']],
  'txt-2': [['false', 'checks narratives itself; here the host of the test accepts them all']],
  'eld-16': [['error', 'runs patterns with the u flag, which forbids the escapes R4 uses']],
  'eld-19': [['error', 'runs patterns with the u flag, which forbids the escapes R4 uses']],
  'eld-20': [['error', 'runs patterns with the u flag, which forbids the escapes R4 uses']],
}

/** Search parameters whose values fhirpath.js gives otherwise, and why. */
const KNOWN_VALUE_DIFFERENCES: ReadonlyMap<string, string> = new Map([
  ['Observation-combo-code-value-concept', 'takes structures for equal whose decimals differ by 1e-22'],
  ['Observation-combo-code-value-quantity', 'takes structures for equal whose decimals differ by 1e-22'],
])

type Outcome = 'true' | 'false' | 'empty' | 'error'

describeSuite('r4-examples', 'agrees with fhirpath.js on the examples', () => {
  test('about every constraint on every element', () => {
    const byPath = constraintsByPath()
    const differences: string[] = []
    const met = new Set<string>()
    let evaluations = 0
    for (const resource of examples()) {
      const root = rootNode(r4Model, resource)
      visit(root, { resource: root, rootResource: root }, (node, scope) => {
        for (const constraint of constraintsAt(byPath, node)) {
          evaluations += 1
          const [mine, their] = [ours(constraint, node, scope), theirs(constraint, node, scope)]
          if (mine === their) continue
          const isKnown = mine === 'true' && KNOWN_DIFFERENCES[constraint.key]?.some(([outcome]) => outcome === their)
          if (isKnown === true) met.add(`${constraint.key} ${their}`)
          else differences.push(`${resource['resourceType']}/${resource['id']} ${constraint.key}: ${mine}, theirs ${their}`)
        }
      })
    }
    expect(evaluations).toBeGreaterThan(50_000)
    expect(differences).toEqual([])
    const known = Object.entries(KNOWN_DIFFERENCES).flatMap(([key, rows]) => rows.map(([outcome]) => `${key} ${outcome}`))
    expect([...met].sort()).toEqual(known.sort())
  })

  test('about every search parameter', () => {
    const parameters = definitionsOf('SearchParameter').filter((parameter) => stringAt(parameter, 'expression') !== undefined)
    const differences = new Set<string>()
    let evaluations = 0
    for (const resource of examples()) {
      const root = rootNode(r4Model, resource)
      for (const parameter of parameters) {
        const bases: unknown = parameter['base']
        if (!Array.isArray(bases) || !bases.includes(resource['resourceType'])) continue
        evaluations += 1
        const expression = stringAt(parameter, 'expression') ?? ''
        const [mine, their] = [ourValues(expression, root), theirValues(expression, resource)]
        if (their !== 'error' && mine !== their) differences.add(stringAt(parameter, 'id') ?? '')
      }
    }
    expect(evaluations).toBeGreaterThan(5_000)
    expect([...differences].sort()).toEqual([...KNOWN_VALUE_DIFFERENCES.keys()])
  })
})

interface Surroundings {
  readonly resource: FhirNode
  readonly rootResource: FhirNode
}

function visit(node: FhirNode, scope: Surroundings, check: (node: FhirNode, scope: Surroundings) => void): void {
  const inner = node.type.kind === 'resource' ? { ...scope, resource: node } : scope
  check(node, inner)
  const children: FhirNode[] = []
  pushAllChildren(r4Model, node, children)
  for (const child of children) visit(child, inner, check)
}

/** The constraints of the node's type and of its place, once each. */
function constraintsAt(byPath: ReadonlyMap<string, readonly Constraint[]>, node: FhirNode): readonly Constraint[] {
  const place = node.slot === undefined ? '' : `${node.parent?.type.name}.${node.slot.name}${node.slot.isChoice ? '[x]' : ''}`
  const constraints = [...(byPath.get(node.type.name) ?? []), ...(byPath.get(place) ?? [])]
  return [...new Map(constraints.map((constraint) => [constraint.expression, constraint])).values()]
}

const compiled = new Map<string, CompiledPath>()

function compiledPath(expression: string): CompiledPath {
  const path = compiled.get(expression) ?? compileFhirPath(expression, { model: r4Model })
  compiled.set(expression, path)
  return path
}

function ours({ expression }: Constraint, node: FhirNode, scope: Surroundings): Outcome {
  const host = { htmlChecks: () => true, resolve: () => undefined }
  try {
    const result = compiledPath(expression).test({ ...scope, host }, node)
    return typeof result === 'boolean' ? `${result}` : 'empty'
  } catch (error) {
    if (error instanceof OperationError) return 'error'
    throw error
  }
}

function ourValues(expression: string, root: FhirNode): string {
  const items = compiledPath(expression).evaluate({ resource: root, host: { resolve: () => undefined } }, root)
  return typeof items === 'symbol' ? 'pending' : JSON.stringify(items.map(plain))
}

function plain(item: Item): unknown {
  return isNode(item) ? item.value : toSystem(item)
}

type Theirs = (value: unknown, env: Record<string, unknown>) => unknown[]
const theirCompiled = new Map<string, Theirs>()

function theirPath(base: string, expression: string): Theirs {
  const key = `${base} ${expression}`
  const path = theirCompiled.get(key) ?? compileTheirs(base, expression)
  theirCompiled.set(key, path)
  return path
}

function compileTheirs(base: string, expression: string): Theirs {
  const run: unknown = fhirpath.compile({ base, expression }, r4, { traceFn: () => {} })
  return run as Theirs
}

function theirs({ expression }: Constraint, node: FhirNode, scope: Surroundings): Outcome {
  try {
    const env = { resource: scope.resource.value, rootResource: scope.rootResource.value }
    const [first, ...more] = theirPath(node.type.name, expression)(node.value, env)
    if (more.length > 0) return 'error'
    return first === undefined ? 'empty' : first === false ? 'false' : 'true'
  } catch {
    return 'error'
  }
}

function theirValues(expression: string, resource: JsonObject): string {
  try {
    return JSON.stringify(theirPath(stringAt(resource, 'resourceType') ?? '', expression)(resource, { resource }))
  } catch {
    return 'error'
  }
}
