import { resolveCanonical } from '../content/index.js'
import { checkpoint, createPace, type OperationContext } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { checkInput, inputShape, OBJECT, TEXT } from '../input/index.js'
import { isNestedDeeper, isObject, objectAt, objectsAt, ownCopy, stringAt, type JsonObject } from '../json/index.js'
import { TYPE_URL } from '../text/index.js'
import { applyDifferential, codeOf } from './apply-differential.js'
import {
  type Building,
  type SnapshotProblem,
  type SnapshotProblemKind,
  type SnapshotSource,
  elementsOf,
  treeOf,
  type ElementNode,
} from './element-tree.js'
import { forProfiles, inheritedElement, mergedElement, withBase, without } from './merge-element.js'

/** The input of `generateSnapshot`: a StructureDefinition, or its canonical URL. */
export type SnapshotInput =
  | { readonly definition: object; readonly url?: undefined }
  /** Canonical URL, with or without version. */
  | { readonly url: string; readonly definition?: undefined }

/** The result of `generateSnapshot`. */
export interface SnapshotResult {
  /** A copy of the StructureDefinition with the generated snapshot, which replaces an existing one. */
  readonly definition: JsonObject
  /** Parts of the differential that could not be applied, or only partly, in its order. The snapshot is built without them. */
  readonly problems: readonly SnapshotProblem[]
}

const INPUT = inputShape<SnapshotInput>({ definition: OBJECT, url: TEXT })

/**
 * Generates the snapshot of a profile or type: the snapshot of its base with the differential applied. Missing snapshots of the base and of profiles on
 * types are generated too. Does not check whether the profile may state its rules; `validate` does.
 *
 * @returns The definition with its snapshot; a definition with a snapshot and no differential is returned unchanged.
 * @throws {OperationError} `parameter-required` without a definition or url, `source-ambiguous` with both; `not-found` for an unknown url;
 *   `definition-not-found` for an unknown base; `definition-invalid` for a resource that is not a StructureDefinition, has no differential, is of another
 *   type than its base, or builds on itself; `too-costly` for more than 100,000 elements or a path of more than 100 steps; `aborted`,
 *   `computation-timeout`.
 * @see https://hl7.org/fhir/R4/profiling.html#snapshot
 */
export async function generateSnapshot(ctx: OperationContext, input: SnapshotInput): Promise<SnapshotResult> {
  checkInput(ctx, input, INPUT)
  checkpoint(ctx)
  const definition = await definitionIn(ctx, input)
  if (definition['resourceType'] !== 'StructureDefinition')
    throw new OperationError('definition-invalid', 'Only a StructureDefinition has a snapshot.', { expression: ['resourceType'] })
  if (objectsAt(objectAt(definition, 'differential'), 'element').length === 0 && objectAt(definition, 'snapshot') !== undefined)
    return { definition: ownCopy(definition), problems: [] }
  const find = async (canonical: string): Promise<JsonObject | undefined> =>
    (await resolveCanonical(ctx.content, 'StructureDefinition', canonical))?.resource
  const { elements, problems } = await buildSnapshot(definition, { pace: createPace(ctx), find })
  return { definition: ownCopy({ ...definition, snapshot: { element: elements } }), problems }
}

/** The limit of JSON texts, so that an object that contains itself is refused, too. */
const DEEPEST = 128

async function definitionIn(ctx: OperationContext, { definition, url }: SnapshotInput): Promise<JsonObject> {
  if (definition !== undefined && url !== undefined)
    throw new OperationError('source-ambiguous', 'The definition is given, and a url too; give one of them.', { expression: ['url'] })
  if (isObject(definition)) {
    if (isNestedDeeper(definition, DEEPEST))
      throw new OperationError('definition-invalid', `The definition is nested deeper than ${DEEPEST} levels.`, {
        expression: ['definition'],
      })
    return definition
  }
  if (url === undefined)
    throw new OperationError('parameter-required', 'A StructureDefinition is needed, or the url of one.', { expression: ['definition'] })
  const found = await resolveCanonical(ctx.content, 'StructureDefinition', url)
  if (found === undefined) {
    const missing = { kind: 'StructureDefinition', name: url }
    throw new OperationError('not-found', `There is no StructureDefinition ${quoted(url)}.`, { expression: ['url'], missing })
  }
  return found.resource
}

/** A snapshot with the problems found. */
export interface BuiltSnapshot {
  readonly elements: readonly JsonObject[]
  readonly problems: readonly SnapshotProblem[]
}

const MOST_STEPS = 100

/**
 * Applies the differential of a definition to the snapshot of its base. Missing snapshots of the base and of other required definitions are generated.
 *
 * @throws {OperationError} `definition-invalid` without a differential, a type or a base, for a base of another type, and for a definition that builds on
 *   itself; `definition-not-found` for an unknown base; `too-costly` for a snapshot of more than 100,000 elements or a path of
 *   more than 100 steps.
 */
