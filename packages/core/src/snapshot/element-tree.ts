import type { Pace } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { stringAt, type JsonObject } from '../json/index.js'

/** An ElementDefinition of a snapshot or differential with its child nodes. */
export interface ElementNode {
  /** The last step of its path: `name`, `value[x]`. */
  readonly name: string
  readonly sliceName: string | undefined
  /** The ElementDefinition; its id and path are those in the definition that it comes from. */
  readonly element: JsonObject
  /** In document order; the slices of an element follow it. */
  readonly children: readonly ElementNode[]
  /** True for an element that a differential does not contain, although it contains slices of it or elements below it. */
  readonly isImplied?: boolean
  /** Index in the list that it comes from. */
  readonly place?: number | undefined
}

/** A node while its tree is being built. */
interface Draft extends ElementNode {
  readonly path: string
  readonly children: Draft[]
}

/**
 * Builds a tree from a list of ElementDefinitions. Parent elements that a differential omits become nodes without content.
 *
 * @returns `undefined` for an empty list.
 */
export async function treeOf(pace: Pick<Pace, 'step'>, elements: readonly JsonObject[]): Promise<ElementNode | undefined> {
  const [first] = elements
  const rootPath = first && (stringAt(first, 'path') ?? '').split('.', 1)[0]
  if (rootPath === undefined) return undefined
  const place = elements.findIndex((element) => element['path'] === rootPath)
  const root = draftOf(elements[place], { path: rootPath, place })
  const open = [root]
  for (const [index, element] of elements.entries()) {
    const wait = pace.step()
    if (wait !== undefined) await wait
    const path = stringAt(element, 'path') ?? ''
    if (path.startsWith(`${rootPath}.`)) placeUnder(open, draftOf(element, { path, place: index }))
  }
  return root
}

/** @param open The nodes from the root down to the last one that was added. */
function placeUnder(open: Draft[], node: Draft): void {
  while (open.length > 1 && !node.path.startsWith(`${open.at(-1)?.path}.`)) open.pop()
  const steps = node.path.split('.')
  for (let depth = open.length + 1; depth < steps.length; depth++)
    add(open, draftOf(undefined, { path: steps.slice(0, depth).join('.'), place: node.place }))
  add(open, node)
}

function add(open: Draft[], node: Draft): void {
  open.at(-1)?.children.push(node)
  open.push(node)
}

function draftOf(element: JsonObject | undefined, { path, place }: Pick<Draft, 'path' | 'place'>): Draft {
  const [name, sliceName] = [path.slice(path.lastIndexOf('.') + 1), stringAt(element, 'sliceName')]
  return {
    name,
    sliceName: sliceName === '' ? undefined : sliceName,
    element: element ?? {},
    children: [],
    path,
    place,
    isImplied: element === undefined,
  }
}

const MOST_ELEMENTS = 100_000

/**
 * Returns the ElementDefinitions of a tree in document order, with id and path according to their position in the tree.
 *
 * @throws {OperationError} `too-costly` for more than 100,000.
 */
export async function elementsOf({ step }: Pick<Pace, 'step'>, root: ElementNode): Promise<readonly JsonObject[]> {
  const elements: JsonObject[] = []
  const open = [{ node: root, id: root.name, path: root.name }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const wait = step()
    if (wait !== undefined) await wait
    const { node, id, path } = next
    if (elements.push({ ...node.element, id, path }) > MOST_ELEMENTS)
      throw new OperationError('too-costly', `The snapshot would have more than ${MOST_ELEMENTS} elements.`)
    for (const child of node.children.toReversed()) {
      const slice = child.sliceName === undefined ? '' : `:${child.sliceName}`
      open.push({ node: child, id: `${id}.${child.name}${slice}`, path: `${path}.${child.name}` })
    }
  }
  return elements
}

/** An element with its slices. */
export interface ElementGroup {
  readonly name: string
  /** Absent in a differential that contains only slices of the element. */
  readonly main: ElementNode | undefined
  readonly slices: readonly ElementNode[]
}

/** Groups children by name, in the order in which the names first occur. */
export function groupsOf(children: readonly ElementNode[]): readonly ElementGroup[] {
  const groups = new Map<string, { readonly name: string; main: ElementNode | undefined; readonly slices: ElementNode[] }>()
  for (const child of children) {
    const { name } = child
    const group = groups.get(name) ?? { name, main: undefined, slices: [] }
    groups.set(name, group)
    if (child.sliceName !== undefined) group.slices.push(child)
    else group.main = group.main === undefined ? child : { ...group.main, children: [...group.main.children, ...child.children] }
  }
  return [...groups.values()]
}

/** A part of a differential that cannot be applied to the base. */
export interface SnapshotProblem {
  readonly kind: SnapshotProblemKind
  readonly severity: 'error' | 'warning' | 'information'
  readonly text: string
  /** FHIRPath expression of the element: `StructureDefinition.differential.element[3]`. */
  readonly expression: string
}

/** Stable identifier of the problem, independent of its text. Adding a kind is a minor release, removing one a major. */
export type SnapshotProblemKind =
  /** The base has no such element. */
  | 'element-unknown'
  /** The elements are in another order in the base. */
  | 'element-order'
  /** Elements below an element of several types that not all of the types have. */
  | 'choice'
  /** A contentReference to an element that does not exist. */
  | 'content-reference'
  /** Elements below an element without a type. */
  | 'type-missing'
  /** Elements below an element whose type is unknown. */
  | 'type-unknown'
  /** A slice of an element without slicing. */
  | 'slicing-missing'
  /** A new slice in a slicing that the base has closed. */
  | 'slicing-closed'
  /** The slices are in another order in the base. */
  | 'slice-order'
  /** A constraint with the key of another one of the base, which stays instead. */
  | 'constraint-key'
  /** A problem in the differential of another definition on which this one builds. */
  | 'other-definition'

/** Access to other definitions, and to the pace of the call. */
export interface SnapshotSource {
  readonly pace: Pick<Pace, 'step'>
  /** A StructureDefinition by canonical URL; `undefined` if there is none. */
  readonly find: (canonical: string) => Promise<JsonObject | undefined>
}

/** State of the generation of one definition's snapshot. */
export interface Building {
  readonly pace: SnapshotSource['pace']
  readonly url: string
  /** `resource`, `complex-type`, `primitive-type` or `logical`. */
  readonly kind: string
  /** The tree of the base, in which content references are resolved. */
  readonly root: ElementNode
  /** The snapshot of another definition; `undefined` if it cannot be found. */
  readonly treeAt: (canonical: string) => Promise<ElementNode | undefined>
  /** @param own The node of the differential that has the problem. */
  readonly report: (own: ElementNode, kind: SnapshotProblemKind, text: string) => void
}

/** The name of an element for messages. */
export function labelOf({ element, name, sliceName }: ElementNode): string {
  return stringAt(element, 'id') ?? stringAt(element, 'path') ?? (sliceName === undefined ? name : `${name}:${sliceName}`)
}
