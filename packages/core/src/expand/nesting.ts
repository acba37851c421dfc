import { members, type ConceptSetPlan, type Segment, type ValueSetPlan } from '../terminology/index.js'

/** A concept in a tree of codes. */
export interface TreeNode {
  readonly concept: number
  readonly children: TreeNode[]
}

const HIERARCHIC: ReadonlySet<string> = new Set(['is-a', 'descendent-of'])

/** How an expansion may be nested. */
export interface NestingQuestion {
  readonly plan: ValueSetPlan
  readonly segments: readonly Segment[]
  readonly filtered: boolean
}

/**
 * The segment to nest, when the expansion can be: one include, of a whole code system with a hierarchy or of a branch of it, and nothing
 * excluded. A text filter over a whole code system makes a flat list.
 */
export function nestable({ plan, segments, filtered }: NestingQuestion): Segment | undefined {
  const [include, ...more] = plan.includes
  const [segment] = segments
  if (include === undefined || more.length > 0 || plan.excludes.length > 0 || segment === undefined) return undefined
  return isBranch(include, filtered) && segment.provider.hierarchy.nested ? segment : undefined
}

/** The codes of a segment as trees. The children of a code that is missing take its place. */
export function treesOf({ provider, codes }: Segment): readonly TreeNode[] {
  const roots: TreeNode[] = []
  const open: TreeNode[] = []
  for (const concept of members(codes)) {
    while (open.length > 0 && !provider.hierarchy.isWithin(concept, open.at(-1)?.concept ?? 0)) open.pop()
    const node = { concept, children: [] }
    const siblings = open.at(-1)?.children ?? roots
    siblings.push(node)
    open.push(node)
  }
  return roots
}

function isBranch({ definition, imports, filters }: ConceptSetPlan, filtered: boolean): boolean {
  if (definition.concepts !== undefined || imports.length > 0) return false
  if (filters.length === 0) return !filtered
  return filters.every(({ op }) => HIERARCHIC.has(op))
}