export async function buildSnapshot(definition: JsonObject, source: SnapshotSource): Promise<BuiltSnapshot> {
  const trees = new Map<string, Promise<ElementNode | undefined>>()
  const others: SnapshotProblem[] = []
  const { tree, problems } = await builtTree(definition, { ...source, trees, open: [], isProfile: isConstraint(definition), others })
  const elements = await elementsOf(source.pace, tree)
  return { elements, problems: [...problems, ...others] }
}

interface Tools extends SnapshotSource {
  /** Snapshots of other definitions, by canonical URL. */
  readonly trees: Map<string, Promise<ElementNode | undefined>>
  /** URLs of the definitions whose snapshots are being built, from the outermost to the current one; used to detect cycles. */
  readonly open: readonly string[]
  /** True for a profile; false for a type of FHIR, whose links stay relative to the pages of the specification. */
  readonly isProfile: boolean
  /** Problems in other definitions. */
  readonly others: SnapshotProblem[]
}

interface BuiltTree {
  readonly tree: ElementNode
  readonly problems: readonly SnapshotProblem[]
}

async function builtTree(definition: JsonObject, tools: Tools): Promise<BuiltTree> {
  const url = stringAt(definition, 'url') ?? ''
  const elements = objectsAt(objectAt(definition, 'differential'), 'element')
  if (elements.length === 0)
    throw new OperationError('definition-invalid', `The StructureDefinition ${quoted(url)} has no differential.`, {
      expression: ['StructureDefinition'],
    })
  if (elements.some(isTooDeep))
    throw new OperationError('too-costly', `The differential of ${quoted(url)} has a path or slice name of more than ${MOST_STEPS} steps.`)
  const own = await treeOf(tools.pace, elements)
  const inner = { ...tools, open: [...tools.open, url] }
  const base = await baseOf(definition, inner)
  const problems: SnapshotProblem[] = []
  const build: Building = {
    pace: tools.pace,
    url,
    kind: stringAt(definition, 'kind') ?? '',
    root: base ?? own ?? { name: '', sliceName: undefined, element: {}, children: [] },
    treeAt: (canonical) => treeAt(canonical, inner),
    report: ({ place }, kind, text) => {
      const expression = place === undefined ? 'StructureDefinition.differential' : `StructureDefinition.differential.element[${place}]`
      problems.push({ kind, severity: HARMLESS.has(kind) ? 'warning' : 'error', text, expression })
    },
  }
  if (isConstraint(definition)) {
    if (base === undefined)
      throw new OperationError('definition-invalid', `The profile ${quoted(url)} has no base.`, {
        expression: ['StructureDefinition.baseDefinition'],
      })
    if (own !== undefined && own.name !== base.name)
      throw new OperationError('definition-invalid', `The differential is of ${quoted(own.name)}, but the base of ${quoted(base.name)}.`, {
        expression: ['StructureDefinition.differential'],
      })
    return { tree: own === undefined ? base : await applyDifferential(build, base, own), problems }
  }
  return { tree: await addedElements(build, { base, own, name: stringAt(definition, 'type') ?? '' }), problems }
}

/** Kinds of problems with which the snapshot still keeps all that the base demands. */
const HARMLESS: ReadonlySet<SnapshotProblemKind> = new Set(['element-order', 'constraint-key'])

function isTooDeep(element: JsonObject): boolean {
  return ['path', 'sliceName'].some((name) => (stringAt(element, name) ?? '').split(/[./]/, MOST_STEPS + 1).length > MOST_STEPS)
}

function isConstraint(definition: JsonObject): boolean {
  return stringAt(definition, 'derivation') === 'constraint'
}

async function baseOf(definition: JsonObject, tools: Tools): Promise<ElementNode | undefined> {
  const canonical = stringAt(definition, 'baseDefinition')
  if (canonical === undefined) return undefined
  const base = await treeAt(canonical, tools)
  if (base === undefined)
    throw new OperationError('definition-not-found', `The base ${quoted(canonical)} could not be found.`, {
      expression: ['StructureDefinition.baseDefinition'],
    })
  return base
}

/** The type without elements from which logical models derive. R4 does not define it, but tools for R4 know it from R5. */
const ROOT_OF_TYPES = `${TYPE_URL}Base`
const emptyRoot: ElementNode = { name: 'Base', sliceName: undefined, element: { base: { path: 'Base', min: 0, max: '*' } }, children: [] }

/** The snapshot of another definition, in the form that definitions built on it inherit. */
function treeAt(canonical: string, tools: Tools): Promise<ElementNode | undefined> {
  const known = tools.trees.get(canonical)
  if (known !== undefined) return known
  const tree = foundTree(canonical, tools)
  tools.trees.set(canonical, tree)
  return tree
}

async function foundTree(canonical: string, tools: Tools): Promise<ElementNode | undefined> {
  const definition = await tools.find(canonical)
  if (definition === undefined) return canonical === ROOT_OF_TYPES ? emptyRoot : undefined
  const url = stringAt(definition, 'url') ?? canonical
  const snapshot = objectsAt(objectAt(definition, 'snapshot'), 'element')
  if (snapshot.length > 0) return inheritedTree(tools, snapshot, url)
  if (tools.open.includes(url))
    throw new OperationError('definition-invalid', `The definition ${quoted(url)} builds on itself: ${[...tools.open, url].join(' -> ')}.`)
  const { tree, problems } = await builtTree(definition, tools)
  for (const { text, expression } of problems)
    tools.others.push({
      kind: 'other-definition',
      severity: 'warning',
      text: `In ${quoted(url)}, ${expression}: ${text}`,
      expression: 'StructureDefinition',
    })
  return inheritedTree(tools, await elementsOf(tools.pace, tree), url)
}

/** The tree of another definition's elements, in the form that definitions built on it inherit. */
async function inheritedTree({ pace, isProfile }: Tools, elements: readonly JsonObject[], url: string): Promise<ElementNode | undefined> {
  const inherited: JsonObject[] = []
  for (const element of elements) {
    const wait = pace.step()
    if (wait !== undefined) await wait
    const own = inheritedElement(element, { url, path: stringAt(element, 'path') ?? '' })
    inherited.push(isProfile ? forProfiles(own, url) : own)
  }
  return treeOf(pace, inherited)
}

/** The tree of a specialization: the elements of its base, then those that it adds. */
async function addedElements(
  build: Building,
  { base, own, name }: { readonly base: ElementNode | undefined; readonly own: ElementNode | undefined; readonly name: string },
): Promise<ElementNode> {
  if (own === undefined) return { name, sliceName: undefined, element: base?.element ?? {}, children: base?.children ?? [] }
  const children = inherited(build, base)
  for (const child of own.children) {
    const place = children.findIndex((one) => one.name === child.name && child.sliceName === one.sliceName)
    const known = children[place]
    if (known === undefined) children.push(await addElement(build, child))
    else children[place] = await applyDifferential(build, known, child)
  }
  return { name: own.name, sliceName: undefined, element: rootOf(build, base, own.element), children }
}

/** The child elements that a type inherits; without slicing in resources and primitive types. */
function inherited({ kind }: Building, above: ElementNode | undefined): ElementNode[] {
  const children = [...(above?.children ?? [])]
  return kind === 'resource' || kind === 'primitive-type' ? children.map(withoutSlicing) : children
}

function withoutSlicing(node: ElementNode): ElementNode {
  return node.element['slicing'] === undefined ? node : { ...node, element: without(node.element, 'slicing') }
}

function rootOf({ kind }: Building, base: ElementNode | undefined, own: JsonObject): JsonObject {
  const origin = base?.element['base']
  const root = mergedElement({ min: 0, max: '*', ...without(base?.element ?? {}, 'base', 'extension'), ...FLAGS[kind] }, own)
  return kind === 'logical' && origin !== undefined ? { ...root, base: origin } : withBase(root, stringAt(own, 'path') ?? '')
}

/** Default flags of root elements. */
const FLAGS: Readonly<Record<string, JsonObject>> = {
  'complex-type': { isModifier: false },
  'primitive-type': { isModifier: false, isSummary: false },
  resource: { isModifier: false, isSummary: false },
}

async function addElement(build: Building, own: ElementNode): Promise<ElementNode> {
  await build.pace.step()
  const [type] = objectsAt(own.element, 'type')
  const above = own.children.length === 0 || type === undefined ? undefined : await build.treeAt(TYPE_URL + codeOf(type))
  const children = inherited(build, above)
  for (const child of own.children) children.push(await addElement(build, child))
  const element = build.kind === 'logical' ? own.element : await withDemands(build, { isModifier: false, isSummary: false, ...own.element })
  return { ...own, element: withBase(element, stringAt(own.element, 'path') ?? ''), children }
}

/** Adds the constraints that FHIR defines for every element, and for every extension. */
async function withDemands(build: Building, element: JsonObject): Promise<JsonObject> {
  const types = objectsAt(element, 'type')
  if (types.some((type) => codeOf(type) === 'Resource' || stringAt(type, 'code')?.startsWith(SYSTEM_TYPES) === true)) return element
  const isExtension = types.some((type) => codeOf(type) === 'Extension')
  let demands: JsonObject = {}
  for (const type of isExtension ? ['Element', 'Extension'] : ['Element']) {
    const { constraint } = (await build.treeAt(TYPE_URL + type))?.element ?? {}
    if (constraint !== undefined) demands = mergedElement(demands, { constraint })
  }
  return mergedElement(demands, element)
}

const SYSTEM_TYPES = 'http://hl7.org/fhirpath/System.'
